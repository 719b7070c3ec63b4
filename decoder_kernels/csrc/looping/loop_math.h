// Functions of floats as the CPU's loop has them (native/csrc/dense/floats.h), one at a time.
#pragma once

#include "block/block_cuda.h"
#include "head/joint_activation.h"

namespace earshot::cuda {

// e^x within 2 units in the last place, by Cephes' polynomial (Moshier, expf.c); 0 far below.
KERNEL_FN float exponential(float x) {
  constexpr float LEAST = -87.0F, MOST = 88.0F, TO_INTEGER = 12582912.0F;  // 1.5 * 2^23
  constexpr float TERMS[] = {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F,
                             5.0000001201e-1F};
  const float clamped = x < LEAST ? LEAST : (x > MOST ? MOST : x);
  const float twos = (clamped * 1.44269504088896341F + TO_INTEGER) - TO_INTEGER;
  const float rest = (clamped - twos * 0.693359375F) + twos * 2.12194440e-4F;
  float series = 1.9875691500e-4F;
  for (const float term : TERMS) series = series * rest + term;
  const float power = series * rest * rest + rest + 1.0F;
  return x < LEAST ? 0.0F : power * __int_as_float((static_cast<int>(twos) + 127) << 23);
}

KERNEL_FN float sigmoid(float x) {
  return 1.0F / (1.0F + exponential(-x));
}

KERNEL_FN float hyperbolic_tangent(float x) {
  return 1.0F - 2.0F / (1.0F + exponential(2.0F * x));
}

KERNEL_FN float activated(JointActivation activation, float x) {
  switch (activation) {
    case JointActivation::RELU:
      return x < 0.0F ? 0.0F : x;  // NaN stays NaN
    case JointActivation::SIGMOID:
      return sigmoid(x);
    case JointActivation::TANH:
      return hyperbolic_tangent(x);
  }
  return x;
}

}  // namespace earshot::cuda
