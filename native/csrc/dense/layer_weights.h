// Layers as they were trained, for whoever packs them.
#pragma once

#include <vector>

namespace earshot {

// y = weight x + bias. weight (outputs, inputs).
struct LinearWeights {
  int outputs;
  int inputs;
  std::vector<float> weight;
  std::vector<float> bias;
};

// y = (x - mean) / sqrt(variance + eps) * scale + shift, of each row's own mean and variance, or
// where it has `frozen_stats` y = x * scale + shift.
struct NormWeights {
  std::vector<float> scale;
  std::vector<float> shift;
  float eps;
  bool frozen_stats;
};

}  // namespace earshot
