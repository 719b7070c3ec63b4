#include "results/histories.h"

#include <algorithm>
#include <functional>

namespace earshot {

void Histories::read(const WfstBackpointer* backpointers, std::span<const End> ends, bool cut,
                     ResultCost limit, std::int64_t max_steps) {
  forget();
  backpointers_ = backpointers;
  limit_ = limit;
  steps_left_ = max_steps;
  cut_ = cut;
  reach(ends);
  take_steps(BACKPOINTER_STEPS * reached_.size());
  find_tails(ends);
  join(ends);
}

void Histories::forget() {
  for (const Reached& one : reached_)
    known_[static_cast<std::size_t>(one.backpointer + 1)] = UNKNOWN;
  reached_.clear();
  tails_.clear();
  lists_.clear();
  indices_.clear();
  names_.clear();
  classes_.clear();
  class_keys_.assign(1, {UNKNOWN, 0});  // NOTHING's
  num_names_ = 0;
  root_.clear();
  if (known_.empty()) known_.push_back(UNKNOWN);
  known_[0] = 0;
  tails_.push_back(Tail{NOTHING, NO_BACKPOINTER, 0});
  reached_.push_back(Reached{NO_BACKPOINTER, add_list(0), 0});
}

// Least cost of a result through each backpointer. A first history never costs extra.
void Histories::reach(std::span<const End> ends) {
  heap_.clear();
  for (const End& end : ends) heap_.emplace_back(end.cost, end.backpointer);
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [cost, backpointer] = heap_.back();
    heap_.pop_back();
    walk_back(cost, backpointer);
  }
}

void Histories::walk_back(ResultCost cost, int backpointer) {
  for (;;) {
    const auto place = static_cast<std::size_t>(backpointer + 1);
    if (place >= known_.size()) known_.resize(2 * place + 1, UNKNOWN);
    if (known_[place] != UNKNOWN) return;
    known_[place] = static_cast<int>(reached_.size());
    reached_.push_back(Reached{backpointer, UNKNOWN, cost});
    const WfstBackpointer& own = backpointers_[backpointer];
    if (own.word == 0) {
      const ResultCost extra = cost + own.value;
      if (extra <= limit_) {
        heap_.emplace_back(extra, own.other);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      } else {
        cut_ = true;
      }
    }
    backpointer = own.first;
  }
}

// Of all backpointers within the limit, each after those that it names.
void Histories::find_tails(std::span<const End> ends) {
  seen_.assign(reached_.size(), 0);
  seen_[0] = 1;
  stack_.clear();
  for (std::size_t i = ends.size(); i > 0; --i) stack_.push_back(known(ends[i - 1].backpointer));
  while (!stack_.empty()) {
    const int one = stack_.back();
    stack_.pop_back();
    if (one < 0) {  // all that it names has been seen to
      reached_[~one].list = list_of(reached_[~one]);
    } else if (!seen_[one]) {
      seen_[one] = 1;
      const WfstBackpointer& own = backpointers_[reached_[one].backpointer];
      stack_.push_back(~one);
      if (own.word == 0 && static_cast<std::size_t>(own.other + 1) < known_.size() &&
          known(own.other) != UNKNOWN) {
        stack_.push_back(known(own.other));
      }
      stack_.push_back(known(own.first));
    }
  }
}

int Histories::list_of(const Reached& one) {
  const WfstBackpointer& own = backpointers_[one.backpointer];
  const int first = reached_[known(own.first)].list;
  if (own.word != 0) {
    tails_.push_back(Tail{class_of(first, own.word), one.backpointer, 0});
    return add_list(static_cast<int>(tails_.size()) - 1);
  }
  const ResultCost slack = limit_ - one.cost;
  if (own.value > slack) return first;
  return merged(first, reached_[known(own.other)].list, own.value, slack);
}

// Both lists of tails, `first` itself where the other says nothing new.
int Histories::merged(int first, int other, ResultCost extra, ResultCost slack) {
  take_steps(static_cast<std::size_t>(lists_[other].size));
  news_.clear();
  for (const Tail& tail : tails_of_list(other)) {
    const ResultCost cost = tail.cost + extra;
    if (cost > slack) {
      cut_ = true;
      continue;
    }
    const int at = find(first, tail.name);
    if (at == Positions::NONE || cost < tails_of_list(first)[at].cost) {
      news_.push_back(News{Tail{tail.name, tail.backpointer, cost}, at});
    }
  }
  return news_.empty() ? first : changed(first, slack);
}

// The list with the news: without what is too dear, news in the places of what they replace.
int Histories::changed(int first, ResultCost slack) {
  const List own = lists_[first];
  take_steps(static_cast<std::size_t>(own.size));
  const int begin = static_cast<int>(tails_.size());
  moved_.assign(static_cast<std::size_t>(own.size), Positions::NONE);
  for (int i = 0; i < own.size; ++i) {
    const Tail tail = tails_[own.begin + i];
    if (tail.cost > slack) {
      cut_ = true;
      continue;
    }
    moved_[i] = static_cast<int>(tails_.size());
    tails_.push_back(tail);
  }
  for (const News& one : news_) {
    const int place = one.at == Positions::NONE ? Positions::NONE : moved_[one.at];
    if (place == Positions::NONE) {
      tails_.push_back(one.tail);
    } else {
      tails_[place] = one.tail;
    }
  }
  return add_list(begin);
}

// All tails from `begin` on.
int Histories::add_list(int begin) {
  lists_.push_back(List{begin, static_cast<int>(tails_.size()) - begin});
  return static_cast<int>(lists_.size()) - 1;
}

// Where a list has a class, or Positions::NONE.
int Histories::find(int list, int name) {
  List& own = lists_[list];
  const Tail* tails = tails_.data() + own.begin;
  if (own.size <= FEW) {
    for (int i = 0; i < own.size; ++i) {
      if (tails[i].name == name) return i;
    }
    return Positions::NONE;
  }
  if (own.index < 0) build_index(own);
  const std::uint32_t mask = (1U << own.index_bits) - 1;
  const int* index = indices_.data() + own.index;
  for (auto i = static_cast<std::uint32_t>(mixed(name, 0)) & mask;; i = (i + 1) & mask) {
    if (index[i] < 0 || tails[index[i]].name == name) return index[i];
  }
}

void Histories::build_index(List& list) {
  while ((1 << list.index_bits) < 2 * list.size) ++list.index_bits;
  const std::uint32_t mask = (1U << list.index_bits) - 1;
  list.index = static_cast<int>(indices_.size());
  indices_.resize(indices_.size() + mask + 1, Positions::NONE);
  int* index = indices_.data() + list.index;
  for (int at = 0; at < list.size; ++at) {
    auto i = static_cast<std::uint32_t>(mixed(tails_[list.begin + at].name, 0)) & mask;
    while (index[i] >= 0) i = (i + 1) & mask;
    index[i] = at;
  }
}

// Of a word after what a list says.
int Histories::class_of(int before, int word) {
  const std::pair<int, int> key{name_of(before), word};
  const int added = static_cast<int>(class_keys_.size());
  const int found = classes_.find_or_add(mixed(key.first, word), added,
                                         [&](int other) { return class_keys_[other] == key; });
  if (found == added) class_keys_.push_back(key);
  return found;
}

// The same for lists with the same histories.
int Histories::name_of(int list) {
  if (lists_[list].name >= 0) return lists_[list].name;
  std::uint64_t hash = 0;
  for (const Tail& tail : tails_of_list(list)) hash += mixed(tail.name, tail.cost);
  const int same =
      names_.find_or_add(mixed(hash, 0), list, [&](int other) { return same_tails(list, other); });
  return lists_[list].name = same == list ? num_names_++ : lists_[same].name;
}

bool Histories::same_tails(int list, int other) {
  if (lists_[list].size != lists_[other].size) return false;
  for (const Tail& tail : tails_of_list(list)) {
    const int at = find(other, tail.name);
    if (at == Positions::NONE || tails_of_list(other)[at].cost != tail.cost) return false;
  }
  return true;
}

void Histories::join(std::span<const End> ends) {
  positions_.clear();
  for (const End& end : ends) {
    const std::span<const Tail> tails = tails_of_list(reached_[known(end.backpointer)].list);
    take_steps(tails.size());
    for (const Tail& tail : tails) {
      const ResultCost cost = end.cost + tail.cost;
      const int at = positions_.of(tail.name);
      if (cost > limit_) {
        cut_ = true;
      } else if (at == Positions::NONE) {
        positions_.put(tail.name, static_cast<int>(root_.size()));
        root_.push_back(Tail{tail.name, tail.backpointer, cost});
      } else if (cost < root_[at].cost) {
        root_[at] = Tail{tail.name, tail.backpointer, cost};
      }
    }
  }
}

}  // namespace earshot
