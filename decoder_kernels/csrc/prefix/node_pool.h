// Linked nodes of one slot, which hypotheses share: the beginnings of their chains are the same.
//
// Nodes are taken from a stack of free ones. What no hypothesis reaches any more is found by
// marking and swept back when a frame could run out. Which node lies where never shows in a result.
#pragma once

#include "block/block.h"
#include "block/scratch.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NO_NODE = -1;

struct NodePool {
  int* parent;
  int* value;       // token or frame
  float* log_prob;  // time nodes only
  int* free_nodes;  // a stack
  int* mark;        // for sweeping
  int* num_free;
  int capacity;

  KERNEL_HOST_FN NodePool(Carver& state, int nodes)
      : parent(state.take<int>(nodes)),
        value(state.take<int>(nodes)),
        log_prob(state.take<float>(nodes)),
        free_nodes(state.take<int>(nodes)),
        mark(state.take<int>(nodes)),
        num_free(state.take<int>(1)),
        capacity(nodes) {}

  KERNEL_FN void free_all(const Block& block) const {
    for (int i = block.thread; i < capacity; i += block.threads) free_nodes[i] = i;
    if (block.thread == 0) *num_free = capacity;
  }

  // Writes the node that lies `taken` below the top of the stack.
  KERNEL_FN int store(int taken, int parent_node, int node_value) const {
    const int node = free_nodes[*num_free - 1 - taken];
    parent[node] = parent_node;
    value[node] = node_value;
    return node;
  }

  // A sweep is clear_marks, mark_chain for every chain that is in use, free_unmarked, with a sync
  // between them.
  KERNEL_FN void clear_marks(const Block& block) const {
    for (int i = block.thread; i < capacity; i += block.threads) mark[i] = 0;
    if (block.thread == 0) *num_free = 0;
  }

  KERNEL_FN void mark_chain(const Block& block, int node) const {
    while (node != NO_NODE && block.exchange(&mark[node], 1) == 0) node = parent[node];
  }

  KERNEL_FN void free_unmarked(const Block& block) const {
    for (int i = block.thread; i < capacity; i += block.threads) {
      if (mark[i] == 0) free_nodes[block.fetch_add(num_free, 1)] = i;
    }
  }
};

// Whether two chains hold the same values; they are of equal length.
KERNEL_FN bool same_chain(const NodePool& pool, int a, int b) {
  for (; a != b; a = pool.parent[a], b = pool.parent[b]) {
    if (pool.value[a] != pool.value[b]) return false;
  }
  return true;
}

}  // namespace earshot::EARSHOT_BACKEND
