// How well queries meet the distances to their keys (Dai 2019, section 3.3).
#pragma once

#include <algorithm>
#include <vector>

#include "dense/cache_lines.h"
#include "dense/floats.h"
#include "dense/sum_tile.h"

namespace earshot::EARSHOT_PROCESSOR {

// Consecutive rows of one head whose last is the newest of some columns: row i has `behind` - i
// columns after the one that is its own.
struct QueryRows {
  const float* first;  // of its d_k numbers
  int count;
  int stride;
  int columns;
  int behind;  // of the first row
};

// Projected distances, constant and so packed once: place p is the distance reach - p.
class RelativePlaces {
 public:
  // numbers (P, D).
  RelativePlaces(const std::vector<float>& numbers, int size, int heads, int reach)
      : head_size_(size / heads),
        reach_(reach),
        width_(padded(static_cast<int>(numbers.size()) / size)),
        panels_(static_cast<std::size_t>(width_) * size) {
    std::fill_n(panels_.data(), static_cast<std::size_t>(width_) * size, 0.0F);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const int place = static_cast<int>(i) / size, head = static_cast<int>(i) % size / head_size_;
      panels_
          .data()[start_of(head, place / WIDTH * WIDTH) + i % head_size_ * WIDTH + place % WIDTH] =
          numbers[i];
    }
  }

  // Adds to scores (rows, width) of each column what the row's distance from it is worth. A row's
  // columns lie side by side among the places, one further to the left than the row before.
  void add_to(float* scores, int width, int head, const QueryRows& rows,
              std::vector<float>& room) const {
    const int of_first = reach_ - (rows.columns - 1 - rows.behind);
    const int from = (of_first - (rows.count - 1)) / WIDTH * WIDTH, to = of_first + rows.columns;
    const int stride = padded(to - from) + WIDTH;
    room.resize(static_cast<std::size_t>(rows.count) * stride);
    for (int place = from; place < to; place += WIDTH) {
      sum_column(rows.first, rows.count, rows.stride, panel(head, place), head_size_, NOTHING,
                 &room[place - from], stride);
    }
    for (int row = 0; row < rows.count; ++row) {
      const float* own = &room[row * stride + of_first - row - from];
      float* to_row = scores + row * width;
      for (int i = 0; i < width; i += WIDTH) store(to_row + i, load(to_row + i) + load(own + i));
    }
  }

 private:
  static constexpr float NOTHING[WIDTH] = {};

  // Of sixteen places, from `first` on: (d_k, 16).
  const float* panel(int head, int first) const { return panels_.data() + start_of(head, first); }

  std::size_t start_of(int head, int first) const {
    return (static_cast<std::size_t>(head) * width_ + first) * head_size_;
  }

  int head_size_;
  int reach_;
  int width_;  // places, and padding
  CacheLines<float> panels_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
