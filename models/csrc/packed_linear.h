// A linear layer over many rows, its weights in panels that the innermost loop reads in order.
#pragma once

#include <algorithm>
#include <vector>

#include "floats.h"
#include "network_weights.h"
#include "sum_tile.h"

namespace earshot::EARSHOT_PROCESSOR {

class PackedLinear {
 public:
  // beyond: what the outputs of padding are.
  explicit PackedLinear(const LinearWeights& weights, float beyond = 0.0F)
      : inputs_(weights.inputs), columns_(padded(weights.outputs)), bias_(columns_, beyond) {
    std::ranges::copy(weights.bias, bias_.begin());
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
    const float* panel = panels_.data();
    for (int first = 0; first < columns_;) {
      const int vectors = vectors_at(first);
      for (int row = 0; row < count; row += TILE_ROWS) {
        const int taken = std::min(TILE_ROWS, count - row);
        float sums[TILE_ROWS * TILE_VECTORS * WIDTH];
        sum_tile_of(taken, vectors)(rows + row * stride, stride, panel, inputs_, &bias_[first],
                                    sums);
        for (int i = 0; i < taken * vectors; ++i) {
          then(row + i / vectors, first + WIDTH * (i % vectors), load(sums + WIDTH * i));
        }
      }
      panel += static_cast<std::size_t>(inputs_) * WIDTH * vectors;
      first += WIDTH * vectors;
    }
  }

 private:
  int vectors_at(int column) const { return std::min(TILE_VECTORS, (columns_ - column) / WIDTH); }

  void pack(const LinearWeights& weights, int first, int width) {
    for (int input = 0; input < inputs_; ++input) {
      for (int output = first; output < first + width; ++output) {
        const auto at = static_cast<std::size_t>(output) * inputs_ + input;
        panels_.push_back(output < weights.outputs ? weights.weight[at] : 0.0F);
      }
    }
  }

  int inputs_;
  int columns_;
  std::vector<float> bias_;
  std::vector<float> panels_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
