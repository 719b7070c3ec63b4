// Some rows times some columns of a weight, by the threads of a block.
//
// A thread has columns of its own and walks over the inputs in their order: its sums depend neither
// on the other rows of the tile nor on how many threads there are.
#pragma once

#include "looping/loop_grid.h"

namespace earshot::cuda {

// Tiles of a list of rows and of columns, as one list of work.
struct TilesOf {
  int row_tiles;
  int column_tiles;

  KERNEL_HOST_FN TilesOf(int rows, int rows_of_tile, int columns, int threads)
      : row_tiles((rows + rows_of_tile - 1) / rows_of_tile),
        column_tiles((columns + threads - 1) / threads) {}

  KERNEL_HOST_FN int count() const { return row_tiles * column_tiles; }
};

// Rows of a tile's inputs in shared memory, those of one input side by side. `input(row, i)` says
// what a row has; rows behind the last are zeros.
template <int ROWS, class Input>
KERNEL_FN void stage_rows(const GridPlace& place, int rows, int inputs, float* staged,
                          const Input& input) {
  place.sync();
  for (int i = place.thread; i < ROWS * inputs; i += place.threads) {
    const int row = i / inputs, column = i % inputs;
    staged[column * ROWS + row] = row < rows ? input(row, column) : 0.0F;
  }
  place.sync();
}

// sums[g][row] += staged[row] x weight[.][column + g * apart], weight (inputs, stride).
template <int GROUPS, int ROWS>
KERNEL_FN void add_products(const float* staged, int inputs, const float* weight, int stride,
                            int apart, float (&sums)[GROUPS][ROWS]) {
  for (int i = 0; i < inputs; ++i) {
    float factors[GROUPS];
    for (int g = 0; g < GROUPS; ++g)
      factors[g] = weight[static_cast<long long>(i) * stride + g * apart];
    for (int row = 0; row < ROWS; ++row) {
      const float x = staged[i * ROWS + row];
      for (int g = 0; g < GROUPS; ++g) sums[g][row] = fmaf(x, factors[g], sums[g][row]);
    }
  }
}

}  // namespace earshot::cuda
