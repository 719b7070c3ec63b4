// A linear layer whose weights are kept as elements of one type.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dense/cache_lines.h"
#include "dense/floats.h"
#include "dense/layer_weights.h"
#include "dense/rows.h"
#include "dense/sum_tile.h"
#include "dense/weight_element.h"
#include "threads/team.h"

namespace earshot::EARSHOT_PROCESSOR {

// Element: of the weights as they are kept (weight_element.h).
template <class Element>
class PackedLayer {
  using Kept = WeightElement<Element>;
  using Given = GivenFor<Element>;

 public:
  // beyond: what the outputs of padding are.
  explicit PackedLayer(const LinearWeights& weights, float beyond = 0.0F)
      : inputs_(weights.inputs),
        steps_((inputs_ + Kept::INPUTS - 1) / Kept::INPUTS),
        columns_(padded(weights.outputs)),
        starts_(columns_),
        bias_(columns_, beyond),
        scales_(Kept::SCALED ? columns_ : 0, 1.0F),
        panels_(static_cast<std::size_t>(columns_) * steps_ * Kept::INPUTS) {
    for (int output = 0; output < weights.outputs; ++output) {
      if constexpr (Kept::SCALED) scales_[output] = Kept::scale_of(largest_weight(weights, output));
      bias_[output] = weights.bias[output];
    }
    for (int output = 0; output < columns_; ++output) starts_[output] = start_of(weights, output);
    Element* panel = panels_.data();
    for (int first = 0; first < columns_; first += WIDTH * vectors_at(first)) {
      panel = pack(weights, first, WIDTH * vectors_at(first), panel);
    }
  }

  // Outputs, with padding.
  int columns() const { return columns_; }

  // Gives `then(row, column, values)` what becomes of each row, sixteen columns at a time; the team
  // shares the panels.
  template <class Then>
  void operator()(const float* rows, int count, int stride, Then then,
                  Team& team = Team::alone()) const {
    if constexpr (Kept::KEEPS_ROWS) {
      multiply(rows, count, stride, then, team);
    } else {
      const int given_stride = (steps_ + WIDTH - 1) / WIDTH * WIDTH * Kept::TURNS;
      CacheLines<Given> given(static_cast<std::size_t>(std::min(count, ROWS_GIVEN)) * given_stride);
      for (int first = 0; first < count; first += ROWS_GIVEN) {
        const int taken = std::min(ROWS_GIVEN, count - first);
        float scales[ROWS_GIVEN];
        team.share(taken, [&](int from, int shared) {
          for (int i = from; i < from + shared; ++i) {
            scales[i] = Kept::give(rows + static_cast<std::ptrdiff_t>(first + i) * stride, inputs_,
                                   given.data() + static_cast<std::ptrdiff_t>(i) * given_stride);
          }
        });
        const auto then_finished = [&](int row, int column, const Floats& values) {
          then(first + row, column, finished(values, scales[row], column));
        };
        multiply(given.data(), taken, given_stride, then_finished, team);
      }
    }
  }

 private:
  static constexpr int ROWS_GIVEN = 8 * TILE_ROWS;    // that stay near while panels pass by
  static constexpr int PANEL = WIDTH * TILE_VECTORS;  // columns; the last panel may have fewer

  template <class Then>
  void multiply(const Given* rows, int count, int stride, Then then, Team& team) const {
    team.share((columns_ + PANEL - 1) / PANEL, [&](int first, int panels) {
      for (int panel = first; panel < first + panels; ++panel) {
        multiply_panel(panel, rows, count, stride, then);
      }
    });
  }

  template <class Then>
  void multiply_panel(int number, const Given* rows, int count, int stride, Then then) const {
    const int first = PANEL * number, vectors = vectors_at(first);
    const Element* panel = panels_.data() + static_cast<std::size_t>(steps_) * Kept::INPUTS * first;
    for (int row = 0, tiles = (count + TILE_ROWS - 1) / TILE_ROWS; tiles > 0; --tiles) {
      const int taken = (count - row + tiles - 1) / tiles;  // tiles are as like as can be
      float sums[TILE_ROWS * PANEL];
      sum_tile_of<Element>(taken, vectors)(rows + static_cast<std::ptrdiff_t>(row) * stride, stride,
                                           panel, steps_, &starts_[first], sums);
      for (int i = 0; i < taken * vectors; ++i) {
        const int column = first + WIDTH * (i % vectors);
        then(row + i / vectors, column, scaled(load(sums + WIDTH * i), column));
      }
      row += taken;
    }
  }

  int vectors_at(int column) const { return std::min(TILE_VECTORS, (columns_ - column) / WIDTH); }

  // What an output's sums begin with, see `WeightElement`.
  StartFor<Element> start_of(const LinearWeights& weights, int output) const {
    if constexpr (!Kept::SCALED) return bias_[output];
    if constexpr (!Kept::ROWS_SCALED) return bias_[output] / scales_[output];
    if constexpr (Kept::ROWS_SCALED) {
      std::int32_t sum = 0;
      for (int i = 0; Kept::LIFT != 0 && i < inputs_; ++i) sum += packed(weights, output, i).number;
      return -Kept::LIFT * sum;
    }
  }

  Floats scaled(const Floats& sums, int column) const {
    if constexpr (Kept::SCALED) return sums * load(&scales_[column]);
    return sums;
  }

  // Rounded after each step, so that it is the same on all kinds of processors.
  Floats finished(const Floats& sums, float row_scale, int column) const {
    if constexpr (Kept::ROWS_SCALED) return rounded(sums * row_scale) + load(&bias_[column]);
    return sums;
  }

  // Writes one panel, and returns its end: for each step and output the elements of its inputs.
  Element* pack(const LinearWeights& weights, int first, int width, Element* to) const {
    for (int step = 0; step < steps_; ++step) {
      for (int output = first; output < first + width; ++output) {
        for (int i = 0; i < Kept::INPUTS; ++i) {
          *to++ = packed(weights, output, step * Kept::INPUTS + i);
        }
      }
    }
    return to;
  }

  Element packed(const LinearWeights& weights, int output, int input) const {
    if (output >= weights.outputs || input >= weights.inputs) return Kept::packed(0.0F);
    const float weight = weights.weight[static_cast<std::size_t>(output) * inputs_ + input];
    if constexpr (Kept::SCALED) return Kept::packed(weight / scales_[output]);
    return Kept::packed(weight);
  }

  int inputs_;
  int steps_;
  int columns_;
  std::vector<StartFor<Element>> starts_;  // of each output's sums
  std::vector<float> bias_;
  std::vector<float> scales_;  // of each output; none where weights are kept as they are
  CacheLines<Element> panels_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
