// Weights kept as the upper halves of floats, and rows rounded to such: sums of products in the
// order of the instruction vdpbf16ps, by itself where the processor has it.
//
// Source: Intel, Architecture Instruction Set Extensions, VDPBF16PS and VCVTNE2PS2BF16. Of each
// pair of inputs the second product is added first, then the first, each sum rounded to the nearest
// float. A product of two bfloat16 is a float, so that it does not matter whether it is fused; only
// below 1e-37, which the instruction takes for zero, may kinds of processor differ.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "dense/floats.h"
#include "dense/weight_element.h"

#ifdef EARSHOT_AVX512_BF16
#include <immintrin.h>
#endif

namespace earshot::EARSHOT_PROCESSOR {

struct Bfloat16 {
  std::uint16_t bits;
};

// To the nearest, of two as near the even one; numbers below the least normal one become zeros, NaN
// stays NaN.
inline Bfloat16 bfloat16_of(float number) {
  constexpr std::uint32_t SIGN = 0x80000000U, INFINITE = 0x7F800000U, LEAST_NORMAL = 0x00800000U;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t size = bits & ~SIGN;
  const std::uint32_t nearest = bits + 0x7FFFU + (bits >> 16 & 1U);
  const std::uint32_t chosen = size > INFINITE       ? bits | 0x00400000U
                               : size < LEAST_NORMAL ? bits & SIGN
                                                     : nearest;
  return {static_cast<std::uint16_t>(chosen >> 16)};
}

inline float float_of(Bfloat16 number) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number.bits) << 16);
}

// What both ways to sum have alike: a step is two inputs, whose weights lie side by side.
struct InputPair : FloatSums {
  static constexpr bool SCALED = false, KEEPS_ROWS = false;
  static constexpr int INPUTS = 2;
  static float scale_of(float) { return 1.0F; }
  static Bfloat16 packed(float weight) { return bfloat16_of(weight); }
};

#ifdef EARSHOT_AVX512_BF16

template <>
struct WeightElement<Bfloat16> : InputPair {
  static constexpr int TURNS = 1;
  using Given = std::uint32_t;  // a pair

  static __m512bh unpacked(const Bfloat16* from, int) {
    return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
  }

  static void add(Part& sum, Given given, __m512bh weights) {
    const __m512i pairs = _mm512_set1_epi32(static_cast<int>(given));
    sum = _mm512_dpbf16_ps(sum, weights, reinterpret_cast<__m512bh>(pairs));
  }

  static float give(const float* row, int inputs, Given* to) {
    for (int i = 0; i < inputs; i += 2 * WIDTH, to += WIDTH) {
      const auto low = some(row + i, inputs - i), high = some(row + i + WIDTH, inputs - i - WIDTH);
      const auto pairs = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
      _mm512_mask_storeu_epi32(to, mask_of((inputs - i + 1) / 2), pairs);
    }
    return 1.0F;
  }

 private:
  static __mmask16 mask_of(int count) {
    return static_cast<__mmask16>(count >= WIDTH ? 0xFFFF : (1 << std::max(count, 0)) - 1);
  }
  static __m512 some(const float* from, int count) {
    return _mm512_maskz_loadu_ps(mask_of(count), from);
  }
};

#else

template <>
struct WeightElement<Bfloat16> : InputPair {
  static constexpr int TURNS = 2;
  using Given = float;  // the second of a pair before the first

  static Part unpacked(const Bfloat16* from, int turn) {
    IntegerPart bits;
    std::memcpy(&bits, from, sizeof bits);
    bits = turn == 0 ? bits & static_cast<std::int32_t>(0xFFFF0000U) : bits << 16;
    Part numbers;
    std::memcpy(&numbers, &bits, sizeof numbers);
    return numbers;
  }

  static void add(Part& sum, Given given, Part weights) { sum += given * weights; }

  static float give(const float* row, int inputs, Given* to) {
    for (int i = 0; i < inputs; i += 2, to += 2) {
      to[0] = i + 1 < inputs ? float_of(bfloat16_of(row[i + 1])) : 0.0F;
      to[1] = float_of(bfloat16_of(row[i]));
    }
    return 1.0F;
  }
};

#endif

}  // namespace earshot::EARSHOT_PROCESSOR
