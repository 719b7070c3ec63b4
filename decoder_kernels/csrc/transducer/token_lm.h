// A back-off n-gram over a transducer's labels: decoder_kernels/transducer/token_lm.py fills it in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace earshot {

// A state is a context of labels; state 0 is the empty one, whose arcs are all V labels in order.
// Each state's arcs lie side by side by their labels, from first_arc[state] to first_arc[state +
// 1], and only of what its context is known with; all else has what the state `shorter` says, at
// the price of `back_off`. Natural logarithms.
struct TokenLm {
  std::vector<std::int64_t> first_arc;
  std::vector<std::int32_t> token;
  std::vector<std::int32_t> target;
  std::vector<float> log_prob;
  std::vector<std::int32_t> shorter;
  std::vector<float> back_off;

  static constexpr int EMPTY = 0;

  int vocab_size() const { return static_cast<int>(first_arc[1]); }

  // Of each label after the state, into `scores`, times `weight`.
  void score(int state, float weight, float* scores) const {
    if (state == EMPTY) {
      for (int i = 0; i < vocab_size(); ++i) scores[i] = weight * log_prob[i];
      return;
    }
    score(shorter[state], weight, scores);
    const float lost = weight * back_off[state];
    for (int i = 0; i < vocab_size(); ++i) scores[i] += lost;
    for (auto arc = first_arc[state]; arc < first_arc[state + 1]; ++arc) {
      scores[token[arc]] = weight * log_prob[arc];
    }
  }

  // The longest known context after a label.
  int next(int state, int label) const {
    for (;; state = shorter[state]) {
      if (state == EMPTY) return target[label];
      const auto first = token.begin() + first_arc[state],
                 last = token.begin() + first_arc[state + 1];
      const auto found = std::lower_bound(first, last, label);
      if (found != last && *found == label) return target[found - token.begin()];
    }
  }
};

}  // namespace earshot
