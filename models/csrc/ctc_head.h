// Log-probabilities of the symbols that a CTC head knows, over frames of an encoder.
#pragma once

#include <memory>

#include "dense/layer_weights.h"

namespace earshot {

// A linear layer to R * V logits: R frames of V symbols for each frame of the encoder.
struct CtcHeadWeights {
  LinearWeights layer;
  int rate;
};

class CtcHead {
 public:
  virtual ~CtcHead() = default;

  // encoded (N, D), log_probs (N, R, V). A frame's bits depend on nothing but itself. `workers`
  // threads share the frames.
  virtual void run(const float* encoded, int frames, float* log_probs, int workers) const = 0;
};

namespace portable {
std::unique_ptr<CtcHead> build(const CtcHeadWeights& weights);
}
namespace avx2 {
std::unique_ptr<CtcHead> build(const CtcHeadWeights& weights);
}
namespace avx512 {
std::unique_ptr<CtcHead> build(const CtcHeadWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<CtcHead> build(const CtcHeadWeights& weights);
}

}  // namespace earshot
