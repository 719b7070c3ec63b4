// What one slot remembers between chunks: its beam, and two pools of linked nodes.
//
// A prefix is a chain of nodes (parent, token); the emission times of a path are a chain of nodes
// (parent, frame, log-probability). Hypotheses share the beginnings of their chains. Nodes that no
// hypothesis reaches are swept into a free list when a frame could run out of them.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "block/scratch.h"
#include "prefix/node_pool.h"
#include "prefix/prefix_search.h"

namespace earshot::EARSHOT_BACKEND {

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

struct Slot {
  long long* overflows;
  int* num_hypotheses;
  int* num_frames;
  Hypothesis* beam;  // best first
  NodePool prefixes;
  NodePool times;
  std::size_t bytes;

  KERNEL_HOST_FN Slot(std::byte* memory, const SearchShape& shape) : Slot(Carver(memory), shape) {}

 private:
  KERNEL_HOST_FN Slot(Carver state, const SearchShape& shape)
      : overflows(state.take<long long>(1)),
        num_hypotheses(state.take<int>(1)),
        num_frames(state.take<int>(1)),
        beam(state.take<Hypothesis>(shape.beam_size)),
        prefixes(state, shape.node_capacity),
        times(state, shape.node_capacity),
        bytes(state.used()) {}
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

}  // namespace earshot::EARSHOT_BACKEND
