#include "results/word_lattice.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace earshot {

namespace {

constexpr ResultCost NAT = 1 << 24;
constexpr ResultCost WIDEST_RETRY = 16 * NAT;

// Of a frame, and of members with what each costs more than the least.
std::uint64_t hash_of(int frame, std::span<const Tail> members, ResultCost least) {
  std::uint64_t hash = 0;
  for (const Tail& each : members) hash += mixed(each.name, each.cost - least);
  return mixed(hash, frame);
}

}  // namespace

DrawnLattice Determinizer::draw(const WfstBackpointer* backpointers, const SlotEnds& found,
                                int num_frames, std::int64_t max_steps) {
  const ResultCost best = found.ends.front().cost;
  for (ResultCost beam = found.limit - best;;) {
    try {
      std::size_t size = 0;
      while (size < found.ends.size() && found.ends[size].cost <= best + beam) ++size;
      histories_.read(backpointers, {found.ends.data(), size}, false, best + beam, max_steps);
      determinize(num_frames);
      return lattice(beam);
    } catch (const TooManyHistories&) {
      if (beam == 0) throw;
      beam = beam > NAT ? std::min(beam * 3 / 4, WIDEST_RETRY) : 0;
    }
  }
}

void Determinizer::determinize(int num_frames) {
  nodes_.clear();
  groups_.clear();
  heap_.clear();
  drawn_.clear();
  members_.clear();
  node_index_.clear();
  group_index_.clear();
  pushed_ = 0;
  subset_.assign(histories_.root().begin(), histories_.root().end());
  node(num_frames);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Arc arc = heap_.back();
    heap_.pop_back();
    draw(arc);
  }
}

void Determinizer::draw(const Arc& arc) {
  const ResultCost cost = arc.cost - nodes_[arc.target].cost;
  if (arc.word != 0) {
    drawn_.push_back(Drawn{source(arc), arc.target, arc.word, cost});
  } else {
    drawn_.push_back(Drawn{BEGINNING, arc.target, 0, nodes_[0].cost + cost});
  }
}

// The node before a word; if the same subset was met before, without looking at it.
int Determinizer::source(const Arc& arc) {
  const std::span<const Tail> own = members(arc.begin, arc.size);
  const int added = static_cast<int>(groups_.size());
  const int found =
      group_index_.find_or_add(hash_of(arc.frame, own, arc.cost), added, [&](int other) {
        const Arc& met = groups_[other].arc;
        return met.frame == arc.frame &&
               same_members(own, arc.cost, members(met.begin, met.size), met.cost);
      });
  if (found != added) return groups_[found].node;
  go_back(arc);
  const int before = node(arc.frame);
  groups_.push_back(Group{arc, before});
  return before;
}

// What may come before the word, by class.
void Determinizer::go_back(const Arc& arc) {
  positions_.clear();
  subset_.clear();
  for (const Tail& member : members(arc.begin, arc.size)) {
    const std::span<const Tail> tails = histories_.before(member.backpointer);
    histories_.take_steps(tails.size());
    for (const Tail& tail : tails) {
      const ResultCost cost = member.cost + tail.cost;
      if (cost > histories_.limit()) continue;
      const int at = positions_.of(tail.name);
      if (at == Positions::NONE) {
        positions_.put(tail.name, static_cast<int>(subset_.size()));
        subset_.push_back(Tail{tail.name, tail.backpointer, cost});
      } else if (cost < subset_[at].cost) {
        subset_[at] = Tail{tail.name, tail.backpointer, cost};
      }
    }
  }
}

// Of what is in subset_.
int Determinizer::node(int frame) {
  ResultCost least = subset_.front().cost;
  int rank = 0;
  for (const Tail& each : subset_) {
    least = std::min(least, each.cost);
    rank = std::max(rank, each.name);
  }
  const int added = static_cast<int>(nodes_.size());
  const int found = node_index_.find_or_add(hash_of(frame, subset_, least), added, [&](int other) {
    const Node& met = nodes_[other];
    return met.frame == frame &&
           same_members(subset_, least, members(met.begin, met.size), met.cost);
  });
  if (found == added) {
    nodes_.push_back(Node{frame, rank, least, static_cast<int>(members_.size()),
                          static_cast<int>(subset_.size())});
    push_arcs(found, frame);
  }
  return found;
}

bool Determinizer::same_members(std::span<const Tail> one, ResultCost least,
                                std::span<const Tail> other, ResultCost other_least) {
  if (one.size() != other.size()) return false;
  positions_.clear();
  for (std::size_t i = 0; i < other.size(); ++i) {
    positions_.put(other[i].name, static_cast<int>(i));
  }
  return std::ranges::all_of(one, [&](const Tail& each) {
    const int at = positions_.of(each.name);
    return at != Positions::NONE && other[at].cost - other_least == each.cost - least;
  });
}

void Determinizer::push_arcs(int node, int frame) {
  const int begin = static_cast<int>(members_.size());
  group_by_word(begin);
  histories_.take_steps(ARC_STEPS * by_word_.size() + MEMBER_STEPS * subset_.size());
  for (Arc& arc : by_word_) {
    const std::span<const Tail> group = members(arc.begin, arc.size);
    const Tail& cheapest = *std::ranges::min_element(group, {}, &Tail::cost);
    arc.cost = cheapest.cost;
    arc.frame = arc.word == 0 ? 0 : std::min(histories_.frame(cheapest.backpointer), frame);
    arc.target = node;
    arc.number = pushed_++;
    heap_.push_back(arc);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

// An arc for the members of subset_ that have the same last word, or none; in members_ they stand
// together.
void Determinizer::group_by_word(int begin) {
  positions_.clear();
  by_word_.clear();
  word_of_.clear();
  for (const Tail& each : subset_) {
    const int word = each.backpointer == NO_BACKPOINTER ? 0 : histories_.word(each.backpointer);
    int group = positions_.of(word);
    if (group == Positions::NONE) {
      group = static_cast<int>(by_word_.size());
      positions_.put(word, group);
      by_word_.push_back(Arc{0, 0, word, 0, 0, 0, 0});
    }
    word_of_.push_back(group);
    ++by_word_[group].size;
  }
  for (Arc& arc : by_word_) {
    arc.begin = begin;
    begin += arc.size;
    arc.size = 0;
  }
  members_.resize(static_cast<std::size_t>(begin));
  for (std::size_t i = 0; i < subset_.size(); ++i) {
    Arc& arc = by_word_[word_of_[i]];
    members_[arc.begin + arc.size++] = subset_[i];
  }
}

// The beginning first, then nodes by rank; arcs by source, target and word.
DrawnLattice Determinizer::lattice(ResultCost beam) const {
  std::vector<int> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int each) { return nodes_[each].rank; });
  DrawnLattice made{{0}, {}, {}, {}, {}, static_cast<double>(beam) / NAT};
  std::vector<int> places(nodes_.size());
  for (const int each : order) {
    places[each] = static_cast<int>(made.frames.size());
    made.frames.push_back(nodes_[each].frame);
  }
  std::vector<Drawn> arcs = drawn_;
  for (Drawn& arc : arcs) {
    arc.source = arc.source == BEGINNING ? 0 : places[arc.source];
    arc.target = places[arc.target];
  }
  std::ranges::stable_sort(
      arcs, {}, [](const Drawn& arc) { return std::tuple(arc.source, arc.target, arc.word); });
  for (const Drawn& arc : arcs) {
    made.sources.push_back(arc.source);
    made.targets.push_back(arc.target);
    made.words.push_back(arc.word);
    made.costs.push_back(static_cast<double>(arc.cost) / NAT);
  }
  return made;
}

}  // namespace earshot
