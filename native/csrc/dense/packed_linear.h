// A linear layer over many rows, its weights in panels that the innermost loop reads in order.
#pragma once

#include <algorithm>
#include <variant>

#include "dense/bfloat16.h"
#include "dense/int8_products.h"
#include "dense/int8_rows.h"
#include "dense/packed_layer.h"

namespace earshot::EARSHOT_PROCESSOR {

// Compiled once, in packed_linear.cpp: they take most of a compiler's time.
extern template SumTile<float> sum_tile_of<float>(int, int);
extern template SumTile<Bfloat16> sum_tile_of<Bfloat16>(int, int);
extern template SumTile<Int8> sum_tile_of<Int8>(int, int);
extern template SumTile<Int8Product<16>> sum_tile_of<Int8Product<16>>(int, int);
extern template SumTile<Int8Product<8>> sum_tile_of<Int8Product<8>>(int, int);

// In the precision that the weights ask for; in bfloat16 those that are int8 a row stay that.
class PackedLinear {
 public:
  // beyond: what the outputs of padding are.
  explicit PackedLinear(const LinearWeights& weights, float beyond = 0.0F)
      : layer_(packed(weights, beyond)) {}

  // Outputs, with padding.
  int columns() const {
    return std::visit([](const auto& layer) { return layer.columns(); }, layer_);
  }

  // See `PackedLayer`.
  template <class Then>
  void operator()(const float* rows, int count, int stride, Then then,
                  Team& team = Team::alone()) const {
    std::visit([&](const auto& layer) { layer(rows, count, stride, then, team); }, layer_);
  }

 private:
  using Layer = std::variant<PackedLayer<float>, PackedLayer<Bfloat16>, PackedLayer<Int8>,
                             PackedLayer<Int8Product<16>>, PackedLayer<Int8Product<8>>>;

  static Layer packed(const LinearWeights& weights, float beyond);

  Layer layer_;
};

// to = layer(from).
template <class Linear>
void project(const Linear& layer, const Rows& from, Rows& to, Team& team = Team::alone()) {
  const auto keep = [&](int row, int column, const Floats& values) {
    store(to[row] + column, values);
  };
  layer(from.numbers.get(), from.count, from.stride, keep, team);
}

// x += scale * layer(from).
template <class Linear>
void add_projected(const Linear& layer, const Rows& from, float scale, Rows& x,
                   Team& team = Team::alone()) {
  const auto add = [&](int row, int column, const Floats& values) {
    float* at = x[row] + column;
    store(at, load(at) + values * scale);
  };
  layer(from.numbers.get(), from.count, from.stride, add, team);
}

}  // namespace earshot::EARSHOT_PROCESSOR
