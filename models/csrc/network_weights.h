// What a conformer is made of, as it was trained: models/u2/conformer_step.py fills it in.
#pragma once

#include <optional>
#include <vector>

#include "dense/layer_weights.h"

namespace earshot {

enum class Activation { SWISH, RELU, GELU };

struct FeedForwardWeights {
  NormWeights norm;
  LinearWeights up;
  LinearWeights down;
};

// Positional keys (models/layers/attention.py): `places` of a sinusoid, u and v (h, d_k).
struct PlaceWeights {
  LinearWeights places;
  std::vector<float> key_bias;
  std::vector<float> place_bias;
};

struct AttentionWeights {
  NormWeights norm;
  LinearWeights query;
  LinearWeights key;
  LinearWeights value;
  LinearWeights out;
  std::optional<PlaceWeights> places;
};

// kernel (k, D): of the depthwise convolution, oldest column first.
struct ConvolutionWeights {
  NormWeights input_norm;
  LinearWeights content;
  LinearWeights gate;
  std::vector<float> kernel;
  std::vector<float> bias;
  NormWeights norm;
  LinearWeights out;
};

struct LayerWeights {
  std::optional<FeedForwardWeights> macaron;
  AttentionWeights attention;
  std::optional<ConvolutionWeights> convolution;
  FeedForwardWeights feed_forward;
  std::optional<NormWeights> closing_norm;
};

// feed_forward_scale: a macaron's halves count half.
struct ConformerWeights {
  int size;
  int heads;
  Activation activation;
  float feed_forward_scale;
  std::vector<LayerWeights> layers;
  NormWeights after_norm;
};

// A block of a transformer that looks at what came before, and where it has `source` at a memory.
struct TreeLayerWeights {
  AttentionWeights past;
  std::optional<AttentionWeights> source;
  FeedForwardWeights feed_forward;
};

struct TreeWeights {
  int size;
  int heads;
  Activation activation;
  std::vector<TreeLayerWeights> layers;
  NormWeights after_norm;
  LinearWeights output;
};

}  // namespace earshot
