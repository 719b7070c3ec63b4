// Layers as they were trained, for whoever packs them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace earshot {

// What a layer multiplies: numbers as they are; weights and inputs rounded to the upper halves of
// floats, where weights that are int8 a row are not rounded (int8_rows.h); or weights as int8 and
// rows as int16, or as int8 (W8A8), with a scale for each output and each row (int8_products.h).
// Sums are floats, of whole numbers whole.
enum class Precision { FLOAT32, BFLOAT16, INT8, W8A8 };

// y = weight x + bias. weight (outputs, inputs).
struct LinearWeights {
  int outputs;
  int inputs;
  std::vector<float> weight;
  std::vector<float> bias;
  Precision precision = Precision::FLOAT32;
};

// The largest weight of one output, without its sign; NaN if one is.
inline float largest_weight(const LinearWeights& weights, int output) {
  const float* row = &weights.weight[static_cast<std::size_t>(output) * weights.inputs];
  float largest = 0.0F;
  for (int i = 0; i < weights.inputs; ++i) {
    const float size = std::abs(row[i]);
    if (size > largest || std::isnan(size)) largest = size;
  }
  return largest;
}

// y = (x - mean) / sqrt(variance + eps) * scale + shift, of each row's own mean and variance, or
// where it has `frozen_stats` y = x * scale + shift.
struct NormWeights {
  std::vector<float> scale;
  std::vector<float> shift;
  float eps;
  bool frozen_stats;
};

}  // namespace earshot
