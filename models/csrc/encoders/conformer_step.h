// One chunk of many lanes through the blocks of a conformer, without a copy of what they remember.
#pragma once

#include <cstdint>
#include <memory>

#include "../network_weights.h"

namespace earshot {

// B lanes of at most T frames; S slots of an encoder of L layers, h heads and R rows in its cache.
// Shapes as in `EncoderState` and `LaneUpdate` (models/u2/lanes.py), W = 2 d_k + 1. The stem gives
// r frames, 1 or 2, for each that the encoder puts out.
struct LaneChunk {
  int lanes;
  int frames;
  int capacity;                 // C
  const float* stem;            // (B, T r, D)
  const float* pos_emb;         // (B, T r, D), or null without positional keys
  const std::int64_t* slots;    // (B,)
  const std::int64_t* lengths;  // (B,) frames that are real
  const std::int64_t* cached;   // (S,) columns of the ring that hold a frame
  const float* att_cache;       // (S, R, h, C + 1, W)
  const float* cnn_cache;       // (S, L, k - 1, D)
  float* encoded;               // (B, T, E), zeros; E is D or narrower
  float* att_columns;           // (B, R, h, T, W), zeros
  float* next_cnn_cache;        // (B, L, k - 1, D)
};

class ConformerStep {
 public:
  virtual ~ConformerStep() = default;

  // Packs one more block, behind those before.
  virtual void add(const LayerWeights& block) = 0;

  // Changes nothing but the last three arrays. `workers` threads share each layer.
  virtual void run(const LaneChunk& chunk, int workers) const = 0;
};

// The same step for four kinds of processors; what one cannot run must not be built on it.
namespace portable {
std::unique_ptr<ConformerStep> build(const ConformerWeights& weights);
}
namespace avx2 {
std::unique_ptr<ConformerStep> build(const ConformerWeights& weights);
}
namespace avx512 {
std::unique_ptr<ConformerStep> build(const ConformerWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<ConformerStep> build(const ConformerWeights& weights);
}

}  // namespace earshot
