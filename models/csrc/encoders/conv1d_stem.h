// A stem of convolutions over time: fewer frames, more channels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../network_weights.h"
#include "dense/layer_weights.h"

namespace earshot {

// A convolution without padding, and an activation. layer (outputs, kernel * channels): the
// channels of the oldest frame first.
struct TimeConvolutionWeights {
  LinearWeights layer;
  int kernel;
  int stride;
};

// out: a layer over what the last convolution gives.
struct Conv1dStemWeights {
  std::vector<TimeConvolutionWeights> convolutions;
  Activation activation;
  std::optional<LinearWeights> out;
};

class Conv1dStem {
 public:
  virtual ~Conv1dStem() = default;

  // features (B, W, F) to embedded (B, T, D); a lane's bits depend on nothing but itself. begins
  // (B,), or null for none: where it is not 0 the first convolution's first frame lies before all
  // sound, and is zero. `workers` threads share each layer.
  virtual void run(const float* features, const std::int64_t* begins, int lanes, int window,
                   float* embedded, int workers) const = 0;
};

namespace portable {
std::unique_ptr<Conv1dStem> build(const Conv1dStemWeights& weights);
}
namespace avx2 {
std::unique_ptr<Conv1dStem> build(const Conv1dStemWeights& weights);
}
namespace avx512 {
std::unique_ptr<Conv1dStem> build(const Conv1dStemWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<Conv1dStem> build(const Conv1dStemWeights& weights);
}

}  // namespace earshot
