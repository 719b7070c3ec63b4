// What all numbers of a row come to, in an order of its own: not that of a block's threads.
#pragma once

#include "looping/loop_grid.h"

namespace earshot::cuda {

inline constexpr int REDUCTION_PARTS = 256;

// PARTS values, of which number j is of the row's columns j, j + PARTS, …; pairs are then joined,
// the second half's to the first's. `part(j)` says what a part is, `join(one, other)` what two are.
template <class Value, class Part, class Join>
KERNEL_FN Value reduced(const GridPlace& place, Value* parts, const Part& part, const Join& join) {
  place.sync();
  for (int j = place.thread; j < REDUCTION_PARTS; j += place.threads) parts[j] = part(j);
  for (int half = REDUCTION_PARTS / 2; half > 0; half /= 2) {
    place.sync();
    for (int j = place.thread; j < half; j += place.threads) {
      parts[j] = join(parts[j], parts[j + half]);
    }
  }
  place.sync();
  return parts[0];
}

}  // namespace earshot::cuda
