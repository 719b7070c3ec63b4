// The joint network over packed rows of a frame and of what was said before it.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "dense/packed_linear.h"
#include "dense/rows.h"
#include "transducer/loop_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

// Both projected to J already, each once (Bataev 2024, section 3.4).
struct Asked {
  const float* frame;
  const float* said;
};

// Logits: of labels and the blank, behind them minus infinity; of durations, likewise.
struct Answers {
  Rows labels;
  Rows durations;

  Answers(int rows, int labels_and_blank, int durations_)
      : labels(rows, labels_and_blank), durations(rows, durations_) {}
};

class Joint {
 public:
  explicit Joint(const LoopWeights& weights)
      : activation_(weights.activation),
        labels_(weights.labels, BEYOND),
        encoder_(weights.encoder) {
    if (weights.durations.outputs > 0) durations_.emplace(weights.durations, BEYOND);
  }

  // Encoder frames (count, D) to rows of padded(J) columns.
  void hear(const float* encoded, int count, int inputs, Rows& heard) const {
    encoder_(encoded, count, inputs,
             [&](int row, int column, const Floats& sums) { store(heard[row] + column, sums); });
  }

  void operator()(std::span<const Asked> asked, Rows& joined, Answers& answers) const {
    const int count = static_cast<int>(asked.size());
    for (int row = 0; row < count; ++row) {
      for (int i = 0; i < joined.stride; i += WIDTH) {
        store(joined[row] + i, activated(load(asked[row].frame + i) + load(asked[row].said + i)));
      }
    }
    answer(labels_, joined, count, answers.labels);
    if (durations_) answer(*durations_, joined, count, answers.durations);
  }

 private:
  static constexpr float BEYOND = -std::numeric_limits<float>::infinity();

  static void answer(const PackedLinear& layer, const Rows& joined, int count, Rows& to) {
    layer(joined.numbers.get(), count, joined.stride,
          [&](int row, int column, const Floats& sums) { store(to[row] + column, sums); });
  }

  Floats activated(const Floats& x) const {
    switch (activation_) {
      case JointActivation::RELU:
        return larger(Floats{}, x);  // NaN stays NaN
      case JointActivation::SIGMOID:
        return sigmoid(x);
      case JointActivation::TANH:
        return tanh(x);
    }
    return x;
  }

  JointActivation activation_;
  PackedLinear labels_;
  PackedLinear encoder_;
  std::optional<PackedLinear> durations_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
