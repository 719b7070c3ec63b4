// A transducer's head as it was trained: decoder_kernels/transducer/loop_weights.py fills it in.
#pragma once

#include <vector>

#include "dense/layer_weights.h"
#include "head/joint_activation.h"

namespace earshot {

// An LSTM's layer (Graves 2012, section 2.2): gates from its input and from what it said last, in
// the order input, forget, cell, output, of H rows each. The biases of both have to be added.
struct LstmWeights {
  LinearWeights from_input;
  LinearWeights from_hidden;
};

// V labels, of which number V is the blank. embedding (V + 1, H). labels: V + 1 outputs of the
// joint, durations: those of a TDT, in the order of `duration_frames`; none for an RNN-T.
struct LoopWeights {
  LinearWeights encoder;
  LinearWeights predictor;
  LinearWeights labels;
  LinearWeights durations;
  std::vector<float> embedding;
  std::vector<LstmWeights> lstm;
  JointActivation activation;
  std::vector<int> duration_frames;
  int max_symbols;

  int blank() const { return labels.outputs - 1; }
  int hidden() const { return lstm.front().from_hidden.inputs; }
};

}  // namespace earshot
