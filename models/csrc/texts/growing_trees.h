// Trees of tokens that grow while a search asks about them: what was computed of their nodes, and
// of what they listen to, is kept, so that a new node costs itself alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../network_weights.h"

namespace earshot {

// What is kept of one tree and of its memory.
class GrownTree {
 public:
  virtual ~GrownTree() = default;
  virtual int nodes() const = 0;
};

// N new nodes of S trees, parents before children; each gets the number after those its tree has.
// A chain is a run of new nodes side by side, each the parent of the next.
struct TreeGrowth {
  std::vector<GrownTree*> trees;     // (S,)
  const float* embedded;             // (N, D)
  const std::int64_t* first_nodes;   // (S + 1,) rows of each tree's, and N
  const std::int64_t* first_chains;  // (S + 1,) of each tree, and their number
  const std::int64_t* chain_starts;  // (chains,) the rows of their first nodes
  const std::int64_t* first_steps;   // (chains + 1,) where their paths are in `paths`
  const std::int64_t* paths;         // numbers in the tree, from the root to a chain's last node
  int best;                          // K
  std::int64_t* best_outputs;        // (N, K) the likeliest after each, best first
  float* best_scores;                // (N, K) their log-probabilities
};

// Q questions: how likely is an output after a node of a tree?
struct TreeQuestions {
  std::vector<GrownTree*> trees;  // (S,)
  int count;                      // Q
  const std::int64_t* owners;     // (Q,) numbers in `trees`
  const std::int64_t* nodes;      // (Q,)
  const std::int64_t* outputs;    // (Q,)
  float* scores;                  // (Q,) log-probabilities
};

// A transformer that listens, but for its blocks and its output. Memories that are shorter than
// `silence` (silent_frames, D) get the rest of it.
struct GrowingTreesWeights {
  int size;
  int heads;
  Activation activation;
  NormWeights after_norm;
  const float* silence = nullptr;
  int silent_frames = 0;
};

class GrowingTrees {
 public:
  static constexpr int OUTPUTS_IN_BLOCK = 128;

  virtual ~GrowingTrees() = default;

  // Packs one more block, behind those before.
  virtual void add(const TreeLayerWeights& block) = 0;
  // Packs OUTPUTS_IN_BLOCK more rows of the output, or its last. It may be a part of the
  // vocabulary; probabilities are shares of that part.
  virtual void add_output(const LinearWeights& rows) = 0;

  // A tree without nodes, about memory (T, D).
  virtual std::unique_ptr<GrownTree> listen(const float* memory, int frames) const = 0;
  // `workers` threads share the trees.
  virtual void grow(const TreeGrowth& growth, int workers) const = 0;
  virtual void answer(const TreeQuestions& questions) const = 0;
};

namespace portable {
std::unique_ptr<GrowingTrees> build(const GrowingTreesWeights& weights);
}
namespace avx2 {
std::unique_ptr<GrowingTrees> build(const GrowingTreesWeights& weights);
}
namespace avx512 {
std::unique_ptr<GrowingTrees> build(const GrowingTreesWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<GrowingTrees> build(const GrowingTreesWeights& weights);
}

}  // namespace earshot
