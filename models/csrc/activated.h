// The activations that networks name, of sixteen numbers.
#pragma once

#include "dense/floats.h"
#include "network_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

inline Floats activated(Activation activation, const Floats& x) {
  switch (activation) {
    case Activation::SWISH:
      return x * sigmoid(x);
    case Activation::RELU:
      return larger(Floats{}, x);  // NaN stays NaN
    case Activation::GELU:
      return gelu(x);
  }
  return x;
}

}  // namespace earshot::EARSHOT_PROCESSOR
