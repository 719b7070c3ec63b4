// log(exp(a) + exp(b)) in double precision, with the same bits on every target.
//
// The C library and CUDA round exp and log differently, and one bit decides a tie. So both are
// written out here in IEEE additions, multiplications and divisions, which every compiler rounds
// alike as long as it fuses none of them (see the flags in CMakeLists.txt). oracle.py holds the
// same steps. The error is below 2 units in the last place of the larger argument.
#pragma once

#include <limits>

#include "block.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr double MINUS_INFINITY = -std::numeric_limits<double>::infinity();

// exp(-x) for 0 <= x < 40: 2^-k exp(r) with |r| <= ln(2) / 2, exp(r) by its Taylor series.
KERNEL_FN double exp_of_minus(double x) {
  constexpr double LOG2_E = 1.4426950408889634;
  constexpr double LN2_HIGH = 0.6931471803691238;  // 32 bits, so that k * LN2_HIGH is exact
  constexpr double LN2_LOW = 1.9082149292705877e-10;
  const int k = static_cast<int>(x * LOG2_E + 0.5);
  const double r = (k * LN2_HIGH - x) + k * LN2_LOW;
  double factorial = 6227020800.0;  // of 13; exact, so that every coefficient is rounded once
  double series = 1.0 / factorial;
  for (int n = 13; n > 0; --n) {
    factorial /= n;
    series = series * r + 1.0 / factorial;
  }
  return series / static_cast<double>(1LL << k);
}

// log(1 + y) for 0 <= y <= 1: 2 atanh(s) with s = y / (2 + y) <= 1/3, by its Taylor series.
KERNEL_FN double log_of_one_plus(double y) {
  const double s = y / (2.0 + y);
  const double square = s * s;
  double series = 0.0;
  for (int n = 33; n > 0; n -= 2) series = series * square + 1.0 / n;
  return 2.0 * s * series;
}

KERNEL_FN double log_add(double a, double b) {
  constexpr double NEGLIGIBLE = 40.0;  // exp(-40) is far below the last bit of any sum
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  if (low == MINUS_INFINITY || high - low >= NEGLIGIBLE) return high;
  return high + log_of_one_plus(exp_of_minus(high - low));
}

}  // namespace earshot::EARSHOT_BACKEND
