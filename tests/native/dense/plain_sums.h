// Sums as the instruction vdpbf16ps makes them, by plain arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace earshot::EARSHOT_PROCESSOR {

#ifdef EARSHOT_AVX512_BF16
inline constexpr bool BY_INSTRUCTION = true;
#else
inline constexpr bool BY_INSTRUCTION = false;
#endif

inline constexpr float LEAST_NORMAL = std::numeric_limits<float>::min();

inline float flushed(float number) {
  return std::abs(number) < LEAST_NORMAL ? std::copysign(0.0F, number) : number;
}

// The nearest number of 8 bits: by the distance to both neighbours, of two as near the even one.
inline float rounded(float number) {
  if (std::isnan(number) || std::isinf(number)) return number;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(flushed(number));
  const float towards_zero = std::bit_cast<float>(bits & 0xFFFF0000U);
  const float away = std::bit_cast<float>((bits & 0xFFFF0000U) + 0x10000U);
  const double below = std::abs(static_cast<double>(number) - towards_zero);
  const double step =
      std::isinf(away) ? std::ldexp(1.0, 120) : std::abs(static_cast<double>(away) - towards_zero);
  const bool even = (bits >> 16 & 1U) == 0;
  if (number == 0.0F || flushed(number) == 0.0F) return flushed(number);
  return below < step / 2 || (below == step / 2 && even) ? towards_zero : away;
}

// sum + product, rounded once; the instruction takes a sum below the normal ones for zero.
inline float added(float sum, float one, float other) {
  if (!BY_INSTRUCTION) return std::fma(one, other, sum);
  return flushed(std::fma(one, other, flushed(sum)));
}

inline bool same(float one, float other) {
  if (std::isnan(one) || std::isnan(other)) return std::isnan(one) && std::isnan(other);
  return one == other;
}

}  // namespace earshot::EARSHOT_PROCESSOR
