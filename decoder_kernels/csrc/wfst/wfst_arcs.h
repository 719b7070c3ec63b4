// Arcs of nodes: where they lie, in the graph or among the stream's dynamic OOV words, and those
// that are to be followed, a batch at a time.
#pragma once

#include "block/block.h"
#include "wfst/wfst_arc_costs.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int HIGH_DEGREE = 512;  // arcs of a node that all threads share
inline constexpr int AT_A_TIME = 32;     // arcs, whose labels are compared before any is followed

// Which of many a thread takes: every `stride`-th from `first` on.
struct Share {
  int first;
  int stride;
};

inline constexpr int PREFETCH_AHEAD = 8;  // entries

class Nodes {
 public:
  KERNEL_FN Nodes(const Block& block, const WfstState& state, std::int64_t slot,
                  const Frontier& frontier)
      : block_(block),
        graph_(state.graph),
        num_nodes_(state.shape.num_nodes),
        loop_node_(state.shape.loop_node),
        frontier_(frontier),
        oov_arcs_(oov_arcs_of(state, slot)),
        oov_rows_(oov_arcs_.nodes == nullptr ? nullptr : oov_arcs_.nodes - num_nodes_) {}

  KERNEL_FN const WfstArcs& arcs_of(Key key) const {
    return node_of(key) < num_nodes_ ? graph_ : oov_arcs_;
  }

  KERNEL_FN NodeArcs node_at(Key key) const { return arcs_at(row_of(key)); }

  // The node that OOV words begin with, and the graph's node that they enter from.
  KERNEL_FN const WfstArcs& oov_arcs() const { return oov_arcs_; }
  KERNEL_FN NodeArcs oov_root() const { return arcs_at(oov_arcs_.nodes[0]); }
  KERNEL_FN bool has_oov() const { return oov_arcs_.nodes != nullptr; }
  KERNEL_FN bool is_oov_entry(Key key) const { return has_oov() && node_of(key) == loop_node_; }

  // Arcs of OOV words are not in the graph's bounds.
  KERNEL_FN bool sees_oov(Key key) const { return node_of(key) >= num_nodes_ || is_oov_entry(key); }

  // Puts its arcs beside each entry made since the last time.
  KERNEL_FN void know_arcs() const {
    FrameTotals& totals = frontier_.totals();
    const Entries& entries = frontier_.entries();
    const int size = frontier_.size();
    for (int i = totals.num_known + block_.thread; i < size; i += block_.threads) {
      const int ahead = i + PREFETCH_AHEAD < size ? i + PREFETCH_AHEAD : i;
      prefetch(&row_of(entries.keys[ahead]));
      entries.arcs[i] = node_at(entries.keys[i]);
    }
    block_.sync();
    if (block_.thread == 0) totals.num_known = size;
    block_.sync();
  }

 private:
  static KERNEL_FN WfstArcs oov_arcs_of(const WfstState& state, std::int64_t slot) {
    const std::int64_t node = state.oov_rows[2 * slot];
    const std::int64_t arc = state.oov_rows[2 * slot + 1];
    if (node < 0) return WfstArcs{nullptr, nullptr, nullptr};
    return WfstArcs{state.oov_arcs.nodes + node, state.oov_arcs.labels + arc,
                    state.oov_arcs.arcs + arc};
  }

  KERNEL_FN const WfstNode& row_of(Key key) const {
    const int node = node_of(key);
    return (node < num_nodes_ ? graph_.nodes : oov_rows_)[node];
  }

  static KERNEL_FN NodeArcs arcs_at(const WfstNode& node) {
    return NodeArcs{node.first_arc, node.first_label, (&node)[1].first_arc, node.min_weight,
                    node.labels};
  }

  const Block& block_;
  const WfstArcs& graph_;
  int num_nodes_;
  int loop_node_;
  const Frontier& frontier_;
  WfstArcs oov_arcs_;
  const WfstNode* oov_rows_;  // by the numbers that keys have for its nodes
};

// The first of the arcs from `low` to `high` whose label is not below this one.
KERNEL_FN int first_with(const WfstArcs& arcs, int low, int high, int label) {
  while (low < high) {
    const int middle = (low + high) / 2;
    const bool is_left = label_in(arcs.labels[middle]) < label;
    low = choose(is_left, middle + 1, low);
    high = choose(is_left, high, middle);
  }
  return low;
}

// Memory is asked for all arcs of a batch before the first is looked at, as each arc and each key
// it leads to lie somewhere else.
class ArcBatch {
 public:
  KERNEL_FN ArcBatch(const ArcCosts& arc_costs, const Frontier& frontier)
      : arc_costs_(arc_costs), frontier_(frontier) {}

  // From a token of this key at this cost, the label paid, or from ~entry by epsilon.
  KERNEL_FN void add(const WfstArc& arc, Key key, Cost cost, int label, int from) {
    if (count_ == FETCHED_TOGETHER) flush();
    prefetch(&arc);
    arcs_[count_++] = Pending{&arc, key, cost, label, from};
  }

  // Offers all that lie below the cutoff.
  KERNEL_CALL void flush() {
    const int count = compute_costs();
    for (int i = 0; i < count; ++i) frontier_.prefetch_entry(candidates_[i].position);
    for (int i = 0; i < count; ++i) {
      const Ready& candidate = candidates_[i];
      frontier_.offer_from(candidate.position, candidate.key, candidate.kind, OPEN, candidate.cost,
                           candidate.from, candidate.word);
    }
    count_ = 0;
  }

 private:
  struct Pending {
    const WfstArc* arc;
    Key key;  // of the source
    Cost cost;
    int label;
    int from;
  };
  struct Ready {
    Key key;  // of the target
    Cost cost;
    int kind;
    int from;
    int word;
    int position;
  };

  // Returns how many lie below the cutoff.
  KERNEL_FN int compute_costs() {
    if (HAS_LM && LmPrices::FINDS_TOGETHER && arc_costs_.has_lm()) find_prices();
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Pending& asked = arcs_[i];
      const WfstArc& arc = *asked.arc;
      if (HAS_LM && arc_costs_.has_lm() && arc.word != 0 && is_hopeless(asked)) {
        if (asked.from < 0) raise_closure_bound(~asked.from, OPEN);
        continue;  // not worth a look at language models
      }
      Said said;
      const Cost own = arc_costs_.of_arc(arc, asked.key, &said);
      if (asked.from < 0) raise_closure_bound(~asked.from, own);
      const Cost cost = asked.cost + own;
      if (arc_costs_.is_hopeless(cost, arc.target_kind, frontier_.cutoff())) continue;
      const Key key = make_key(arc.target, asked.label, said.context, said.words);
      const int position = frontier_.prefetch_position(key);
      candidates_[kept++] = Ready{key, cost, arc.target_kind, asked.from, arc.word, position};
    }
    return kept;
  }

  // Whatever language models say of its word.
  KERNEL_FN bool is_hopeless(const Pending& asked) const {
    const Cost least = asked.cost + arc_costs_.least_of(*asked.arc);
    return arc_costs_.is_hopeless(least, asked.arc->target_kind, frontier_.cutoff());
  }

  // What language models say of all words that are worth a look.
  KERNEL_FN void find_prices() const {
    LmPrices::Asked words[FETCHED_TOGETHER];
    int asked = 0;
    for (int i = 0; i < count_; ++i) {
      const int word = arcs_[i].arc->word;
      if (word == 0 || is_hopeless(arcs_[i])) continue;
      words[asked] = LmPrices::Asked{words_of(arcs_[i].key), word};
      arc_costs_.fetch_price(words[asked].words, word);
      ++asked;
    }
    arc_costs_.find_prices(words, asked);
  }

  // The dearest of an entry's epsilon arcs bounds its closure.
  KERNEL_FN void raise_closure_bound(int place, Cost own) const {
    int* closure_bound = &frontier_.entries().closure_bounds[place];
    if (own > *closure_bound) *closure_bound = own < OPEN ? static_cast<int>(own) : OPEN;
  }

  const ArcCosts& arc_costs_;
  const Frontier& frontier_;
  int count_ = 0;
  Pending arcs_[FETCHED_TOGETHER];
  Ready candidates_[FETCHED_TOGETHER];
};

}  // namespace earshot::EARSHOT_BACKEND
