#include "conformer_step.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "../attention_layers.h"
#include "../conformer_branches.h"
#include "../head_attention.h"
#include "lane_rows.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// Where a layer's columns are: the first of its rows in the cache, and how many the cache has.
struct CachePlace {
  int first_row;
  int rows;
};

// All memory of a step. `rate`: rows for each frame put out.
struct Work {
  const LaneChunk& chunk;
  const LaneRows& lanes;
  int rate;
  Rows x;
  Rows normed;
  Rows pos_emb;

  Work(const LaneChunk& all_lanes, const LaneRows& own, int size, int stem_rate)
      : chunk(all_lanes),
        lanes(own),
        rate(stem_rate),
        x(own.count() * rate, size),
        normed(own.count() * rate, size),
        pos_emb(all_lanes.pos_emb == nullptr ? 0 : own.count() * rate, size) {
    lanes.read(chunk.stem, chunk.frames, rate, size, x);
    if (chunk.pos_emb != nullptr) lanes.read(chunk.pos_emb, chunk.frames, rate, size, pos_emb);
  }

  int slot(int i) const { return static_cast<int>(chunk.slots[i]); }
  int first_row(int i) const { return lanes.first_rows[i] * rate; }
  int frames(int i) const { return lanes.frames(i) * rate; }

  // Two rows become their mean; a lane has an even number of them.
  void pool(int size) {
    Rows means(x.count / 2, size);
    for (int row = 0; row < means.count; ++row) {
      for (int i = 0; i < means.stride; i += WIDTH) {
        store(means[row] + i, (load(x[2 * row] + i) + load(x[2 * row + 1] + i)) * 0.5F);
      }
    }
    x = std::move(means);
    normed = Rows(x.count, size);
    rate = 1;
  }
};

class Attention : AttentionLayers {
 public:
  Attention(const AttentionWeights& weights, int size, int heads)
      : AttentionLayers(weights, size, heads) {
    if (!weights.pos) return;
    linear_pos_.emplace(weights.pos->linear_pos);
    pos_bias_u_ = weights.pos->bias_u;
    pos_bias_v_ = weights.pos->bias_v;
  }

  // Writes the new frames' columns of this layer, and adds what its heads make of all.
  void add_to(Work& work, const CachePlace& place, Team& team) const {
    Projected rows = project_all(work, team);
    team.share(work.lanes.lanes * heads_, [&](int first, int count) {
      HeadAttention attend(head_size_);
      for (int each = first; each < first + count; ++each) {
        const int i = each / heads_, head = each % heads_;
        if (work.frames(i) == 0) continue;  // it may have no row to point at
        write_columns(work, i, place, head, rows);
        attend_to_columns(work, i, place, head, rows.queries, attend);
      }
    });
    add_projected(out_, rows.queries, 1.0F, work.x, team);
  }

 private:
  // Of the new frames, a row for each.
  struct Projected {
    Rows queries, keys, values, pos;
  };

  Projected project_all(Work& work, Team& team) const {
    norm_rows(norm_, work.x, work.normed, team);
    return {projected(query_, work.normed, team), projected(key_, work.normed, team),
            projected(value_, work.normed, team),
            linear_pos_ ? projected(*linear_pos_, work.pos_emb, team) : Rows(0, size_)};
  }

  void write_columns(const Work& work, int i, const CachePlace& place, int head,
                     const Projected& rows) const {
    const auto own = new_columns(work, i, place, head);
    for (int frame = 0; frame < work.frames(i); ++frame) {
      const int row = work.first_row(i) + frame;
      write_column(rows.keys[row], rows.values[row], linear_pos_ ? rows.pos[row] : nullptr, head,
                   own.at(frame));
    }
  }

  // Puts what a head makes of a lane's old and new columns in place of its queries.
  void attend_to_columns(const Work& work, int i, const CachePlace& place, int head, Rows& queries,
                         HeadAttention& attend) const {
    const int cached = static_cast<int>(work.chunk.cached[work.slot(i)]) * work.rate;
    const int frames = work.frames(i), all = cached + frames;
    const auto old = old_columns(work, i, place, head);
    const auto own = new_columns(work, i, place, head);
    attend(queries[work.first_row(i)] + head * head_size_, frames, queries.stride, {all, all, 0},
           [&](int column) {
             const float* at = column < cached ? old.at(column) : own.at(column - cached);
             return Column{at, at + head_size_, at[2 * head_size_]};
           });
  }

  int stride() const { return 2 * head_size_ + 1; }

  // Columns of one head as `EncoderState` has them: positional key, value, key bias. Frames one
  // after the other go from row to row, and then to the next column.
  template <class Float>
  struct Columns {
    Float* first;
    int rate;
    std::ptrdiff_t row;
    std::ptrdiff_t column;

    Float* at(int frame) const { return first + frame % rate * row + frame / rate * column; }
  };

  // (rows, h, count, 2 d_k + 1) numbers for each lane or slot.
  template <class Float>
  Columns<Float> columns(Float* all, int lane, const CachePlace& place, int head, int count,
                         int rate) const {
    const auto first =
        (static_cast<std::ptrdiff_t>(lane) * place.rows + place.first_row) * heads_ + head;
    const auto size = static_cast<std::ptrdiff_t>(count) * stride();
    return {all + first * size, rate, heads_ * size, stride()};
  }

  Columns<const float> old_columns(const Work& work, int i, const CachePlace& place,
                                   int head) const {
    const LaneChunk& chunk = work.chunk;
    return columns(chunk.att_cache, work.slot(i), place, head, chunk.capacity + 1, work.rate);
  }

  Columns<float> new_columns(const Work& work, int i, const CachePlace& place, int head) const {
    const LaneChunk& chunk = work.chunk;
    return columns(chunk.att_columns, i, place, head, chunk.frames, work.rate);
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

  std::optional<PackedLinear> linear_pos_;
  std::vector<float> pos_bias_u_;
  std::vector<float> pos_bias_v_;
};

class Layer {
 public:
  Layer(const LayerWeights& weights, const BlockShape& shape)
      : size_(shape.size),
        attention_(weights.attention, shape.size, shape.heads),
        feed_forward_(weights.feed_forward, shape.activation, shape.feed_forward_scale) {
    if (weights.macaron) {
      macaron_.emplace(*weights.macaron, shape.activation, shape.feed_forward_scale);
    }
    if (weights.convolution) {
      convolution_.emplace(*weights.convolution, shape.size, shape.activation);
    }
    if (weights.norm_final) norm_final_.emplace(*weights.norm_final);
  }

  // A convolution's cache has one row a layer; pooling encoders have none.
  void run(Work& work, const CachePlace& place, Team& team) const {
    if (macaron_) macaron_->add_to(work.x, work.normed, team);
    attention_.add_to(work, place, team);
    if (convolution_) convolve(work, place.first_row, place.rows, team);
    feed_forward_.add_to(work.x, work.normed, team);
    if (norm_final_) norm_rows(*norm_final_, work.x, work.x, team);
  }

 private:
  void convolve(Work& work, int layer, int layers, Team& team) const {
    Rows gated(work.x.count, size_), mixed(work.x.count, size_);
    convolution_->gate_rows(work.x, work.normed, gated, team);
    const auto remembered = static_cast<std::ptrdiff_t>(convolution_->remembered()) * size_;
    team.share(work.lanes.lanes, [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        const float* cache = work.chunk.cnn_cache + (work.slot(i) * layers + layer) * remembered;
        float* next = work.chunk.next_cnn_cache + (i * layers + layer) * remembered;
        convolution_->convolve(gated, work.first_row(i), work.frames(i), cache, next, mixed);
      }
    });
    convolution_->add_to(work.x, mixed, team);
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
      : shape_(weights.blocks),
        pool_after_(weights.pool_after_block.value_or(0)),
        stem_rate_(weights.pool_after_block ? 2 : 1),
        after_norm_(weights.after_norm) {
    if (!weights.narrow) return;
    narrow_.emplace(*weights.narrow);
    narrow_size_ = weights.narrow->outputs;
  }

  void add(const LayerWeights& block) override { layers_.emplace_back(block, shape_); }

  void run(const LaneChunk& chunk, int workers) const override {
    TeamMembers::run(workers, [&](Team& team) { run(chunk, team); });
  }

 private:
  void run(const LaneChunk& chunk, Team& team) const {
    const LaneRows lanes(chunk.lengths, chunk.lanes);
    Work work(chunk, lanes, shape_.size, stem_rate_);
    const int layers = static_cast<int>(layers_.size());
    CachePlace place{0, layers + pool_after_ * (stem_rate_ - 1)};
    for (int layer = 0; layer <= layers; ++layer) {
      if (layer == pool_after_ && work.rate > 1) work.pool(shape_.size);
      if (layer == layers) break;
      layers_[layer].run(work, place, team);
      place.first_row += work.rate;
    }
    norm_rows(after_norm_, work.x, work.x, team);
    put_out(work, team);
  }

  void put_out(const Work& work, Team& team) const {
    const int size = narrow_ ? narrow_size_ : shape_.size;
    Rows narrow(narrow_ ? work.x.count : 0, size);
    if (narrow_) project(*narrow_, work.x, narrow, team);
    work.lanes.write(narrow_ ? narrow : work.x, work.chunk.frames, size, work.chunk.encoded);
  }

  BlockShape shape_;
  int pool_after_;  // blocks; of no meaning at a stem's rate of one
  int stem_rate_;   // of its frames for each that is put out
  int narrow_size_ = 0;
  std::vector<Layer> layers_;
  RowNorm after_norm_;
  std::optional<PackedLinear> narrow_;
};

}  // namespace

std::unique_ptr<ConformerStep> build(const ConformerWeights& weights) {
  return std::make_unique<Conformer>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
