// A wide output layer, block by block: what it sums up to, and its largest numbers, of each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dense/floats.h"
#include "dense/packed_linear.h"
#include "dense/rows.h"
#include "growing_trees.h"

namespace earshot::EARSHOT_PROCESSOR {

// One row's largest outputs so far, and the logarithm of all of them summed up.
class Likeliest {
 public:
  explicit Likeliest(int count) : scores_(count, LEAST), outputs_(count, 0) {}

  // columns: a multiple of sixteen. first: the number of the first.
  void take(const float* logits, int columns, int first) {
    Floats most = load(logits);
    for (int i = WIDTH; i < columns; i += WIDTH) most = larger(load(logits + i), most);
    const float block_most = largest(most);
    if (block_most > most_) {
      sum_ *= std::exp(most_ - block_most);
      most_ = block_most;
    }
    Floats powers{};
    for (int i = 0; i < columns; i += WIDTH) {
      powers = powers + exponential(load(logits + i) + -most_);
    }
    sum_ += sum(powers);
    if (scores_.empty() || block_most <= scores_.back()) return;
    for (int i = 0; i < columns; ++i) {
      if (logits[i] > scores_.back()) insert(logits[i], first + i);
    }
  }

  float total() const { return most_ + std::log(sum_); }

  void write(std::int64_t* outputs, float* scores) const {
    std::ranges::copy(outputs_, outputs);
    const float all = total();
    for (const float score : scores_) *scores++ = score - all;
  }

 private:
  static constexpr float LEAST = -std::numeric_limits<float>::infinity();

  void insert(float score, int output) {
    std::size_t at = scores_.size() - 1;
    for (; at > 0 && scores_[at - 1] < score; --at) {
      scores_[at] = scores_[at - 1];
      outputs_[at] = outputs_[at - 1];
    }
    scores_[at] = score;
    outputs_[at] = output;
  }

  float most_ = LEAST;
  float sum_ = 0.0F;
  std::vector<float> scores_;
  std::vector<int> outputs_;
};

class OutputBlocks {
 public:
  static constexpr int WIDE = GrowingTrees::OUTPUTS_IN_BLOCK;

  void add(const LinearWeights& block) {
    blocks_.emplace_back(block, -std::numeric_limits<float>::infinity());
  }

  // Of each row; the weights are read once for all rows.
  std::vector<Likeliest> likeliest(const Rows& rows, int count) const {
    std::vector<Likeliest> found(rows.count, Likeliest(count));
    std::vector<float> logits(static_cast<std::size_t>(rows.count) * WIDE);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      run(block, rows[0], rows.count, rows.stride, logits.data());
      for (int row = 0; row < rows.count; ++row) {
        found[row].take(&logits[static_cast<std::size_t>(row) * WIDE], blocks_[block].columns(),
                        static_cast<int>(block) * WIDE);
      }
    }
    return found;
  }

  // One row's output, to the bit what `likeliest` has summed.
  float one(const float* row, int output) const {
    float logits[WIDE];
    run(output / WIDE, row, 1, 0, logits);
    return logits[output % WIDE];
  }

 private:
  void run(std::size_t block, const float* rows, int count, int stride, float* logits) const {
    blocks_[block](rows, count, stride, [&](int row, int column, const Floats& values) {
      store(logits + static_cast<std::ptrdiff_t>(row) * WIDE + column, values);
    });
  }

  std::vector<PackedLinear> blocks_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
