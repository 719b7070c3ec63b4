// Attention of lanes with Transformer-XL's positions (Dai 2019, section 3.3).
#pragma once

#include <algorithm>
#include <vector>

#include "../attention_layers.h"
#include "../head_attention.h"
#include "dense/floats.h"
#include "dense/packed_linear.h"
#include "dense/row_norm.h"
#include "dense/rows.h"
#include "fast_conformer_step.h"
#include "lane_rows.h"
#include "relative_places.h"

namespace earshot::EARSHOT_PROCESSOR {

// What one layer may hear beside a lane's own rows: of streams what they remember, or nothing.
struct LayerMemory {
  const StreamMemory* streams;  // null without
  FrameContext context;         // of lanes without
  int frames;                   // T
  int layer;
  int layers;

  // Rows of arrays (S, L, …) and (B, L, …).
  std::ptrdiff_t row_of_slot(int lane) const { return streams->slots[lane] * layers + layer; }
  std::ptrdiff_t row_of_lane(int lane) const {
    return static_cast<std::ptrdiff_t>(lane) * layers + layer;
  }
};

// The keys and values of one head that a lane remembers, oldest first, and room for its own.
struct HeadMemory {
  const float* ring = nullptr;  // (C, 2 d_k)
  float* own = nullptr;         // (T, 2 d_k)
  int capacity = 0;
  int first = 0;  // column of the oldest that is heard
  int heard = 0;

  const float* at(int i, int width) const {
    const int column = first + i < capacity ? first + i : first + i - capacity;
    return ring + static_cast<std::ptrdiff_t>(column) * width;
  }
};

class RelativeAttention : AttentionLayers {
 public:
  RelativeAttention(const RelativeAttentionWeights& weights, const FastConformerShape& shape)
      : AttentionLayers(weights.layers, shape.size, shape.heads),
        bias_u_(padded(shape.size)),
        bias_v_(padded(shape.size)),
        places_(weights.places, shape.size, shape.heads, shape.reach) {
    std::ranges::copy(weights.bias_u, bias_u_.begin());
    std::ranges::copy(weights.bias_v, bias_v_.begin());
  }

  // Adds what heads make of what each row hears, and writes the rows' columns for the memory.
  void add_to(Rows& x, Rows& normed, const LaneRows& lanes, const LayerMemory& memory,
              Team& team) const {
    norm_rows(norm_, x, normed, team);
    Projected rows = project_all(normed, team);
    team.share(lanes.lanes * heads_, [&](int first, int count) {
      Scratch scratch(head_size_);
      for (int each = first; each < first + count; ++each) {
        const int i = each / heads_, head = each % heads_;
        if (lanes.frames(i) == 0) continue;  // it may have no row to point at
        const HeadMemory own = memory_of(memory, i, head);
        remember(rows, lanes, i, head, own);
        attend(rows, lanes, i, head, own, memory, scratch);
      }
    });
    add_projected(out_, rows.to_keys, 1.0F, x, team);
  }

 private:
  // Rows that look at each other in one go: more of them look at more distances than they have.
  static constexpr int BLOCK_ROWS = 4 * TILE_ROWS;

  // A row for each frame: queries as they meet keys and distances, keys, values.
  struct Projected {
    Rows to_keys, to_places, keys, values;
  };

  struct Scratch {
    HeadAttention heads;
    TurnedColumns columns;
    std::vector<float> places;
    explicit Scratch(int head_size) : heads(head_size) {}
  };

  Projected project_all(const Rows& normed, Team& team) const {
    Projected to{{normed.count, size_},
                 {normed.count, size_},
                 projected(key_, normed, team),
                 projected(value_, normed, team)};
    const auto meet = [&](int row, int column, const Floats& values) {
      store(to.to_keys[row] + column, values + load(&bias_u_[column]));
      store(to.to_places[row] + column, values + load(&bias_v_[column]));
    };
    query_(normed.numbers.get(), normed.count, normed.stride, meet, team);
    return to;
  }

  HeadMemory memory_of(const LayerMemory& memory, int lane, int head) const {
    if (memory.streams == nullptr) return {};
    const StreamMemory& streams = *memory.streams;
    const std::ptrdiff_t width = 2 * head_size_, capacity = streams.capacity;
    const std::int64_t offset = streams.offsets[streams.slots[lane]];
    const auto heard = static_cast<int>(std::min<std::int64_t>(offset, streams.left));
    return {
        .ring =
            streams.att_cache + (memory.row_of_slot(lane) * heads_ + head) * (capacity + 1) * width,
        .own = streams.att_columns +
               (memory.row_of_lane(lane) * heads_ + head) * memory.frames * width,
        .capacity = streams.capacity,
        .first = heard == 0 ? 0 : static_cast<int>((offset - heard) % capacity),
        .heard = heard,
    };
  }

  void remember(const Projected& rows, const LaneRows& lanes, int i, int head,
                const HeadMemory& own) const {
    if (own.own == nullptr) return;
    const int from = head * head_size_;
    for (int frame = 0; frame < lanes.frames(i); ++frame) {
      const int row = lanes.first_rows[i] + frame;
      float* column = own.own + static_cast<std::ptrdiff_t>(frame) * 2 * head_size_;
      std::copy_n(rows.keys[row] + from, head_size_, column);
      std::copy_n(rows.values[row] + from, head_size_, column + head_size_);
    }
  }

  // Puts what a head makes of a lane's columns in place of its queries.
  void attend(Projected& rows, const LaneRows& lanes, int i, int head, const HeadMemory& own,
              const LayerMemory& memory, Scratch& scratch) const {
    const int first = lanes.first_rows[i], frames = lanes.frames(i), from = head * head_size_;
    const int columns = own.heard + frames;
    scratch.columns.turn(head_size_, columns, [&](int column) {
      if (column < own.heard) {
        const float* at = own.at(column, 2 * head_size_);
        return Column{at, at + head_size_, 0.0F};
      }
      const int row = first + column - own.heard;
      return Column{rows.keys[row] + from, rows.values[row] + from, 0.0F};
    });
    for (int frame = 0; frame < frames; frame += BLOCK_ROWS) {
      const int count = std::min(BLOCK_ROWS, frames - frame), stride = rows.to_keys.stride;
      const QueryRows queries{rows.to_places[first + frame] + from, count, stride, columns,
                              frames - 1 - frame};
      scratch.heads(
          rows.to_keys[first + frame] + from, count, stride, {{scratch.columns}},
          [&](int row) { return seen(memory.context, frame + row, columns, own.heard); },
          [&](float* scores, int width) {
            places_.add_to(scores, width, head, queries, scratch.places);
          });
    }
  }

  // Columns that a frame hears: all that a lane remembers, and of its own what `context` says.
  static Span seen(const FrameContext& context, int frame, int columns, int heard) {
    const int chunk = context.right + 1;
    const int begin = context.in_chunks ? frame / chunk * chunk : frame;
    const int end = context.in_chunks ? begin + chunk : frame + chunk;
    return {context.left < 0 ? 0 : std::max(0, heard + begin - context.left),
            context.right < 0 ? columns : std::min(columns, heard + end)};
  }

  std::vector<float> bias_u_;
  std::vector<float> bias_v_;
  RelativePlaces places_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
