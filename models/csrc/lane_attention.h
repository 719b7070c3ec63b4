// Attention of one lane's new frames to its ring of old ones and to themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "floats.h"
#include "sum_tile.h"

namespace earshot::EARSHOT_PROCESSOR {

// Columns (n, 2 d_k + 1) of one head as `EncoderState` has them: placed key, value, key bias.
struct Columns {
  const float* first;
  int count;
};

class LaneAttention {
 public:
  explicit LaneAttention(int head_size) : head_size_(head_size), stride_(2 * head_size + 1) {}

  // One head: queries (frames, d_k), `stride` apart; what is seen is written over them.
  void operator()(float* queries, int frames, int stride, Columns old, Columns own) {
    columns_ = old.count + own.count;
    width_ = padded(columns_);
    keys_.assign(static_cast<std::size_t>(head_size_) * width_, 0.0F);
    values_.assign(static_cast<std::size_t>(padded(head_size_)) * columns_, 0.0F);
    biases_.assign(width_, -std::numeric_limits<float>::infinity());
    turn(old, 0);
    turn(own, old.count);
    scores_.resize(static_cast<std::size_t>(frames) * width_);
    score(queries, frames, stride);
    for (int frame = 0; frame < frames; ++frame) soften(&scores_[frame * width_]);
    mix(queries, frames, stride);
  }

 private:
  // Panels for sums: keys (C / 16, d_k, 16), values (d_k / 16, C, 16).
  void turn(Columns columns, int place) {
    const float* column = columns.first;
    for (int i = 0; i < columns.count; ++i, ++place, column += stride_) {
      float* key = &keys_[place / WIDTH * WIDTH * head_size_ + place % WIDTH];
      for (int d = 0; d < head_size_; ++d) key[d * WIDTH] = column[d];
      for (int d = 0; d < head_size_; d += WIDTH) {
        float* value = &values_[(static_cast<std::size_t>(d) / WIDTH * columns_ + place) * WIDTH];
        std::copy_n(column + head_size_ + d, std::min(WIDTH, head_size_ - d), value);
      }
      biases_[place] = column[2 * head_size_];
    }
  }

  void score(const float* queries, int frames, int stride) {
    for (int first = 0; first < width_; first += WIDTH) {
      sum_column(queries, frames, stride, &keys_[first * head_size_], head_size_, &biases_[first],
                 &scores_[first], width_);
    }
  }

  void soften(float* scores) const {
    const float scale = 1.0F / std::sqrt(static_cast<float>(head_size_));
    Floats most = load(scores);
    for (int i = WIDTH; i < width_; i += WIDTH) most = larger(load(scores + i), most);
    const float most_of_all = largest(most);
    Floats total{};
    for (int i = 0; i < width_; i += WIDTH) {
      const Floats power = exponential((load(scores + i) + -most_of_all) * scale);
      store(scores + i, power);
      total = total + power;
    }
    const float factor = 1.0F / sum(total);
    for (int i = 0; i < width_; i += WIDTH) store(scores + i, load(scores + i) * factor);
  }

  void mix(float* mixes, int frames, int stride) {
    static constexpr float NOTHING[WIDTH] = {};
    mixed_.resize(static_cast<std::size_t>(frames) * WIDTH);
    for (int d = 0; d < head_size_; d += WIDTH) {
      const float* panel = &values_[static_cast<std::size_t>(d) * columns_];
      sum_column(scores_.data(), frames, width_, panel, columns_, NOTHING, mixed_.data(), WIDTH);
      for (int frame = 0; frame < frames; ++frame) {
        std::copy_n(&mixed_[frame * WIDTH], std::min(WIDTH, head_size_ - d),
                    mixes + frame * stride + d);
      }
    }
  }

  int head_size_;
  int stride_;
  int columns_ = 0;
  int width_ = 0;  // columns, and padding that nobody sees
  std::vector<float> keys_;
  std::vector<float> values_;
  std::vector<float> biases_;
  std::vector<float> scores_;
  std::vector<float> mixed_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
