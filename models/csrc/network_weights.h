// What a conformer is made of, as it was trained: models/u2/conformer_step.py fills it in.
#pragma once

#include <optional>
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
// where it is `settled` y = x * scale + shift.
struct NormWeights {
  std::vector<float> scale;
  std::vector<float> shift;
  float eps;
  bool settled;
};

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
