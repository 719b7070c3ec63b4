// A conformer's branches over rows: each adds to what passes by (Gulati 2020, eq. 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "activated.h"
#include "dense/floats.h"
#include "dense/packed_linear.h"
#include "dense/row_norm.h"
#include "dense/rows.h"
#include "network_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

class FeedForward {
 public:
  FeedForward(const FeedForwardWeights& weights, Activation activation, float scale)
      : norm_(weights.norm),
        up_(weights.up),
        down_(weights.down),
        activation_(activation),
        scale_(scale) {}

  void add_to(Rows& x, Rows& normed, Team& team = Team::alone()) const {
    norm_rows(norm_, x, normed, team);
    Rows hidden(x.count, up_.columns());
    const auto activate = [&](int row, int column, const Floats& values) {
      store(hidden[row] + column, activated(activation_, values));
    };
    up_(normed.numbers.get(), x.count, normed.stride, activate, team);
    add_projected(down_, hidden, scale_, x, team);
  }

 private:
  RowNorm norm_;
  PackedLinear up_;
  PackedLinear down_;
  Activation activation_;
  float scale_;
};

// Over a lane's rows and k - 1 columns beside them: those before, which the lane remembers less
// what the gate makes of silence, or zeros.
class Convolution {
 public:
  Convolution(const ConvolutionWeights& weights, int size, Activation activation)
      : size_(size),
        taps_(static_cast<int>(weights.kernel.size()) / size),
        input_norm_(weights.input_norm),
        content_(weights.content),
        gate_(weights.gate),
        norm_(weights.norm),
        out_(weights.out),
        activation_(activation),
        kernel_(static_cast<std::size_t>(taps_) * padded(size)),
        bias_(padded(size)),
        silence_(padded(size)) {
    for (int tap = 0; tap < taps_; ++tap) {
      std::copy_n(&weights.kernel[tap * size], size, &kernel_[tap * padded(size)]);
    }
    std::ranges::copy(weights.bias, bias_.begin());
    if (weights.zeros_beside) return;
    for (int i = 0; i < size; ++i) {
      silence_[i] = weights.content.bias[i] * sigmoid(all(weights.gate.bias[i])).parts[0][0];
    }
  }

  int remembered() const { return taps_ - 1; }

  // What the depthwise kernel sees of each row.
  void gate_rows(const Rows& x, Rows& normed, Rows& gated, Team& team = Team::alone()) const {
    norm_rows(input_norm_, x, normed, team);
    project(content_, normed, gated, team);
    const auto close = [&](int row, int column, const Floats& values) {
      float* at = gated[row] + column;
      store(at, load(at) * sigmoid(values));
    };
    gate_(normed.numbers.get(), x.count, normed.stride, close, team);
  }

  // Rows [first, first + frames) are a lane's; cache and next (k - 1, D) are what it remembers.
  void convolve(const Rows& gated, int first, int frames, const float* cache, float* next,
                Rows& mixed) const {
    Rows columns(remembered() + frames, size_);
    for (int i = 0; i < remembered(); ++i) {
      columns.copy(i, cache + i * size_, size_);
      add(silence_.data(), columns[i]);
    }
    mix_columns(columns, remembered(), gated, first, frames, mixed);
    // What stays is copied: a lane that stands still keeps its bits.
    const int staying = std::max(remembered() - frames, 0);
    std::copy_n(cache + (remembered() - staying) * size_, staying * size_, next);
    for (int i = staying; i < remembered(); ++i) {
      const float* column = columns[frames + i];
      for (int d = 0; d < size_; ++d) next[i * size_ + d] = column[d] - silence_[d];
    }
  }

  // The same of a lane without memory: zeros beside its rows, `before` of them on the left.
  void convolve_alone(const Rows& gated, int first, int frames, int before, Rows& mixed) const {
    Rows columns(remembered() + frames, size_);
    const int after = before + frames;
    std::fill_n(columns.numbers.get(), before * columns.stride, 0.0F);
    std::fill_n(columns.numbers.get() + after * columns.stride,
                (columns.count - after) * columns.stride, 0.0F);
    mix_columns(columns, before, gated, first, frames, mixed);
  }

  void add_to(Rows& x, Rows& mixed, Team& team = Team::alone()) const {
    team.share(x.count, [&](int first, int count) {
      for (int row = first; row < first + count; ++row) activate(mixed[row], mixed.stride);
    });
    add_projected(out_, mixed, 1.0F, x, team);
  }

 private:
  void activate(float* row, int stride) const {
    norm_(row, row);
    for (int i = 0; i < stride; i += WIDTH) store(row + i, activated(activation_, load(row + i)));
  }

  void add(const float* what, float* row) const {
    for (int i = 0; i < padded(size_); i += WIDTH) store(row + i, load(row + i) + load(what + i));
  }

  // Of a lane whose rows belong behind the first `before` columns.
  void mix_columns(Rows& columns, int before, const Rows& gated, int first, int frames,
                   Rows& mixed) const {
    for (int i = 0; i < frames; ++i) {
      std::copy_n(gated[first + i], gated.stride, columns[before + i]);
    }
    for (int i = 0; i < frames; ++i) mix_taps(columns, i, mixed[first + i]);
  }

  void mix_taps(const Rows& columns, int first, float* to) const {
    for (int i = 0; i < padded(size_); i += WIDTH) {
      Floats mixed = load(&bias_[i]);
      for (int tap = 0; tap < taps_; ++tap) {
        mixed = mixed + load(columns[first + tap] + i) * load(&kernel_[tap * padded(size_) + i]);
      }
      store(to + i, mixed);
    }
  }

  int size_;
  int taps_;
  RowNorm input_norm_;
  PackedLinear content_;
  PackedLinear gate_;
  RowNorm norm_;
  PackedLinear out_;
  Activation activation_;
  std::vector<float> kernel_;
  std::vector<float> bias_;
  std::vector<float> silence_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
