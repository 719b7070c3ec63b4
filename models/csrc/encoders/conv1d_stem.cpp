#include "conv1d_stem.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "../activated.h"
#include "dense/packed_linear.h"
#include "dense/rows.h"
#include "padded_channels.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// A convolution is a linear layer over windows of rows, which lie in memory as they are read.
class TimeConvolution {
 public:
  TimeConvolution(const TimeConvolutionWeights& weights, Activation activation)
      : activation_(activation),
        kernel_(weights.kernel),
        stride_(weights.stride),
        outputs_(weights.layer.outputs),
        layer_(over_padded(weights.layer, weights.layer.inputs / weights.kernel)) {}

  Rows operator()(const Rows& from, Team& team) const {
    Rows to((from.count - kernel_) / stride_ + 1, outputs_);
    const auto activate = [&](int row, int column, const Floats& values) {
      store(to[row] + column, activated(activation_, values));
    };
    layer_(from[0], to.count, stride_ * from.stride, activate, team);
    return to;
  }

 private:
  Activation activation_;
  int kernel_;
  int stride_;
  int outputs_;
  PackedLinear layer_;
};

class Stem : public Conv1dStem {
 public:
  explicit Stem(const Conv1dStemWeights& weights) {
    const TimeConvolutionWeights& first = weights.convolutions.front();
    features_ = first.layer.inputs / first.kernel;
    for (const TimeConvolutionWeights& each : weights.convolutions) {
      layers_.emplace_back(each, weights.activation);
      size_ = each.layer.outputs;
    }
    if (!weights.out) return;
    out_.emplace(*weights.out);
    size_ = weights.out->outputs;
  }

  void run(const float* features, const std::int64_t* begins, int lanes, int window,
           float* embedded, int workers) const override {
    TeamMembers::run(workers, [&](Team& team) {
      for (int lane = 0; lane < lanes; ++lane) {
        run_lane(features, lane, window, begins != nullptr && begins[lane] != 0, embedded, team);
      }
    });
  }

 private:
  void run_lane(const float* features, int lane, int window, bool begins, float* embedded,
                Team& team) const {
    Rows x(window, features_);
    for (int i = 0; i < window; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(lane) * window + i;
      x.copy(i, features + at * features_, features_);
    }
    for (const TimeConvolution& layer : layers_) {
      x = layer(x, team);
      if (begins && &layer == &layers_.front()) std::fill_n(x[0], x.stride, 0.0F);
    }
    if (out_) x = projected(x, team);
    for (int i = 0; i < x.count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(lane) * x.count + i;
      std::copy_n(x[i], size_, embedded + at * size_);
    }
  }

  Rows projected(const Rows& x, Team& team) const {
    Rows out(x.count, size_);
    project(*out_, x, out, team);
    return out;
  }

  int size_ = 0;
  int features_;
  std::vector<TimeConvolution> layers_;
  std::optional<PackedLinear> out_;
};

}  // namespace

std::unique_ptr<Conv1dStem> build(const Conv1dStemWeights& weights) {
  return std::make_unique<Stem>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
