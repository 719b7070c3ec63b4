// How likely the nodes of trees of tokens are, each after those that lead to it: no node sees a
// branch that is not its own, and none is padded.
#pragma once

#include <cstdint>
#include <memory>

#include "network_weights.h"

namespace earshot {

// S trees of N nodes in all, parents before children. The nodes of a sequence that no sequence
// before it had are a chain: side by side, each the parent of the next.
struct TreeChunk {
  int trees;
  int chains;
  int memory_frames;                   // T
  const float* embedded;               // (N, D)
  const std::int64_t* first_nodes;     // (S + 1,) of each tree, and N
  const std::int64_t* tokens;          // (N,)
  const std::int64_t* parents;         // (N,) a root is its own
  const std::int64_t* first_chains;    // (S + 1,) of each tree, and their number
  const std::int64_t* chain_starts;    // (chains,) their first nodes
  const std::int64_t* first_steps;     // (chains + 1,) where their paths are in `paths`
  const std::int64_t* paths;           // nodes from the root to a chain's last
  const float* memory;                 // (S, T, D), or null without cross-attention
  const std::int64_t* memory_lengths;  // (S,)
  std::int64_t end;                    // the token after a whole sequence
  float* nodes;  // (N,) log-probability of each node's token; a root's is none
  float* ends;   // (N,) of `end` after it
};

class TreeScores {
 public:
  virtual ~TreeScores() = default;

  // Writes the last two arrays. `workers` threads share the trees.
  virtual void run(const TreeChunk& chunk, int workers) const = 0;
};

namespace portable {
std::unique_ptr<TreeScores> build(const TreeWeights& weights);
}
namespace avx2 {
std::unique_ptr<TreeScores> build(const TreeWeights& weights);
}
namespace avx512 {
std::unique_ptr<TreeScores> build(const TreeWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<TreeScores> build(const TreeWeights& weights);
}

}  // namespace earshot
