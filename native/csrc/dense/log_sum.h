// The logarithm of a sum of exponentials, of a row whose padding is minus infinity.
#pragma once

#include <cmath>

#include "dense/floats.h"

namespace earshot::EARSHOT_PROCESSOR {

// columns: with padding.
inline float log_sum(const float* row, int columns) {
  Floats most = load(row);
  for (int i = WIDTH; i < columns; i += WIDTH) most = larger(load(row + i), most);
  const float most_of_all = largest(most);
  Floats total{};
  for (int i = 0; i < columns; i += WIDTH) {
    total = total + exponential(load(row + i) + -most_of_all);
  }
  return most_of_all + std::log(sum(total));
}

}  // namespace earshot::EARSHOT_PROCESSOR
