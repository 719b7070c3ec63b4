#include "results/ranked_list.h"

#include <algorithm>
#include <functional>

namespace earshot {

namespace {

constexpr int NO_TRAIL = -1;

std::span<const End> within(const std::vector<End>& ends, ResultCost limit) {
  const auto stop =
      std::upper_bound(ends.begin(), ends.end(), limit,
                       [](ResultCost cost, const End& end) { return cost < end.cost; });
  return {ends.data(), static_cast<std::size_t>(stop - ends.begin())};
}

}  // namespace

std::vector<RankedWords> RankedLists::list(const WfstBackpointer* backpointers,
                                           const SlotEnds& found, int count,
                                           std::int64_t max_steps) {
  std::vector<RankedWords> list;
  if (count < 1) return list;
  const ResultCost best = found.ends.front().cost;
  ResultCost listed = best - 1;
  for (ResultCost width = FIRST_WIDTH; listed < found.limit; width *= 2) {
    const ResultCost bound = std::min(best + width, found.limit);
    const std::span<const End> ends = within(found.ends, bound);
    const bool cut = found.more || ends.size() < found.ends.size();
    histories_.read(backpointers, ends, cut, bound, max_steps);
    walk(listed, static_cast<std::size_t>(count), list);
    if (list.size() == static_cast<std::size_t>(count)) break;
    listed = histories_.cut() ? bound : found.limit;
  }
  return list;
}

// Sequences dearer than what is listed, in the order of their costs, from the last word to the
// first.
//
// An entry stands for all paths that end in the same words. One of them goes on at no extra cost,
// and of equal costs the newest entry is taken first: so no more entries are taken between two
// sequences than the second has words.
void RankedLists::walk(ResultCost listed, std::size_t count, std::vector<RankedWords>& list) {
  heap_.clear();
  paths_.clear();
  trails_.clear();
  next_.clear();
  entries_ = 0;
  for (const Tail& tail : histories_.root()) {
    next_.push_back(Path{tail.cost, tail.backpointer, NO_TRAIL});
  }
  for (;;) {
    push_by_word();
    while (!heap_.empty() && paths_[heap_.front().begin].backpointer == NO_BACKPOINTER) {
      const Path& whole = paths_[pop().begin];
      if (whole.cost <= listed) continue;
      list.push_back(unrolled(whole));
      if (list.size() == count) return;
    }
    if (heap_.empty()) return;
    go_back(pop());
  }
}

// An entry for the paths that have the same last word, or none. The first is the newest.
void RankedLists::push_by_word() {
  positions_.clear();
  groups_.clear();
  group_of_.clear();
  for (const Path& path : next_) {
    const int word = path.backpointer == NO_BACKPOINTER ? 0 : histories_.word(path.backpointer);
    int group = positions_.of(word);
    if (group == Positions::NONE) {
      group = static_cast<int>(groups_.size());
      positions_.put(word, group);
      groups_.push_back(Entry{path.cost, 0, 0, 0});
    }
    group_of_.push_back(group);
    ++groups_[group].size;
    groups_[group].cost = std::min(groups_[group].cost, path.cost);
  }
  int end = static_cast<int>(paths_.size());
  for (Entry& group : groups_) {
    group.begin = end;
    end += group.size;
    group.size = 0;
  }
  paths_.resize(static_cast<std::size_t>(end));
  for (std::size_t i = 0; i < next_.size(); ++i) {
    Entry& group = groups_[group_of_[i]];
    paths_[group.begin + group.size++] = next_[i];
  }
  for (std::size_t i = groups_.size(); i > 0; --i) {
    groups_[i - 1].number = ++entries_;
    heap_.push_back(groups_[i - 1]);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

// What may come before the word that an entry's paths begin with, by class.
void RankedLists::go_back(const Entry& entry) {
  positions_.clear();
  next_.clear();
  for (int i = entry.begin; i < entry.begin + entry.size; ++i) {
    const Path path = paths_[i];
    const int trail = static_cast<int>(trails_.size());
    trails_.push_back(
        Trail{histories_.word(path.backpointer), histories_.frame(path.backpointer), path.trail});
    const std::span<const Tail> tails = histories_.before(path.backpointer);
    histories_.take_steps(tails.size());
    for (const Tail& tail : tails) {
      const ResultCost cost = path.cost + tail.cost;
      const int at = positions_.of(tail.name);
      if (cost > histories_.limit()) {
        histories_.note_cut();
      } else if (at == Positions::NONE) {
        positions_.put(tail.name, static_cast<int>(next_.size()));
        next_.push_back(Path{cost, tail.backpointer, trail});
      } else if (cost < next_[at].cost) {
        next_[at] = Path{cost, tail.backpointer, trail};
      }
    }
  }
}

RankedLists::Entry RankedLists::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  const Entry popped = heap_.back();
  heap_.pop_back();
  return popped;
}

RankedWords RankedLists::unrolled(const Path& path) const {
  RankedWords found{path.cost, {}, {}};
  for (int one = path.trail; one != NO_TRAIL; one = trails_[one].rest) {
    found.words.push_back(trails_[one].word);
    found.frames.push_back(trails_[one].frame);
  }
  return found;
}

}  // namespace earshot
