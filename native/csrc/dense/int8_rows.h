// Weights that were stored as int8 a row and stay so, a quarter of a float and half of a bfloat16:
// a layer that waits for its weights waits half as long. They meet rows that are rounded to the
// upper halves of floats, as bfloat16 weights do and in the same order (bfloat16.h); every int8 is
// such a number, so that no weight is rounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "dense/bfloat16.h"
#include "dense/layer_weights.h"
#include "dense/weight_element.h"

namespace earshot::EARSHOT_PROCESSOR {

struct Int8 {
  std::int8_t number;
};

inline constexpr float LARGEST_INT8 = 127.0F;

inline float int8_scale(float largest) {
  return largest > 0.0F ? largest / LARGEST_INT8 : 1.0F;
}

// Whether each row is what int8 times a scale of its own leaves of floats: its largest weight is
// 127 scales, and all are whole numbers of them.
inline bool are_int8_rows(const LinearWeights& weights) {
  constexpr float NEAR = 1e-3F;  // floats are good for 1e-5 of a scale
  for (int output = 0; output < weights.outputs; ++output) {
    const float* row = &weights.weight[static_cast<std::size_t>(output) * weights.inputs];
    const float scale = int8_scale(largest_weight(weights, output));
    for (int i = 0; i < weights.inputs; ++i) {
      const float number = row[i] / scale;
      if (!(std::abs(number - std::nearbyint(number)) < NEAR)) return false;
    }
  }
  return true;
}

template <>
struct WeightElement<Int8> : WeightElement<Bfloat16> {
  static constexpr bool SCALED = true;
  static float scale_of(float largest) { return int8_scale(largest); }
  static Int8 packed(float weight) { return {static_cast<std::int8_t>(std::nearbyint(weight))}; }

#ifdef EARSHOT_AVX512_BF16

  static __m512bh unpacked(const Int8* from, int) {
    return _mm512_cvtne2ps_pbh(half(from + WIDTH), half(from));
  }

 private:
  // Under masks of all, for those without have GCC 12 warn of what they leave undefined.
  static __m512 half(const Int8* from) {
    constexpr __mmask16 ALL = 0xFFFF;
    const __m128i numbers = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_maskz_cvtepi32_ps(ALL, _mm512_maskz_cvtepi8_epi32(ALL, numbers));
  }

#else

  static Part unpacked(const Int8* from, int turn) {
    Pairs pairs;
    std::memcpy(&pairs, from, sizeof pairs);
    const Pairs chosen = turn == 0 ? pairs >> 8 : (pairs << 8) >> 8;
    return __builtin_convertvector(chosen, Part);
  }

 private:
  using Pairs = std::int16_t __attribute__((vector_size(2 * WIDTH / PARTS)));

#endif
};

}  // namespace earshot::EARSHOT_PROCESSOR
