#include "fast_conformer_step.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "../conformer_branches.h"
#include "lane_rows.h"
#include "relative_attention.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

class Layer {
 public:
  Layer(const FastConformerLayerWeights& weights, const FastConformerShape& shape)
      : size_(shape.size),
        causal_(shape.causal),
        first_(weights.first, Activation::SWISH, HALF),
        attention_(weights.attention, shape),
        convolution_(weights.convolution, shape.size, Activation::SWISH),
        second_(weights.second, Activation::SWISH, HALF),
        norm_out_(weights.norm_out) {}

  void run(Rows& x, Rows& normed, const LaneRows& lanes, const LayerMemory& memory,
           Team& team) const {
    first_.add_to(x, normed, team);
    attention_.add_to(x, normed, lanes, memory, team);
    convolve(x, normed, lanes, memory, team);
    second_.add_to(x, normed, team);
    norm_rows(norm_out_, x, x, team);
  }

 private:
  static constexpr float HALF = 0.5F;

  void convolve(Rows& x, Rows& normed, const LaneRows& lanes, const LayerMemory& memory,
                Team& team) const {
    Rows gated(x.count, size_), mixed(x.count, size_);
    convolution_.gate_rows(x, normed, gated, team);
    team.share(lanes.lanes, [&](int first, int count) {
      for (int i = first; i < first + count; ++i) convolve_lane(gated, lanes, i, memory, mixed);
    });
    convolution_.add_to(x, mixed, team);
  }

  void convolve_lane(const Rows& gated, const LaneRows& lanes, int i, const LayerMemory& memory,
                     Rows& mixed) const {
    const int first = lanes.first_rows[i], frames = lanes.frames(i);
    const int remembered = convolution_.remembered();
    if (memory.streams == nullptr) {
      const int before = causal_ ? remembered : remembered / 2;
      convolution_.convolve_alone(gated, first, frames, before, mixed);
      return;
    }
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(remembered) * size_;
    const float* cache = memory.streams->cnn_cache + memory.row_of_slot(i) * size;
    float* next = memory.streams->next_cnn_cache + memory.row_of_lane(i) * size;
    convolution_.convolve(gated, first, frames, cache, next, mixed);
  }

  int size_;
  bool causal_;
  FeedForward first_;
  RelativeAttention attention_;
  Convolution convolution_;
  FeedForward second_;
  RowNorm norm_out_;
};

class FastConformer : public FastConformerStep {
 public:
  explicit FastConformer(const FastConformerShape& shape) : shape_(shape) {}

  void add(const FastConformerLayerWeights& layer) override { layers_.emplace_back(layer, shape_); }

  void run(const FastConformerChunk& chunk, const StreamMemory& memory,
           int workers) const override {
    run_lanes(chunk, &memory, {-1, -1, false}, workers);
  }

  void run_alone(const FastConformerChunk& chunk, const FrameContext& context,
                 int workers) const override {
    run_lanes(chunk, nullptr, context, workers);
  }

 private:
  void run_lanes(const FastConformerChunk& chunk, const StreamMemory* memory,
                 const FrameContext& context, int workers) const {
    TeamMembers::run(workers, [&](Team& team) {
      const LaneRows lanes(chunk.lengths, chunk.lanes);
      Rows x(lanes.count(), shape_.size), normed(lanes.count(), shape_.size);
      lanes.read(chunk.stem, chunk.frames, 1, shape_.size, x);
      const int layers = static_cast<int>(layers_.size());
      for (int layer = 0; layer < layers; ++layer) {
        layers_[layer].run(x, normed, lanes, {memory, context, chunk.frames, layer, layers}, team);
      }
      lanes.write(x, chunk.frames, shape_.size, chunk.encoded);
    });
  }

  FastConformerShape shape_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<FastConformerStep> build(const FastConformerShape& shape) {
  return std::make_unique<FastConformer>(shape);
}

}  // namespace earshot::EARSHOT_PROCESSOR
