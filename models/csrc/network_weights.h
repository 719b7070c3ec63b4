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

// Attention with positional keys (models/layers/attention.py): a projection of the positional
// encoding, biases u and v (h, d_k).
struct PosWeights {
  LinearWeights linear_pos;
  std::vector<float> bias_u;
  std::vector<float> bias_v;
};

struct AttentionWeights {
  NormWeights norm;
  LinearWeights query;
  LinearWeights key;
  LinearWeights value;
  LinearWeights out;
  std::optional<PosWeights> pos;
};

// kernel (k, D): of the depthwise convolution, oldest column first. zeros_beside: before a lane's
// first column lie zeros, where else it is what the gate makes of silence.
struct ConvolutionWeights {
  NormWeights input_norm;
  LinearWeights content;
  LinearWeights gate;
  std::vector<float> kernel;
  std::vector<float> bias;
  NormWeights norm;
  LinearWeights out;
  bool zeros_beside = false;
};

struct LayerWeights {
  std::optional<FeedForwardWeights> macaron;
  AttentionWeights attention;
  std::optional<ConvolutionWeights> convolution;
  FeedForwardWeights feed_forward;
  std::optional<NormWeights> norm_final;
};

// feed_forward_scale: a macaron's halves count half.
struct BlockShape {
  int size;
  int heads;
  Activation activation;
  float feed_forward_scale;
};

// But for its blocks. pool_after_block: after so many two frames become one. narrow: after the
// closing norm.
struct ConformerWeights {
  BlockShape blocks;
  NormWeights after_norm;
  std::optional<int> pool_after_block;
  std::optional<LinearWeights> narrow;
};

// A block of a decoder: attention to what came before, and where it has that to a memory.
struct TreeLayerWeights {
  AttentionWeights self_attention;
  std::optional<AttentionWeights> cross_attention;
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
