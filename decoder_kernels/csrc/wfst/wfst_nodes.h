// Where the arcs of a key's node lie: in the graph, or among the grafted words of the stream.
#pragma once

#include "block/block.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

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
        graft_(graft_of(state, slot)),
        graft_rows_(graft_.nodes == nullptr ? nullptr : graft_.nodes - num_nodes_) {}

  KERNEL_FN const WfstArcs& arcs_of(Key key) const {
    return node_of(key) < num_nodes_ ? graph_ : graft_;
  }

  KERNEL_FN NodeArcs node_at(Key key) const { return arcs_at(row_of(key)); }

  // What grafted words begin with: one node, and one that they hang on.
  KERNEL_FN const WfstArcs& graft() const { return graft_; }
  KERNEL_FN NodeArcs root_of_graft() const { return arcs_at(graft_.nodes[0]); }
  KERNEL_FN bool has_graft() const { return graft_.nodes != nullptr; }
  KERNEL_FN bool is_hook(Key key) const { return has_graft() && node_of(key) == loop_node_; }

  // Arcs of grafted words are not in the graph's bounds.
  KERNEL_FN bool sees_graft(Key key) const { return node_of(key) >= num_nodes_ || is_hook(key); }

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
  static KERNEL_FN WfstArcs graft_of(const WfstState& state, std::int64_t slot) {
    const std::int64_t node = state.graft_rows[2 * slot];
    const std::int64_t arc = state.graft_rows[2 * slot + 1];
    if (node < 0) return WfstArcs{nullptr, nullptr, nullptr};
    return WfstArcs{state.grafts.nodes + node, state.grafts.labels + arc, state.grafts.arcs + arc};
  }

  KERNEL_FN const WfstNode& row_of(Key key) const {
    const int node = node_of(key);
    return (node < num_nodes_ ? graph_.nodes : graft_rows_)[node];
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
  WfstArcs graft_;
  const WfstNode* graft_rows_;  // by the numbers that keys have for its nodes
};

}  // namespace earshot::EARSHOT_BACKEND
