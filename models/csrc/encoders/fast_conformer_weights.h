// What a FastConformer is made of, as it was trained: models/fastconformer/steps/native_layers.py
// fills it in.
#pragma once

#include <vector>

#include "../network_weights.h"

namespace earshot {

// Attention with Transformer-XL's positions. bias_u, bias_v (h, d_k). places (P, D): projections of
// the distances between a query and a key, the greatest first, down by one.
struct RelativeAttentionWeights {
  AttentionWeights layers;
  std::vector<float> bias_u;
  std::vector<float> bias_v;
  std::vector<float> places;
};

struct FastConformerLayerWeights {
  FeedForwardWeights first;
  RelativeAttentionWeights attention;
  ConvolutionWeights convolution;
  FeedForwardWeights second;
  NormWeights norm_out;
};

// reach: the greatest distance among places. causal: whether convolutions hear nothing from the
// right; otherwise they hear as much from there as from the left.
struct FastConformerShape {
  int size;
  int heads;
  int reach;
  bool causal;
};

}  // namespace earshot
