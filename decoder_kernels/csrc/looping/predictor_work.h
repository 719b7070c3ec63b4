// The prediction network of the lanes that have found a label: an LSTM over labels (Graves 2012,
// section 2.2).
#pragma once

#include "looping/lane_list.h"
#include "looping/loop_math.h"
#include "looping/row_tile.h"

namespace earshot::cuda {

inline constexpr int ROWS_OF_GATES = 4, ROWS_OF_SAID = 8, GATES = 4;

struct PredictorTile {
  const GridPlace& place;
  const LoopParams& params;
  const int* lanes;
  int rows;

  KERNEL_FN float* memory(int row) const {
    return params.memory + static_cast<long long>(lanes[row]) * params.layout.size();
  }
  KERNEL_FN float* fresh(int row, int layer) const {
    const long long place_of_row = static_cast<long long>(lanes[row]) * params.head.layers + layer;
    return params.fresh + place_of_row * params.head.hidden;
  }
};

// Gates of one unit to its cell, and to what it says.
KERNEL_FN void remember(const float (&gates)[GATES], float* cell, float* fresh) {
  const float kept = sigmoid(gates[1]) * *cell + sigmoid(gates[0]) * hyperbolic_tangent(gates[2]);
  *cell = kept;
  *fresh = sigmoid(gates[3]) * hyperbolic_tangent(kept);
}

// What the gates of a layer have before its products: of the label, or of nothing yet.
KERNEL_FN const float* gates_before(const PredictorTile& tile, int layer, int row) {
  const HeadOnDevice& head = tile.params.head;
  if (layer > 0) return head.gate_bias + layer * GATES * head.hidden;
  const long long token = tile.params.of(tile.lanes[row], TOKEN);
  return head.table + token * GATES * head.hidden;
}

KERNEL_FN void gate_tile(const PredictorTile& tile, int layer, int first_unit, float* staged) {
  const HeadOnDevice& head = tile.params.head;
  const MemoryLayout& layout = tile.params.layout;
  const int hidden = head.hidden, below = layer == 0 ? 0 : hidden;
  stage_rows<ROWS_OF_GATES>(tile.place, tile.rows, below + hidden, staged, [&](int row, int i) {
    return i < below ? tile.fresh(row, layer - 1)[i]
                     : tile.memory(row)[layout.hidden_of(layer) + i - below];
  });
  const int unit = first_unit + tile.place.thread;
  if (unit >= hidden) return;
  float sums[GATES][ROWS_OF_GATES] = {};
  for (int row = 0; row < tile.rows; ++row) {
    const float* before = gates_before(tile, layer, row);
    for (int gate = 0; gate < GATES; ++gate) sums[gate][row] = before[gate * hidden + unit];
  }
  const long long first_input = layer == 0 ? 0 : (2 * layer - 1) * hidden;
  add_products(staged, below + hidden, head.recurrent + first_input * GATES * hidden + unit,
               GATES * hidden, hidden, sums);
  for (int row = 0; row < tile.rows; ++row) {
    const float gates[GATES] = {sums[0][row], sums[1][row], sums[2][row], sums[3][row]};
    remember(gates, tile.memory(row) + layout.cell_of(layer) + unit, tile.fresh(row, layer) + unit);
  }
}

// One layer of the listed lanes. What it says is not remembered yet: other blocks still read what
// it said before.
KERNEL_FN void hear_label(const GridPlace& place, const LoopParams& params, const int* lanes,
                          int count, int layer, float* staged) {
  const TilesOf tiles(count, ROWS_OF_GATES, params.head.hidden, place.threads);
  for (int item = place.block; item < tiles.count(); item += place.blocks) {
    const int first = item / tiles.column_tiles * ROWS_OF_GATES;
    const PredictorTile tile{place, params, lanes + first, min(count - first, ROWS_OF_GATES)};
    gate_tile(tile, layer, item % tiles.column_tiles * place.threads, staged);
  }
}

KERNEL_FN void said_tile(const PredictorTile& tile, int first_column, float* staged) {
  const HeadOnDevice& head = tile.params.head;
  stage_rows<ROWS_OF_SAID>(tile.place, tile.rows, head.hidden, staged,
                           [&](int row, int i) { return tile.fresh(row, head.layers - 1)[i]; });
  const int column = first_column + tile.place.thread;
  if (column >= head.joint) return;
  float sums[1][ROWS_OF_SAID];
  for (float& sum : sums[0]) sum = head.project_bias[column];
  add_products(staged, head.hidden, head.project_weight + column, head.joint, 0, sums);
  for (int row = 0; row < tile.rows; ++row) {
    tile.memory(row)[MemoryLayout::SAID + column] = sums[0][row];
  }
}

// What layers say now becomes what they said last; units are dealt out among all threads.
KERNEL_FN void keep_fresh(const GridPlace& place, const LoopParams& params, const int* lanes,
                          int count) {
  const HeadOnDevice& head = params.head;
  const int of_lane = head.layers * head.hidden;
  for (int row = place.block; row < count; row += place.blocks) {
    const PredictorTile tile{place, params, lanes + row, 1};
    for (int i = place.thread; i < of_lane; i += place.threads) {
      const int layer = i / head.hidden, unit = i % head.hidden;
      tile.memory(0)[params.layout.hidden_of(layer) + unit] = tile.fresh(0, layer)[unit];
    }
  }
}

// Projects what the last layer says, and has all layers remember.
KERNEL_FN void say(const GridPlace& place, const LoopParams& params, const int* lanes, int count,
                   float* staged) {
  const TilesOf tiles(count, ROWS_OF_SAID, params.head.joint, place.threads);
  for (int item = place.block; item < tiles.count(); item += place.blocks) {
    const int first = item / tiles.column_tiles * ROWS_OF_SAID;
    const PredictorTile tile{place, params, lanes + first, min(count - first, ROWS_OF_SAID)};
    said_tile(tile, item % tiles.column_tiles * place.threads, staged);
  }
  keep_fresh(place, params, lanes, count);
}

}  // namespace earshot::cuda
