// A stem of 3x3 convolutions of stride 2 over time and frequency: planes become frames.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dense/layer_weights.h"

namespace earshot {

// A convolution over each channel by itself: kernel (9, C), the oldest frame's lowest bin first.
struct DepthwiseWeights {
  std::vector<float> kernel;
  std::vector<float> bias;
};

// A convolution and ReLU. layer: of a full one (C, 9 C'), in the kernel's order and for each place
// the channels before; of a separable one (C, C'), behind its depthwise one.
struct PlaneStageWeights {
  std::optional<DepthwiseWeights> depthwise;
  LinearWeights layer;
};

// before, after: places that pad each convolution's frequencies, and the sound's beginning and end
// where it has them. out: over channels of the lowest frequency first.
struct Conv2dStemWeights {
  int bins;  // F
  int before;
  int after;
  std::vector<PlaneStageWeights> stages;
  LinearWeights out;
};

// Windows (B, W, F) out of sound, and the frames that are wanted of each.
struct StemWindows {
  int lanes;
  int window;  // W
  int frames;  // T
  const float* features;
  const std::int64_t* firsts;   // (B,) frames of the sound before those wanted
  const std::int64_t* lengths;  // (B,) feature frames of the sound
  const std::int64_t* wanted;   // (B,) of T, those that the window is long enough for
};

class Conv2dStem {
 public:
  virtual ~Conv2dStem() = default;

  // Writes embedded (B, T, D), but for frames that are not wanted. What lies outside of the sound
  // is zero before each convolution. A lane's bits depend on nothing but itself. `workers` threads
  // share each layer.
  virtual void run(const StemWindows& windows, float* embedded, int workers) const = 0;
};

namespace portable {
std::unique_ptr<Conv2dStem> build(const Conv2dStemWeights& weights);
}
namespace avx2 {
std::unique_ptr<Conv2dStem> build(const Conv2dStemWeights& weights);
}
namespace avx512 {
std::unique_ptr<Conv2dStem> build(const Conv2dStemWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<Conv2dStem> build(const Conv2dStemWeights& weights);
}

}  // namespace earshot
