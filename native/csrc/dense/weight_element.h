// How the weights of a packed layer lie in memory. Rows and sums are floats whatever the weights
// are: an element type is a specialisation here, and nothing that calls a layer knows it.
#pragma once

#include "dense/floats.h"

namespace earshot::EARSHOT_PROCESSOR {

// A specialisation has
//   scale_of(largest)      what an output's weights are divided by before they are packed; the
//                          largest of them is `largest`. Sums are multiplied by it.
//   packed(weight)         the element that comes closest.
//   unpacked(from, part)   the floats of a register: WIDTH / PARTS elements from `part` on.
// One with a scale of its own for each output (int8) says SCALED; others (bfloat16) need not be
// multiplied.
template <class Element>
struct WeightElement;

template <>
struct WeightElement<float> {
  static constexpr bool SCALED = false;
  static float scale_of(float) { return 1.0F; }
  static float packed(float weight) { return weight; }
  static Part unpacked(const float* from, int part) { return load_part(from, part); }
};

}  // namespace earshot::EARSHOT_PROCESSOR
