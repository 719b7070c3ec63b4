// Layer norm of rows, or a batch norm's frozen statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dense/floats.h"
#include "dense/layer_weights.h"
#include "dense/rows.h"
#include "threads/team.h"

namespace earshot::EARSHOT_PROCESSOR {

class RowNorm {
 public:
  explicit RowNorm(const NormWeights& weights)
      : size_(static_cast<int>(weights.scale.size())),
        eps_(weights.eps),
        frozen_stats_(weights.frozen_stats),
        scale_(padded(size_)),
        shift_(padded(size_)),
        real_(padded(size_)) {
    std::ranges::copy(weights.scale, scale_.begin());
    std::ranges::copy(weights.shift, shift_.begin());
    std::fill_n(real_.begin(), size_, 1.0F);
  }

  // A row of padded(size) numbers, zeros at the end; `to` may be `from`.
  void operator()(const float* from, float* to) const {
    float mean = 0.0F, factor = 1.0F;
    if (!frozen_stats_) {
      mean = mean_of(from);
      factor = 1.0F / std::sqrt(variance_of(from, mean) + eps_);
    }
    for (int i = 0; i < padded(size_); i += WIDTH) {
      const Floats normal = (load(from + i) + -mean) * factor;
      store(to + i, normal * load(&scale_[i]) + load(&shift_[i]));
    }
  }

 private:
  float mean_of(const float* row) const {
    Floats total{};
    for (int i = 0; i < padded(size_); i += WIDTH) total = total + load(row + i);
    return sum(total) / static_cast<float>(size_);
  }

  float variance_of(const float* row, float mean) const {
    Floats total{};
    for (int i = 0; i < padded(size_); i += WIDTH) {
      const Floats away = (load(row + i) + -mean) * load(&real_[i]);
      total = total + away * away;
    }
    return sum(total) / static_cast<float>(size_);
  }

  int size_;
  float eps_;
  bool frozen_stats_;
  std::vector<float> scale_;
  std::vector<float> shift_;
  std::vector<float> real_;  // 1 where a row has a number, 0 in its padding
};

inline void norm_rows(const RowNorm& norm, const Rows& from, Rows& to, Team& team = Team::alone()) {
  team.share(from.count, [&](int first, int count) {
    for (int row = first; row < first + count; ++row) norm(from[row], to[row]);
  });
}

}  // namespace earshot::EARSHOT_PROCESSOR
