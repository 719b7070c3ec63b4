// What one slot remembers between chunks: its beam, and two pools of linked nodes.
//
// A prefix is a chain of nodes (parent, token); the emission times of a path are a chain of nodes
// (parent, frame, log-probability). Hypotheses share the beginnings of their chains. Nodes that no
// hypothesis reaches are swept into a free list when a frame could run out of them.
#pragma once

#include <cstdint>

#include "block.h"
#include "prefix_search.h"
#include "scratch.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NO_NODE = -1;
inline constexpr int NO_TOKEN = -1;

struct Hypothesis {
  double blank_score;    // log-probability of all paths that end in blank
  double token_score;    // ... in the last token
  double blank_viterbi;  // log-probability of the best such path
  double token_viterbi;
  double completed;         // bonus of complete boosted phrases
  std::uint64_t hash;       // of the prefix
  std::uint64_t rest_hash;  // of the prefix without its last token
  int blank_times;          // newest time node of the best path that ends in blank
  int token_times;
  int prefix;  // newest prefix node
  int token;   // the last one
  int length;
  int boost_state;

  KERNEL_FN double viterbi() const {
    return blank_viterbi > token_viterbi ? blank_viterbi : token_viterbi;
  }
  KERNEL_FN int times() const { return blank_viterbi > token_viterbi ? blank_times : token_times; }
};

struct NodePool {
  int* parent;
  int* value;       // token or frame
  float* log_prob;  // time nodes only
  int* free_nodes;  // a stack
  int* mark;        // for sweeping
  int* num_free;
};

struct Slot {
  int* num_hypotheses;
  int* num_frames;
  long long* overflows;
  Hypothesis* beam;  // best first
  NodePool prefixes;
  NodePool times;
  std::size_t bytes;

  KERNEL_HOST_FN Slot(std::byte* memory, const SearchShape& shape) {
    Carver state(memory);
    overflows = state.take<long long>(1);
    num_hypotheses = state.take<int>(1);
    num_frames = state.take<int>(1);
    beam = state.take<Hypothesis>(shape.beam_size);
    prefixes = take_pool(state, shape.node_capacity);
    times = take_pool(state, shape.node_capacity);
    bytes = state.used();
  }

 private:
  KERNEL_HOST_FN static NodePool take_pool(Carver& state, int capacity) {
    NodePool pool;
    pool.parent = state.take<int>(capacity);
    pool.value = state.take<int>(capacity);
    pool.log_prob = state.take<float>(capacity);
    pool.free_nodes = state.take<int>(capacity);
    pool.mark = state.take<int>(capacity);
    pool.num_free = state.take<int>(1);
    return pool;
  }
};

KERNEL_FN Slot slot_at(const SearchState& state, std::int64_t index) {
  return Slot(state.memory + index * state.slot_bytes, state.shape);
}

KERNEL_FN std::uint64_t hash_of(std::uint64_t prefix_hash, int token) {
  std::uint64_t hash =
      (prefix_hash + static_cast<std::uint64_t>(token) + 1) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 29;
  return hash * 0xBF58476D1CE4E5B9ull;
}

// Whether two chains hold the same tokens; they are of equal length.
KERNEL_FN bool same_prefix(const NodePool& prefixes, int a, int b) {
  for (; a != b; a = prefixes.parent[a], b = prefixes.parent[b]) {
    if (prefixes.value[a] != prefixes.value[b]) return false;
  }
  return true;
}

}  // namespace earshot::EARSHOT_BACKEND
