// The cheapest texts of a word lattice, once language models have said what their words cost: exact
// over all its paths, of which a list has only the first.
//
// The lattice is composed with the models' states: one state for each node and history that they
// tell apart (Sak et al. 2010, On-the-fly Lattice Rescoring for Real-time ASR, without pruning).
// What each costs at least from the beginning is then known, and a search from the end takes up
// nothing but what it lists (A* with a perfect bound).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "results/hash_index.h"
#include "results/lm_mixture.h"
#include "results/word_confidence.h"

namespace earshot {

// Models, and how much what they say counts: below 0 where it is to be taken back. They know the
// word of each arc, and behind those the end of a sentence.
struct LmTerm {
  const LmMixture* mix;
  double factor;
};

// A path through a lattice. `price`: what the models add to its cost.
struct PricedPath {
  double cost;
  double price;
  std::vector<int> words;
  std::vector<int> frames;
};

// Throws std::invalid_argument for arcs that are not in the order of their sources, or do not lead
// to later nodes.
inline void check_lattice(const LatticeView& lattice) {
  const std::size_t size = lattice.words.size();
  const auto nodes = static_cast<std::int64_t>(lattice.frames.size());
  bool holds = nodes > 0 && lattice.sources.size() == size && lattice.targets.size() == size &&
               lattice.costs.size() == size;
  for (std::size_t arc = 0; holds && arc < size; ++arc) {
    const std::int32_t least = arc == 0 ? 0 : lattice.sources[arc - 1];
    holds = least <= lattice.sources[arc] && lattice.sources[arc] < lattice.targets[arc] &&
            lattice.targets[arc] < nodes;
  }
  if (!holds) throw std::invalid_argument("the arcs are no lattice's");
}

class LmLattice {
 public:
  LmLattice(LatticeView lattice, std::vector<LmTerm> terms)
      : lattice_(lattice), terms_(std::move(terms)) {
    for (const LmTerm& term : terms_) stride_ += term.mix->size();
    after_.resize(stride_);
  }

  // Up to `count` paths that begin with `beginning`, cheapest first. `ended`: whether a sentence
  // ends with them; else those that end within the beginning count too. Nothing where that takes
  // more than `max_lookups`.
  std::optional<std::vector<PricedPath>> list(std::vector<int> beginning, std::size_t count,
                                              bool ended, std::int64_t max_lookups) {
    beginning_ = std::move(beginning);
    lookups_left_ = max_lookups;
    begin();
    for (std::size_t arc = 0; arc < lattice_.words.size(); ++arc) {
      if (!follow(arc)) return std::nullopt;
    }
    if (!end(ended)) return std::nullopt;
    return cheapest(count);
  }

 private:
  static constexpr int NONE = -1;

  // A node with a history. `cost`: of the cheapest path to it.
  struct State {
    int node;
    int said;  // words of the beginning
    int next;  // at the same node
    int edge;  // the last that leads to it
    double cost;
  };

  // An arc from a state.
  struct Edge {
    int from;
    int next;  // to the same state
    std::size_t arc;
    double cost;
    double price;
  };

  // The rest of a path, from an edge on.
  struct Trail {
    int edge;
    int rest;
  };

  // A state, and what follows it in a path.
  struct Partial {
    double total;
    double behind;  // the part of `total` that follows the state
    double price;   // of the end of the sentence
    int number;
    int state;
    int trail;

    // The newest of equal costs first.
    bool operator>(const Partial& other) const {
      return total != other.total ? total > other.total : number < other.number;
    }
  };

  void begin() {
    at_node_.assign(lattice_.frames.size(), NONE);
    std::size_t place = 0;
    for (const LmTerm& term : terms_) {
      for (std::size_t i = 0; i < term.mix->size(); ++i) after_[place++] = term.mix->voice(i).start;
    }
    states_[state_at(0, 0)].cost = 0.0;
  }

  // From all states of the arc's source. Arcs are in the order of these, and lead to later nodes.
  bool follow(std::size_t arc) {
    for (int from = at_node_[lattice_.sources[arc]]; from != NONE; from = states_[from].next) {
      const int word = lattice_.words[arc];
      const int said = states_[from].said;
      const bool begins = word != 0 && said < static_cast<int>(beginning_.size());
      if (begins && word != beginning_[said]) continue;
      const double price = word == 0 ? stay(from) : say(from, arc);
      if (lookups_left_ < 0) return false;
      const int to = state_at(lattice_.targets[arc], begins ? said + 1 : said);
      const double cost = lattice_.costs[arc] + price;
      edges_.push_back(Edge{from, states_[to].edge, arc, cost, price});
      states_[to].edge = static_cast<int>(edges_.size()) - 1;
      states_[to].cost = std::min(states_[to].cost, states_[from].cost + cost);
    }
    return true;
  }

  double stay(int from) {
    std::copy_n(histories_.begin() + static_cast<std::ptrdiff_t>(from * stride_), stride_,
                after_.begin());
    return 0.0;
  }

  double say(int from, std::size_t word) {
    lookups_left_ -= static_cast<std::int64_t>(stride_);
    double price = 0.0;
    std::size_t place = 0;
    for (const LmTerm& term : terms_) {
      const std::uint32_t* before = histories_.data() + from * stride_ + place;
      price += term.factor * term.mix->take(before, word, after_.data() + place);
      place += term.mix->size();
    }
    return price;
  }

  // The state of a node whose history is in after_.
  int state_at(int node, int said) {
    std::uint64_t hash = mixed(static_cast<std::uint64_t>(node), static_cast<std::uint64_t>(said));
    for (const std::uint32_t own : after_) hash = mixed(hash, own);
    const int added = static_cast<int>(states_.size());
    const int found = index_.find_or_add(hash, added, [&](int other) {
      return states_[other].node == node && states_[other].said == said &&
             std::equal(after_.begin(), after_.end(),
                        histories_.begin() + static_cast<std::ptrdiff_t>(other * stride_));
    });
    if (found != added) return found;
    states_.push_back(State{node, said, at_node_[node], NONE, UNREACHED});
    histories_.insert(histories_.end(), after_.begin(), after_.end());
    at_node_[node] = added;
    return added;
  }

  bool end(bool ended) {
    const std::size_t behind_all = lattice_.words.size();
    for (int last = at_node_.back(); last != NONE; last = states_[last].next) {
      if (ended && states_[last].said < static_cast<int>(beginning_.size())) continue;
      const double price = ended ? say(last, behind_all) : 0.0;
      if (lookups_left_ < 0) return false;
      push(last, price, price, NONE);
    }
    return true;
  }

  std::vector<PricedPath> cheapest(std::size_t count) {
    std::vector<PricedPath> found;
    while (!heap_.empty() && found.size() < count) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const Partial partial = heap_.back();
      heap_.pop_back();
      if (partial.state == 0) {
        found.push_back(unrolled(partial));
      } else {
        go_back(partial);
      }
    }
    return found;
  }

  void go_back(const Partial& partial) {
    for (int edge = states_[partial.state].edge; edge != NONE; edge = edges_[edge].next) {
      trails_.push_back(Trail{edge, partial.trail});
      push(edges_[edge].from, partial.behind + edges_[edge].cost, partial.price,
           static_cast<int>(trails_.size()) - 1);
    }
  }

  void push(int state, double behind, double price, int trail) {
    const double total = states_[state].cost + behind;
    heap_.push_back(Partial{total, behind, price, ++pushed_, state, trail});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  PricedPath unrolled(const Partial& whole) const {
    PricedPath path{0.0, whole.price, {}, {}};
    for (int at = whole.trail; at != NONE; at = trails_[at].rest) {
      const Edge& edge = edges_[trails_[at].edge];
      path.cost += lattice_.costs[edge.arc];
      path.price += edge.price;
      if (lattice_.words[edge.arc] == 0) continue;
      path.words.push_back(lattice_.words[edge.arc]);
      path.frames.push_back(lattice_.frames[lattice_.sources[edge.arc]]);
    }
    return path;
  }

  static constexpr double UNREACHED = 1e300;

  LatticeView lattice_;
  std::vector<LmTerm> terms_;
  std::vector<int> beginning_;
  std::size_t stride_ = 0;  // numbers in a history, one for each model
  std::int64_t lookups_left_ = 0;
  std::vector<State> states_;
  std::vector<std::uint32_t> histories_;  // of states
  std::vector<std::uint32_t> after_;      // the history at hand
  std::vector<int> at_node_;              // the newest state of each
  std::vector<Edge> edges_;
  std::vector<Trail> trails_;
  std::vector<Partial> heap_;
  HashIndex index_;
  int pushed_ = 0;
};

}  // namespace earshot
