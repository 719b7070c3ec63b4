// A linear layer over many rows, its weights in panels that the innermost loop reads in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dense/floats.h"
#include "dense/layer_weights.h"
#include "dense/rows.h"
#include "dense/sum_tile.h"
#include "dense/weight_element.h"

namespace earshot::EARSHOT_PROCESSOR {

// Element: of the weights as they are kept (weight_element.h).
template <class Element>
class PackedLayer {
  using Kept = WeightElement<Element>;

 public:
  // beyond: what the outputs of padding are.
  explicit PackedLayer(const LinearWeights& weights, float beyond = 0.0F)
      : inputs_(weights.inputs),
        columns_(padded(weights.outputs)),
        bias_(columns_, beyond),
        scales_(Kept::SCALED ? columns_ : 0, 1.0F) {
    for (int output = 0; output < weights.outputs; ++output) {
      bias_[output] = weights.bias[output] / scale_of(weights, output);
      if constexpr (Kept::SCALED) scales_[output] = scale_of(weights, output);
    }
    panels_.reserve(static_cast<std::size_t>(columns_) * inputs_);
    for (int first = 0; first < columns_; first += WIDTH * vectors_at(first)) {
      pack(weights, first, WIDTH * vectors_at(first));
    }
  }

  // Outputs, with padding.
  int columns() const { return columns_; }

  // Gives `then(row, column, values)` what becomes of each row, sixteen columns at a time.
  template <class Then>
  void operator()(const float* rows, int count, int stride, Then then) const {
    const Element* panel = panels_.data();
    for (int first = 0; first < columns_;) {
      const int vectors = vectors_at(first);
      for (int row = 0; row < count; row += TILE_ROWS) {
        const int taken = std::min(TILE_ROWS, count - row);
        float sums[TILE_ROWS * TILE_VECTORS * WIDTH];
        sum_tile_of<Element>(taken, vectors)(rows + row * stride, stride, panel, inputs_,
                                             &bias_[first], sums);
        for (int i = 0; i < taken * vectors; ++i) {
          const int column = first + WIDTH * (i % vectors);
          then(row + i / vectors, column, scaled(load(sums + WIDTH * i), column));
        }
      }
      panel += static_cast<std::size_t>(inputs_) * WIDTH * vectors;
      first += WIDTH * vectors;
    }
  }

 private:
  int vectors_at(int column) const { return std::min(TILE_VECTORS, (columns_ - column) / WIDTH); }

  static float scale_of(const LinearWeights& weights, int output) {
    float largest = 0.0F;
    for (int input = 0; Kept::SCALED && input < weights.inputs; ++input) {
      const auto at = static_cast<std::size_t>(output) * weights.inputs + input;
      largest = std::max(largest, std::abs(weights.weight[at]));
    }
    return Kept::scale_of(largest);
  }

  Floats scaled(const Floats& sums, int column) const {
    if constexpr (Kept::SCALED) return sums * load(&scales_[column]);
    return sums;
  }

  void pack(const LinearWeights& weights, int first, int width) {
    std::vector<float> scales(width, 1.0F);
    for (int i = 0; Kept::SCALED && i < width; ++i) scales[i] = scales_[first + i];
    for (int input = 0; input < inputs_; ++input) {
      for (int output = first; output < first + width; ++output) {
        const auto at = static_cast<std::size_t>(output) * inputs_ + input;
        const float weight = output < weights.outputs ? weights.weight[at] : 0.0F;
        panels_.push_back(Kept::packed(weight / scales[output - first]));
      }
    }
  }

  int inputs_;
  int columns_;
  std::vector<float> bias_;
  std::vector<float> scales_;  // of each output; none where weights are kept as they are
  std::vector<Element> panels_;
};

using PackedLinear = PackedLayer<float>;

// to = layer(from).
template <class Element>
void project(const PackedLayer<Element>& layer, const Rows& from, Rows& to) {
  layer(from.numbers.get(), from.count, from.stride,
        [&](int row, int column, const Floats& values) { store(to[row] + column, values); });
}

// x += scale * layer(from).
template <class Element>
void add_projected(const PackedLayer<Element>& layer, const Rows& from, float scale, Rows& x) {
  layer(from.numbers.get(), from.count, from.stride,
        [&](int row, int column, const Floats& values) {
          float* at = x[row] + column;
          store(at, load(at) + values * scale);
        });
}

}  // namespace earshot::EARSHOT_PROCESSOR
