// The joint network: of all frames what the encoder's side is, of the lanes that want an answer the
// rest (Bataev 2024, section 3.4, and Algorithm 3, line 7).
#pragma once

#include "looping/lane_list.h"
#include "looping/loop_math.h"
#include "looping/row_tile.h"

namespace earshot::cuda {

inline constexpr int ROWS_OF_ANSWERS = 8, ROWS_OF_FRAMES = 8;

KERNEL_FN bool is_frame(const LoopParams& params, int row) {
  return row % params.frames < params.of(row / params.frames, LENGTH);
}

KERNEL_FN void frame_tile(const GridPlace& place, const LoopParams& params, int first_row, int rows,
                          int first_column, float* staged) {
  const HeadOnDevice& head = params.head;
  stage_rows<ROWS_OF_FRAMES>(place, rows, head.inputs, staged, [&](int row, int i) {
    const long long frame = first_row + row;
    return is_frame(params, first_row + row) ? params.encoded[frame * head.inputs + i] : 0.0F;
  });
  const int column = first_column + place.thread;
  if (column >= head.joint) return;
  float sums[1][ROWS_OF_FRAMES];
  for (float& sum : sums[0]) sum = head.encoder_bias[column];
  add_products(staged, head.inputs, head.encoder_weight + column, head.joint, 0, sums);
  for (int row = 0; row < rows; ++row) {
    params.heard[static_cast<long long>(first_row + row) * head.joint + column] = sums[0][row];
  }
}

// Encoder frames of all lanes, those behind a lane's last one left out tile by tile.
KERNEL_FN void hear_frames(const GridPlace& place, const LoopParams& params, float* staged) {
  const int all = params.lanes * params.frames;
  const TilesOf tiles(all, ROWS_OF_FRAMES, params.head.joint, place.threads);
  for (int item = place.block; item < tiles.count(); item += place.blocks) {
    const int first = item / tiles.column_tiles * ROWS_OF_FRAMES;
    const int rows = min(all - first, ROWS_OF_FRAMES);
    bool some = false;
    for (int row = 0; row < rows; ++row) some |= is_frame(params, first + row);
    if (!some) continue;
    const int column = item % tiles.column_tiles * place.threads;
    frame_tile(place, params, first, rows, column, staged);
  }
}

KERNEL_FN void answer_tile(const GridPlace& place, const LoopParams& params, const int* lanes,
                           int rows, int first_column, float* staged) {
  const HeadOnDevice& head = params.head;
  stage_rows<ROWS_OF_ANSWERS>(place, rows, head.joint, staged, [&](int row, int i) {
    const long long lane = lanes[row];
    const long long frame = lane * params.frames + params.of(lanes[row], FRAME);
    const float said = params.memory[lane * params.layout.size() + MemoryLayout::SAID + i];
    return activated(head.activation, params.heard[frame * head.joint + i] + said);
  });
  const int column = first_column + place.thread, columns = head.answers();
  if (column >= columns) return;
  float sums[1][ROWS_OF_ANSWERS];
  for (float& sum : sums[0]) sum = head.answer_bias[column];
  add_products(staged, head.joint, head.answer_weight + column, columns, 0, sums);
  for (int row = 0; row < rows; ++row) {
    params.answers[static_cast<long long>(lanes[row]) * columns + column] = sums[0][row];
  }
}

// Answers of the listed lanes: logits of labels and the blank, and of durations.
KERNEL_FN void answer(const GridPlace& place, const LoopParams& params, const int* lanes, int count,
                      float* staged) {
  const TilesOf tiles(count, ROWS_OF_ANSWERS, params.head.answers(), place.threads);
  for (int item = place.block; item < tiles.count(); item += place.blocks) {
    const int first = item / tiles.column_tiles * ROWS_OF_ANSWERS;
    answer_tile(place, params, lanes + first, min(count - first, ROWS_OF_ANSWERS),
                item % tiles.column_tiles * place.threads, staged);
  }
}

}  // namespace earshot::cuda
