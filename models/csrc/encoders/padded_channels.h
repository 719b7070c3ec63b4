// Layers over the channels of several places, side by side.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dense/floats.h"
#include "dense/layer_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

// The same layer over places whose channels have padding behind them, which weighs nothing.
inline LinearWeights over_padded(const LinearWeights& layer, int channels) {
  const int places = layer.inputs / channels, width = padded(channels);
  LinearWeights wide{layer.outputs, places * width, {}, layer.bias, layer.precision};
  wide.weight.resize(static_cast<std::size_t>(wide.outputs) * wide.inputs);
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(layer.outputs) * places; ++i) {
    std::copy_n(&layer.weight[i * channels], channels, &wide.weight[i * width]);
  }
  return wide;
}

}  // namespace earshot::EARSHOT_PROCESSOR
