// A linear layer over many rows, its weights in panels that the innermost loop reads in order.
#pragma once

#include <algorithm>
#include <variant>

#include "dense/bfloat16.h"
#include "dense/packed_layer.h"

namespace earshot::EARSHOT_PROCESSOR {

// In the precision that the weights ask for.
class PackedLinear {
 public:
  // beyond: what the outputs of padding are.
  explicit PackedLinear(const LinearWeights& weights, float beyond = 0.0F)
      : layer_(weights.precision == Precision::BFLOAT16
                   ? Layer(PackedLayer<Bfloat16>(weights, beyond))
                   : Layer(PackedLayer<float>(weights, beyond))) {}

  // Outputs, with padding.
  int columns() const {
    const auto* exact = std::get_if<PackedLayer<float>>(&layer_);
    return exact ? exact->columns() : std::get_if<PackedLayer<Bfloat16>>(&layer_)->columns();
  }

  // See `PackedLayer`.
  template <class Then>
  void operator()(const float* rows, int count, int stride, Then then) const {
    if (const auto* exact = std::get_if<PackedLayer<float>>(&layer_)) {
      (*exact)(rows, count, stride, then);
    } else {
      (*std::get_if<PackedLayer<Bfloat16>>(&layer_))(rows, count, stride, then);
    }
  }

 private:
  using Layer = std::variant<PackedLayer<float>, PackedLayer<Bfloat16>>;

  Layer layer_;
};

// to = layer(from).
template <class Linear>
void project(const Linear& layer, const Rows& from, Rows& to) {
  layer(from.numbers.get(), from.count, from.stride,
        [&](int row, int column, const Floats& values) { store(to[row] + column, values); });
}

// x += scale * layer(from).
template <class Linear>
void add_projected(const Linear& layer, const Rows& from, float scale, Rows& x) {
  layer(from.numbers.get(), from.count, from.stride,
        [&](int row, int column, const Floats& values) {
          float* at = x[row] + column;
          store(at, load(at) + values * scale);
        });
}

}  // namespace earshot::EARSHOT_PROCESSOR
