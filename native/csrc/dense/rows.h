// Rows of floats that layers read and write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "dense/floats.h"

namespace earshot::EARSHOT_PROCESSOR {

// Rows of padded(columns) numbers, behind the last column zeros once they are written.
struct Rows {
  std::unique_ptr<float[]> numbers;
  int count;
  int stride;

  Rows(int rows, int columns)
      : numbers(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows) *
                                                        padded(columns))),
        count(rows),
        stride(padded(columns)) {}

  float* operator[](int row) { return &numbers[static_cast<std::size_t>(row) * stride]; }
  const float* operator[](int row) const {
    return &numbers[static_cast<std::size_t>(row) * stride];
  }

  void copy(int row, const float* from, int size) {
    std::fill(std::copy_n(from, size, (*this)[row]), (*this)[row] + stride, 0.0F);
  }
};

}  // namespace earshot::EARSHOT_PROCESSOR
