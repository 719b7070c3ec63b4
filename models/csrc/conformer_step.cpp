#include "conformer_step.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "conformer_branches.h"
#include "head_attention.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// A share of a chunk's lanes: their real frames are the rows, one after the other.
struct Share {
  int first_lane;
  int lanes;
  std::vector<int> first_rows;  // of each lane, and the end
};

int row_count(const Share& share) {
  return share.first_rows.back();
}

// Runs for a share of lanes; all memory of a step is here.
struct Work {
  const LaneChunk& chunk;
  const Share& share;
  Rows x;
  Rows normed;
  Rows pos_emb;

  Work(const LaneChunk& all_lanes, const Share& own, int size)
      : chunk(all_lanes),
        share(own),
        x(row_count(own), size),
        normed(row_count(own), size),
        pos_emb(all_lanes.pos_emb == nullptr ? 0 : row_count(own), size) {
    read(chunk.stem, size, x);
    if (chunk.pos_emb != nullptr) read(chunk.pos_emb, size, pos_emb);
  }

  int lane(int i) const { return share.first_lane + i; }
  int slot(int i) const { return static_cast<int>(chunk.slots[lane(i)]); }
  int frames(int i) const { return share.first_rows[i + 1] - share.first_rows[i]; }

  // `each(row, index)`: of every real frame its row, and its place among the chunk's (B, T).
  template <class Each>
  void for_rows(Each each) const {
    for (int i = 0; i < share.lanes; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(lane(i)) * chunk.frames;
      for (int frame = 0; frame < frames(i); ++frame) {
        each(share.first_rows[i] + frame, first + frame);
      }
    }
  }

  void read(const float* from, int size, Rows& to) const {
    for_rows([&](int row, std::ptrdiff_t i) { to.copy(row, from + i * size, size); });
  }
};

class Attention {
 public:
  Attention(const AttentionWeights& weights, int size, int heads)
      : heads_(heads),
        head_size_(size / heads),
        norm_(weights.norm),
        query_(weights.query),
        key_(weights.key),
        value_(weights.value),
        out_(weights.out) {
    if (!weights.pos) return;
    linear_pos_.emplace(weights.pos->linear_pos);
    pos_bias_u_ = weights.pos->bias_u;
    pos_bias_v_ = weights.pos->bias_v;
  }

  // Writes the new frames' columns of this layer, and adds what its heads make of all.
  void add_to(Work& work, int layer, int layers) const {
    const int rows = work.x.count, size = heads_ * head_size_;
    norm_rows(norm_, work.x, work.normed);
    Rows queries(rows, size), keys(rows, size), values(rows, size),
        pos(linear_pos_ ? rows : 0, size);
    project(query_, work.normed, queries);
    project(key_, work.normed, keys);
    project(value_, work.normed, values);
    if (linear_pos_) project(*linear_pos_, work.pos_emb, pos);
    HeadAttention attend(head_size_);
    for (int i = 0; i < work.share.lanes; ++i) {
      const int first = work.share.first_rows[i], frames = work.frames(i);
      if (frames == 0) continue;  // it may have no row to point at
      for (int head = 0; head < heads_; ++head) {
        float* own = new_columns(work, i, layer, layers, head);
        for (int frame = 0; frame < frames; ++frame) {
          write_column(keys[first + frame], values[first + frame],
                       linear_pos_ ? pos[first + frame] : nullptr, head, own + frame * stride());
        }
        const float* old = old_columns(work, i, layer, layers, head);
        const auto cached = static_cast<int>(work.chunk.cached[work.slot(i)]);
        const int all = cached + frames;
        attend(queries[first] + head * head_size_, frames, queries.stride, {all, all, 0},
               [&](int column) {
                 const float* at =
                     column < cached ? old + column * stride() : own + (column - cached) * stride();
                 return Column{at, at + head_size_, at[2 * head_size_]};
               });
      }
    }
    add_projected(out_, queries, 1.0F, work.x);
  }

 private:
  int stride() const { return 2 * head_size_ + 1; }

  // Columns (n, 2 d_k + 1) of one head as `EncoderState` has them: positional key, value, key bias.
  const float* old_columns(const Work& work, int i, int layer, int layers, int head) const {
    const auto place = (static_cast<std::ptrdiff_t>(work.slot(i)) * layers + layer) * heads_ + head;
    return work.chunk.att_cache + place * (work.chunk.capacity + 1) * stride();
  }

  float* new_columns(const Work& work, int i, int layer, int layers, int head) const {
    const auto place = (static_cast<std::ptrdiff_t>(work.lane(i)) * layers + layer) * heads_ + head;
    return work.chunk.att_columns + place * work.chunk.frames * stride();
  }

  // A positional key, and what u and v make of both parts.
  void write_column(const float* keys, const float* values, const float* pos, int head,
                    float* column) const {
    const int first = head * head_size_;
    std::copy_n(keys + first, head_size_, column);
    std::copy_n(values + first, head_size_, column + head_size_);
    float bias = 0.0F;
    for (int i = 0; pos != nullptr && i < head_size_; ++i) {
      column[i] += pos[first + i];
      bias += keys[first + i] * pos_bias_u_[first + i] + pos[first + i] * pos_bias_v_[first + i];
    }
    column[2 * head_size_] = bias;
  }

  int heads_;
  int head_size_;
  RowNorm norm_;
  PackedLinear query_;
  PackedLinear key_;
  PackedLinear value_;
  PackedLinear out_;
  std::optional<PackedLinear> linear_pos_;
  std::vector<float> pos_bias_u_;
  std::vector<float> pos_bias_v_;
};

class Layer {
 public:
  Layer(const LayerWeights& weights, const ConformerWeights& whole)
      : size_(whole.size),
        attention_(weights.attention, whole.size, whole.heads),
        feed_forward_(weights.feed_forward, whole.activation, whole.feed_forward_scale) {
    if (weights.macaron) {
      macaron_.emplace(*weights.macaron, whole.activation, whole.feed_forward_scale);
    }
    if (weights.convolution) {
      convolution_.emplace(*weights.convolution, whole.size, whole.activation);
    }
    if (weights.norm_final) norm_final_.emplace(*weights.norm_final);
  }

  void run(Work& work, int layer, int layers) const {
    if (macaron_) macaron_->add_to(work.x, work.normed);
    attention_.add_to(work, layer, layers);
    if (convolution_) convolve(work, layer, layers);
    feed_forward_.add_to(work.x, work.normed);
    if (norm_final_) norm_rows(*norm_final_, work.x, work.x);
  }

 private:
  void convolve(Work& work, int layer, int layers) const {
    Rows gated(work.x.count, size_), mixed(work.x.count, size_);
    convolution_->gate_rows(work.x, work.normed, gated);
    const auto remembered = static_cast<std::ptrdiff_t>(convolution_->remembered()) * size_;
    for (int i = 0; i < work.share.lanes; ++i) {
      const float* cache = work.chunk.cnn_cache + (work.slot(i) * layers + layer) * remembered;
      float* next = work.chunk.next_cnn_cache + (work.lane(i) * layers + layer) * remembered;
      convolution_->convolve(gated, work.share.first_rows[i], work.frames(i), cache, next, mixed);
    }
    convolution_->add_to(work.x, mixed);
  }

  int size_;
  std::optional<FeedForward> macaron_;
  Attention attention_;
  std::optional<Convolution> convolution_;
  FeedForward feed_forward_;
  std::optional<RowNorm> norm_final_;
};

class Conformer : public ConformerStep {
 public:
  explicit Conformer(const ConformerWeights& weights)
      : size_(weights.size), after_norm_(weights.after_norm) {
    for (const LayerWeights& each : weights.layers) layers_.emplace_back(each, weights);
  }

  void run(const LaneChunk& chunk, int workers) const override {
    share_out(chunk.lanes, workers,
              [&](int first, int lanes) { run_share(chunk, share_of(chunk, first, lanes)); });
  }

 private:
  static Share share_of(const LaneChunk& chunk, int first, int lanes) {
    Share share{first, lanes, {0}};
    for (int i = 0; i < share.lanes; ++i) {
      share.first_rows.push_back(row_count(share) + static_cast<int>(chunk.lengths[first + i]));
    }
    return share;
  }

  void run_share(const LaneChunk& chunk, const Share& share) const {
    Work work(chunk, share, size_);
    const int layers = static_cast<int>(layers_.size());
    for (int layer = 0; layer < layers; ++layer) layers_[layer].run(work, layer, layers);
    norm_rows(after_norm_, work.x, work.x);
    work.for_rows([&](int row, std::ptrdiff_t i) {
      std::copy_n(work.x[row], size_, chunk.encoded + i * size_);
    });
  }

  int size_;
  std::vector<Layer> layers_;
  RowNorm after_norm_;
};

}  // namespace

std::unique_ptr<ConformerStep> build(const ConformerWeights& weights) {
  return std::make_unique<Conformer>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
