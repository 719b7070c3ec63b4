// One chunk of many lanes through the layers of a FastConformer: of streams, whose memory is read
// where it is, or of utterances by themselves.
#pragma once

#include <cstdint>
#include <memory>

#include "fast_conformer_weights.h"

namespace earshot {

// B lanes of at most T frames.
struct FastConformerChunk {
  int lanes;
  int frames;
  const float* stem;            // (B, T, D)
  const std::int64_t* lengths;  // (B,) frames that are real
  float* encoded;               // (B, T, D), zeros
};

// What S streams have heard in L layers of h heads, and what the lanes' chunk adds to it: as
// `FastConformerState` has it (models/fastconformer/steps/state.py), W = 2 d_k.
struct StreamMemory {
  int capacity;                 // C
  int left;                     // frames of it that a chunk hears, C or fewer
  const std::int64_t* slots;    // (B,)
  const std::int64_t* offsets;  // (S,) frames put out
  const float* att_cache;       // (S, L, h, C + 1, W)
  const float* cnn_cache;       // (S, L, k - 1, D)
  float* att_columns;           // (B, L, h, T, W), zeros
  float* next_cnn_cache;        // (B, L, k - 1, D)
};

// Frames of an utterance that one of its frames hears, less than 0: all there are. In chunks of
// right + 1 frames they hear each other and `left` before the chunk.
struct FrameContext {
  int left;
  int right;
  bool in_chunks;
};

class FastConformerStep {
 public:
  virtual ~FastConformerStep() = default;

  // Packs one more layer, behind those before.
  virtual void add(const FastConformerLayerWeights& layer) = 0;

  // Hears a chunk of each stream behind its memory. Changes nothing but `encoded` and the memory's
  // last two arrays. `workers` threads share each layer.
  virtual void run(const FastConformerChunk& chunk, const StreamMemory& memory,
                   int workers) const = 0;

  // Hears each lane as an utterance of its own.
  virtual void run_alone(const FastConformerChunk& chunk, const FrameContext& context,
                         int workers) const = 0;
};

namespace portable {
std::unique_ptr<FastConformerStep> build(const FastConformerShape& shape);
}
namespace avx2 {
std::unique_ptr<FastConformerStep> build(const FastConformerShape& shape);
}
namespace avx512 {
std::unique_ptr<FastConformerStep> build(const FastConformerShape& shape);
}
namespace avx512_bf16 {
std::unique_ptr<FastConformerStep> build(const FastConformerShape& shape);
}

}  // namespace earshot
