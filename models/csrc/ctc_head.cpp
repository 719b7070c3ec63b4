#include "ctc_head.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/log_sum.h"
#include "dense/packed_linear.h"
#include "dense/rows.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// One of the R frames that a frame of the encoder becomes, each with its own rows of the weights.
PackedLinear frame_layer(const LinearWeights& whole, int rate, int frame) {
  const int symbols = whole.outputs / rate;
  const auto first = static_cast<std::ptrdiff_t>(frame) * symbols;
  const auto weight = whole.weight.begin() + first * whole.inputs;
  const auto bias = whole.bias.begin() + first;
  return PackedLinear({symbols,
                       whole.inputs,
                       {weight, weight + static_cast<std::ptrdiff_t>(symbols) * whole.inputs},
                       {bias, bias + symbols},
                       whole.precision},
                      -std::numeric_limits<float>::infinity());
}

class LogSoftmaxHead : public CtcHead {
 public:
  explicit LogSoftmaxHead(const CtcHeadWeights& weights)
      : inputs_(weights.layer.inputs), symbols_(weights.layer.outputs / weights.rate) {
    for (int frame = 0; frame < weights.rate; ++frame) {
      layers_.push_back(frame_layer(weights.layer, weights.rate, frame));
    }
  }

  void run(const float* encoded, int frames, float* log_probs, int workers) const override {
    share_out(frames, workers, [&](int first, int count) {
      for (int taken = 0; taken < count; taken += FRAMES_AT_ONCE) {
        run_some(encoded, first + taken, std::min(FRAMES_AT_ONCE, count - taken), log_probs);
      }
    });
  }

 private:
  static constexpr int FRAMES_AT_ONCE = 96;  // their logits stay near while they are read

  void run_some(const float* encoded, int first, int frames, float* log_probs) const {
    Rows logits(frames, symbols_);
    const auto rate = static_cast<std::ptrdiff_t>(layers_.size());
    for (std::ptrdiff_t part = 0; part < rate; ++part) {
      layers_[part](
          encoded + static_cast<std::ptrdiff_t>(first) * inputs_, frames, inputs_,
          [&](int row, int column, const Floats& values) { store(logits[row] + column, values); });
      for (int row = 0; row < frames; ++row) {
        normalise(logits[row], logits.stride, log_probs + ((first + row) * rate + part) * symbols_);
      }
    }
  }

  void normalise(const float* logits, int columns, float* log_probs) const {
    const float total = log_sum(logits, columns);
    for (int i = 0; i < symbols_; ++i) log_probs[i] = logits[i] - total;
  }

  int inputs_;
  int symbols_;
  std::vector<PackedLinear> layers_;
};

}  // namespace

std::unique_ptr<CtcHead> build(const CtcHeadWeights& weights) {
  return std::make_unique<LogSoftmaxHead>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
