#include "conv2d_stem.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"
#include "dense/rows.h"
#include "lane_rows.h"
#include "padded_channels.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

constexpr int KERNEL = 3, TAPS = KERNEL * KERNEL, STRIDE = 2;

// Places that a convolution puts out of so many, with those that pad them.
constexpr int convolved(int places) {
  return (places - KERNEL) / STRIDE + 1;
}

// Consecutive frames of a lane (frames, bins, stride), and where among them its sound is.
struct Plane {
  std::unique_ptr<float[]> numbers;
  int frames;
  int bins;
  int stride;           // channels, and padding
  std::int64_t first;   // frames of the sound before
  std::int64_t length;  // of the sound

  Plane(int frame_count, int bin_count, int channels, std::int64_t first_frame,
        std::int64_t sound_length)
      : numbers(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(frame_count) *
                                                        bin_count * channels)),
        frames(frame_count),
        bins(bin_count),
        stride(channels),
        first(first_frame),
        length(sound_length) {}

  float* at(int frame, int bin) const {
    return numbers.get() + (static_cast<std::ptrdiff_t>(frame) * bins + bin) * stride;
  }

  // What lies outside of the sound is no echo of padding and biases, but nothing.
  void silence_outside() {
    for (int frame = 0; frame < frames; ++frame) {
      if (first + frame >= 0 && first + frame < length) continue;
      std::fill_n(at(frame, 0), bins * stride, 0.0F);
    }
  }
};

class Depthwise {
 public:
  Depthwise(const DepthwiseWeights& weights, int channels)
      : stride_(padded(channels)), kernel_(TAPS * stride_), bias_(stride_) {
    for (int tap = 0; tap < TAPS; ++tap) {
      std::copy_n(&weights.kernel[tap * channels], channels, &kernel_[tap * stride_]);
    }
    std::ranges::copy(weights.bias, bias_.begin());
  }

  // Of nine rows, some of which may be null for zeros.
  void operator()(const float* const (&taps)[TAPS], float* to) const {
    for (int i = 0; i < stride_; i += WIDTH) {
      Floats sum = load(&bias_[i]);
      for (int tap = 0; tap < TAPS; ++tap) {
        if (taps[tap] != nullptr)
          sum = sum + load(taps[tap] + i) * load(&kernel_[tap * stride_ + i]);
      }
      store(to + i, sum);
    }
  }

 private:
  int stride_;
  std::vector<float> kernel_;
  std::vector<float> bias_;
};

class Stage {
 public:
  // channels: of what it is given.
  Stage(const PlaneStageWeights& weights, int channels, int before, int after)
      : channels_(channels),
        outputs_(weights.layer.outputs),
        before_(before),
        after_(after),
        layer_(weights.layer) {
    if (weights.depthwise) depthwise_.emplace(*weights.depthwise, channels);
  }

  int outputs() const { return outputs_; }
  int before() const { return before_; }
  int bins(int bins) const { return convolved(before_ + bins + after_); }

  Plane operator()(const Plane& from, Team& team) const {
    Plane to(convolved(from.frames), bins(from.bins), layer_.columns(),
             (from.first + before_) / STRIDE, length_of(from.length));
    Rows seen(to.frames * to.bins, depthwise_ ? channels_ : TAPS * channels_);
    team.share(seen.count, [&](int first, int count) {
      for (int row = first; row < first + count; ++row) {
        look(from, row / to.bins, row % to.bins, seen[row]);
      }
    });
    const auto rectify = [&](int row, int column, const Floats& values) {
      store(to.at(0, row) + column, larger(Floats{}, values));  // NaN stays NaN
    };
    layer_(seen[0], seen.count, seen.stride, rectify, team);
    return to;
  }

 private:
  std::int64_t length_of(std::int64_t length) const {
    return length == 0 ? 0 : (before_ + length + after_ - KERNEL) / STRIDE + 1;
  }

  // What one place of the layer's input hears.
  void look(const Plane& from, int frame, int bin, float* to) const {
    const float* taps[TAPS];
    for (int tap = 0; tap < TAPS; ++tap) {
      const int seen = STRIDE * bin - before_ + tap % KERNEL;
      const bool inside = seen >= 0 && seen < from.bins;
      taps[tap] = inside ? from.at(STRIDE * frame + tap / KERNEL, seen) : nullptr;
    }
    if (depthwise_) {
      (*depthwise_)(taps, to);
      return;
    }
    for (const float* tap : taps) {
      to = tap == nullptr ? std::fill_n(to, channels_, 0.0F) : std::copy_n(tap, channels_, to);
    }
  }

  int channels_;
  int outputs_;
  int before_;
  int after_;
  std::optional<Depthwise> depthwise_;
  PackedLinear layer_;
};

class Stem : public Conv2dStem {
 public:
  explicit Stem(const Conv2dStemWeights& weights)
      : features_(weights.bins),
        size_(weights.out.outputs),
        out_(over_padded(weights.out, weights.stages.back().layer.outputs)) {
    int channels = 1;
    for (const PlaneStageWeights& each : weights.stages) {
      stages_.emplace_back(each, channels, weights.before, weights.after);
      channels = stages_.back().outputs();
    }
  }

  void run(const StemWindows& windows, float* embedded, int workers) const override {
    TeamMembers::run(workers, [&](Team& team) {
      const LaneRows lanes(windows.wanted, windows.lanes);
      int bins = features_;
      for (const Stage& stage : stages_) bins = stage.bins(bins);
      Rows frames(lanes.count(), bins * padded(stages_.back().outputs()));
      for (int i = 0; i < lanes.lanes; ++i) {
        if (lanes.frames(i) > 0) run_lane(windows, lanes, i, frames, team);
      }
      Rows out(frames.count, size_);
      project(out_, frames, out, team);
      lanes.write(out, windows.frames, size_, embedded);
    });
  }

 private:
  void run_lane(const StemWindows& windows, const LaneRows& lanes, int i, Rows& frames,
                Team& team) const {
    Plane plane = read(windows, i, window_of(lanes.frames(i)));
    for (const Stage& stage : stages_) {
      plane.silence_outside();
      plane = stage(plane, team);
    }
    plane.silence_outside();
    for (int frame = 0; frame < lanes.frames(i); ++frame) {
      std::copy_n(plane.at(frame, 0), frames.stride, frames[lanes.first_rows[i] + frame]);
    }
  }

  // Feature frames that so many frames hear.
  int window_of(int frames) const {
    for (std::size_t i = 0; i < stages_.size(); ++i) frames = STRIDE * (frames - 1) + KERNEL;
    return frames;
  }

  // As many of a window's frames as those wanted hear.
  Plane read(const StemWindows& windows, int lane, int frames) const {
    const int rate = 1 << stages_.size();
    const auto first = windows.firsts[lane] * rate - stages_.front().before() * (rate - 1);
    Plane plane(frames, features_, 1, first, windows.lengths[lane]);
    const auto start = static_cast<std::ptrdiff_t>(lane) * windows.window * features_;
    std::copy_n(windows.features + start, frames * features_, plane.at(0, 0));
    return plane;
  }

  int features_;
  int size_;
  std::vector<Stage> stages_;
  PackedLinear out_;
};

}  // namespace

std::unique_ptr<Conv2dStem> build(const Conv2dStemWeights& weights) {
  return std::make_unique<Stem>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
