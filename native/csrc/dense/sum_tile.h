// Sums of products over a few rows and columns, held in registers while they grow.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "dense/floats.h"
#include "dense/weight_element.h"

namespace earshot::EARSHOT_PROCESSOR {

// Rows and sixteens of columns that are summed at once: as many sums as there are registers for.
#if defined(EARSHOT_AVX512)
inline constexpr int TILE_ROWS = 12, TILE_VECTORS = 2;
#elif defined(EARSHOT_AVX2)
inline constexpr int TILE_ROWS = 6, TILE_VECTORS = 1;
#else
inline constexpr int TILE_ROWS = 3, TILE_VECTORS = 1;
#endif

template <class Element>
using GivenFor = typename WeightElement<Element>::Given;
template <class Element>
using StartFor = typename WeightElement<Element>::Start;

// `sums` (Rows, Vectors) = starts + rows * panel, in `steps`. Each sum runs over the inputs in the
// element's order, so that a row's result is the same whichever rows come with it.
template <class Element, int Rows, int Vectors>
void sum_tile(const GivenFor<Element>* rows, int stride, const Element* panel, int steps,
              const StartFor<Element>* starts, float* sums) {
  using Kept = WeightElement<Element>;
  constexpr int REGISTERS = Vectors * PARTS;
  typename Kept::Sum own[Rows][REGISTERS];
  for (int row = 0; row < Rows; ++row) {
    for (int i = 0; i < REGISTERS; ++i) own[row][i] = Kept::begun(starts, i);
  }
  for (int step = 0; step < steps; ++step, panel += WIDTH * Vectors * Kept::INPUTS) {
    for (int turn = 0; turn < Kept::TURNS; ++turn) {
      decltype(Kept::unpacked(panel, turn)) weights[REGISTERS];
      for (int i = 0; i < REGISTERS; ++i) {
        weights[i] = Kept::unpacked(panel + i * (WIDTH / PARTS) * Kept::INPUTS, turn);
      }
      for (int row = 0; row < Rows; ++row) {
        const auto given = rows[row * stride + step * Kept::TURNS + turn];
        for (int i = 0; i < REGISTERS; ++i) Kept::add(own[row][i], given, weights[i]);
      }
    }
  }
  for (int row = 0; row < Rows; ++row) {
    for (int i = 0; i < REGISTERS; ++i)
      store_part(sums, row * REGISTERS + i, Kept::ended(own[row][i]));
  }
}

template <class Element>
using SumTile = void (*)(const GivenFor<Element>*, int, const Element*, int,
                         const StartFor<Element>*, float*);

template <class Element, int Vectors, int... Rows>
constexpr std::array<SumTile<Element>, sizeof...(Rows)> sum_tiles(
    std::integer_sequence<int, Rows...>) {
  return {sum_tile<Element, Rows + 1, Vectors>...};
}

// The tile for so many rows and sixteens of columns.
template <class Element>
SumTile<Element> sum_tile_of(int rows, int vectors) {
  using Counts = std::make_integer_sequence<int, TILE_ROWS>;
  static constexpr auto NARROW = sum_tiles<Element, 1>(Counts{});
  static constexpr auto WIDE = sum_tiles<Element, TILE_VECTORS>(Counts{});
  return (vectors == 1 ? NARROW : WIDE)[rows - 1];
}

// Sixteen columns of any number of rows; `to` (count, 16), `to_stride` apart.
inline void sum_column(const float* rows, int count, int stride, const float* panel, int inputs,
                       const float* bias, float* to, int to_stride) {
  float sums[TILE_ROWS * WIDTH];
  for (int row = 0; row < count; row += TILE_ROWS) {
    const int taken = std::min(TILE_ROWS, count - row);
    sum_tile_of<float>(taken, 1)(rows + row * stride, stride, panel, inputs, bias, sums);
    for (int i = 0; i < taken; ++i) store(to + (row + i) * to_stride, load(sums + WIDTH * i));
  }
}

}  // namespace earshot::EARSHOT_PROCESSOR
