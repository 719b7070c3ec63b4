// log(exp(a) + exp(b)) in double precision, with the same bits on every target.
//
// The C library and CUDA round exp and log differently, and one bit decides a tie. So both are
// written out here in IEEE additions, multiplications and divisions, which every compiler rounds
// alike as long as it fuses none of them (see the flags in CMakeLists.txt). prefix_oracle.py holds
// the same steps. The error is below 2 units in the last place of the larger argument.
#pragma once

#include <limits>

#include "block/block.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr double MINUS_INFINITY = -std::numeric_limits<double>::infinity();

// c[0] + c[1] x + c[2] x^2 + ..., by Estrin's scheme: pairs first, so that few steps wait for
// others.
template <int N>
KERNEL_FN double polynomial(const double (&c)[N], double x) {
  double pairs[N / 2] = {};
  for (int i = 0; i < N / 2; ++i) pairs[i] = c[2 * i] + c[2 * i + 1] * x;
  if constexpr (N == 2) {
    return pairs[0];
  } else {
    return polynomial(pairs, x * x);
  }
}

// exp(-x) for 0 <= x < 40: 2^-k exp(r) with |r| <= ln(2) / 2, exp(r) by its Taylor series.
KERNEL_FN double exp_of_minus(double x) {
  constexpr double LOG2_E = 1.4426950408889634;
  constexpr double LN2_HIGH = 0.6931471803691238;  // 32 bits, so that k * LN2_HIGH is exact
  constexpr double LN2_LOW = 1.9082149292705877e-10;
  constexpr double INVERSE_FACTORIALS[16] = {
      1.0,
      1.0,
      1.0 / 2.0,
      1.0 / 6.0,
      1.0 / 24.0,
      1.0 / 120.0,
      1.0 / 720.0,
      1.0 / 5040.0,
      1.0 / 40320.0,
      1.0 / 362880.0,
      1.0 / 3628800.0,
      1.0 / 39916800.0,
      1.0 / 479001600.0,
      1.0 / 6227020800.0,
      1.0 / 87178291200.0,
      1.0 / 1307674368000.0,
  };
  const int k = static_cast<int>(x * LOG2_E + 0.5);
  const double r = (k * LN2_HIGH - x) + k * LN2_LOW;
  return polynomial(INVERSE_FACTORIALS, r) / static_cast<double>(1LL << k);
}

// log(1 + y) for 0 <= y <= 1: 2 atanh(s) with s = y / (2 + y) <= 1/3, by its Taylor series.
KERNEL_FN double log_of_one_plus(double y) {
  constexpr double INVERSE_ODD[16] = {
      1.0,        1.0 / 3.0,  1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0,
      1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0, 1.0 / 23.0,
      1.0 / 25.0, 1.0 / 27.0, 1.0 / 29.0, 1.0 / 31.0,
  };
  const double s = y / (2.0 + y);
  return 2.0 * s * polynomial(INVERSE_ODD, s * s);
}

KERNEL_FN double log_add(double a, double b) {
  constexpr double NEGLIGIBLE = 40.0;  // exp(-40) is far below the last bit of any sum
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  if (low == MINUS_INFINITY || high - low >= NEGLIGIBLE) return high;
  return high + log_of_one_plus(exp_of_minus(high - low));
}

}  // namespace earshot::EARSHOT_BACKEND
