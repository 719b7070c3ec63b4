// How the weights of a packed layer lie in memory, and what a row's numbers become before they meet
// them. Sums are floats whatever the weights are: an element type is a specialisation here, and
// nothing that calls a layer knows it.
#pragma once

#include <algorithm>

#include "dense/floats.h"

namespace earshot::EARSHOT_PROCESSOR {

// A specialisation has
//   scale_of(largest)      what an output's weights are divided by before they are packed; the
//                          largest of them is `largest`. Sums are multiplied by it.
//   packed(weight)         the element that comes closest.
//   unpacked(from, turn)   a register's share of a step: elements of WIDTH / PARTS columns.
//   add(sum, given, them)  adds their products with what a row has.
// and says of the order in which products are summed
//   INPUTS, TURNS          inputs whose elements lie side by side, a step; loads of a step.
//   Given                  what a row has for each turn.
//   give(row, inputs, to)  writes a row's own (none where KEEPS_ROWS), and returns its scale.
//   Sum                    a register of sums. ended(sum): as floats.
//   Start                  what an output's sums begin with. begun(starts, i): of a register's.
// One with a scale of its own for each output (int8) says SCALED; others (bfloat16) need not be
// multiplied. One whose rows have scales as well says ROWS_SCALED: the bias is added at the end;
// and by how much its rows' whole numbers are LIFTed.
template <class Element>
struct WeightElement;

// Sums that are floats from the first product on.
struct FloatSums {
  static constexpr bool ROWS_SCALED = false;
  using Start = float;
  using Sum = Part;
  static Sum begun(const Start* starts, int i) { return load_part(starts, i); }
  static Part ended(Sum sum) { return sum; }
};

// The weights of one input are a step; rows stay as they are.
struct SingleInput : FloatSums {
  static constexpr bool KEEPS_ROWS = true;
  static constexpr int INPUTS = 1, TURNS = 1;
  using Given = float;
  static void add(Part& sum, float given, Part weights) { sum += given * weights; }
};

template <>
struct WeightElement<float> : SingleInput {
  static constexpr bool SCALED = false;
  static float scale_of(float) { return 1.0F; }
  static float packed(float weight) { return weight; }
  static Part unpacked(const float* from, int) { return load_part(from, 0); }
};

}  // namespace earshot::EARSHOT_PROCESSOR
