// Rows of a chunk: the real frames of its lanes, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dense/rows.h"

namespace earshot::EARSHOT_PROCESSOR {

struct LaneRows {
  int lanes;
  std::vector<int> first_rows;  // of each lane, and the end

  // lengths (B,): frames that are real.
  LaneRows(const std::int64_t* lengths, int lane_count) : lanes(lane_count), first_rows{0} {
    for (int i = 0; i < lanes; ++i) first_rows.push_back(count() + static_cast<int>(lengths[i]));
  }

  int count() const { return first_rows.back(); }
  int frames(int i) const { return first_rows[i + 1] - first_rows[i]; }

  // `each(row, index)`: of every row its place among the chunk's frames (B, frames). Each frame of
  // a lane has `rate` rows and places.
  template <class Each>
  void for_rows(int frames_of_chunk, int rate, Each each) const {
    for (int i = 0; i < lanes; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i) * frames_of_chunk * rate;
      for (int frame = 0; frame < frames(i) * rate; ++frame) {
        each(first_rows[i] * rate + frame, first + frame);
      }
    }
  }

  // Rows of `to` out of numbers (B, frames, size).
  void read(const float* from, int frames_of_chunk, int rate, int size, Rows& to) const {
    for_rows(frames_of_chunk, rate,
             [&](int row, std::ptrdiff_t i) { to.copy(row, from + i * size, size); });
  }

  // Numbers (B, frames, size) out of rows, one for each frame.
  void write(const Rows& from, int frames_of_chunk, int size, float* to) const {
    for_rows(frames_of_chunk, 1,
             [&](int row, std::ptrdiff_t i) { std::copy_n(from[row], size, to + i * size); });
  }
};

}  // namespace earshot::EARSHOT_PROCESSOR
