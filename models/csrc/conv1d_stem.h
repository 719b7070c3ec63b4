// A stem of convolutions over time: fewer frames, more channels.
#pragma once

#include <memory>
#include <vector>

#include "dense/layer_weights.h"

namespace earshot {

// A convolution without padding, and a ReLU. layer (outputs, kernel * channels): the channels of
// the oldest frame first.
struct TimeConvolutionWeights {
  LinearWeights layer;
  int kernel;
  int stride;
};

struct Conv1dStemWeights {
  std::vector<TimeConvolutionWeights> convolutions;
  LinearWeights out;
};

class Conv1dStem {
 public:
  virtual ~Conv1dStem() = default;

  // features (B, W, F) to embedded (B, T, D); a lane's bits depend on nothing but itself. `workers`
  // threads share the lanes.
  virtual void run(const float* features, int lanes, int window, float* embedded,
                   int workers) const = 0;
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
