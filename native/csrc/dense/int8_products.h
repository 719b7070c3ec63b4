// Weights as int8 and rows as whole numbers, each output and each row with a scale of its own:
// products are whole, and their sums exact. So a row has the same sums in any company and on every
// kind of processor, which floats have not; from the same row come the same bits.
//
// Weights fill memory, rows do not: rows of 16 bits cost none, and where 8 were what changed words,
// they change none (decision 0173). In 8 bits AVX-512 with VNNI sums twice as many products at once
// (decision 0176).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "dense/floats.h"
#include "dense/int8_rows.h"
#include "dense/weight_element.h"

#if defined(EARSHOT_AVX2) || defined(EARSHOT_AVX512)
#include <immintrin.h>
#endif

namespace earshot::EARSHOT_PROCESSOR {

// An int8 weight that meets rows of whole numbers of so many bits; `Int8` meets rounded floats.
template <int ROW_BITS>
struct Int8Product {
  std::int8_t number;
};

// Below it rows and weights are zeros: largest numbers divided by less are infinite.
inline constexpr float NEXT_TO_NOTHING = 1e-33F;

// The largest of a row's whole numbers: of that many bits, or fewer, for that many inputs times the
// largest weight leave no sum of 32 bits. Sums have room for 16 up to 516 inputs, for 13 up to
// 4,129, and for 8 up to 133,000.
constexpr int largest_of_row(int bits, int inputs) {
  constexpr int LARGEST_SUM = 2147483647;
  return std::min((1 << (bits - 1)) - 1, LARGEST_SUM / (static_cast<int>(LARGEST_INT8) * inputs));
}

// What a row is multiplied by to be whole numbers, and what its sums are multiplied by. Both are
// NaN for a row in which a number is not finite.
struct RowScale {
  float to_whole;
  float from_whole;
};

// Sixteen of a row's numbers, zeros behind the last.
inline Floats some_of(const float* row, int left) {
  if (left >= WIDTH) return load(row);
  float numbers[WIDTH] = {};
  std::copy_n(row, left, numbers);
  return load(numbers);
}

inline RowScale scale_of_row(const float* row, int bits, int inputs) {
  Floats most{}, spoiled{};
  for (int i = 0; i < inputs; i += WIDTH) {
    const Floats own = some_of(row + i, inputs - i);
    spoiled = spoiled + own * 0.0F;
    most = larger(larger(own, own * -1.0F), most);
  }
  const float peak = largest(most), not_a_number = sum(spoiled);
  if (!(not_a_number == 0.0F)) return {not_a_number, not_a_number};
  if (peak < NEXT_TO_NOTHING) return {0.0F, 0.0F};
  const auto own = static_cast<float>(largest_of_row(bits, inputs));
  return {own / peak, peak / own};
}

// Sixteen whole numbers; anything where they are not finite.
inline void to_whole(const Floats& numbers, float scale, std::int32_t* to) {
  constexpr float TO_INTEGER = 12582912.0F;  // 1.5 * 2^23
  for (int i = 0; i < PARTS; ++i) {
    const Part scaled = rounded(numbers.parts[i] * scale);
    const IntegerPart whole =
        __builtin_convertvector((scaled + TO_INTEGER) - TO_INTEGER, IntegerPart);
    std::memcpy(to + i * (WIDTH / PARTS), &whole, sizeof whole);
  }
}

template <int ROW_BITS>
struct WholeSums {
  static constexpr bool SCALED = true, ROWS_SCALED = true, KEEPS_ROWS = false;
  static constexpr int TURNS = 1, LIFT = 0;
  using Start = std::int32_t;
  using Sum = IntegerPart;

  static Sum begun(const Start* start, int i) {
    Sum sum;
    std::memcpy(&sum, start + i * (WIDTH / PARTS), sizeof sum);
    return sum;
  }
  static Part ended(Sum sum) { return __builtin_convertvector(sum, Part); }

  // NaN stays NaN.
  static float scale_of(float largest) {
    return largest < NEXT_TO_NOTHING ? 1.0F : largest / LARGEST_INT8;
  }
  static Int8Product<ROW_BITS> packed(float weight) {
    const float whole = std::nearbyint(weight);
    return {static_cast<std::int8_t>(std::abs(whole) <= LARGEST_INT8 ? whole : 0.0F)};
  }

 protected:
  // Gives `write(first, numbers)` a row's numbers, sixteen at a time.
  template <class Write>
  static float give_whole(const float* row, int inputs, Write write) {
    const RowScale scale = scale_of_row(row, ROW_BITS, inputs);
    for (int i = 0; i < inputs; i += WIDTH) {
      std::int32_t numbers[WIDTH];
      to_whole(some_of(row + i, inputs - i), scale.to_whole, numbers);
      write(i, numbers);
    }
    return scale.from_whole;
  }
};

#if defined(EARSHOT_AVX2) || defined(EARSHOT_AVX512)

// Two inputs a step, weights widened to 16 bits (vpmaddwd, or vpdpwssd which adds as well).
template <int ROW_BITS>
struct WeightElement<Int8Product<ROW_BITS>> : WholeSums<ROW_BITS> {
  static constexpr int INPUTS = 2;
  using Given = std::uint32_t;
  using typename WholeSums<ROW_BITS>::Sum;

#ifdef EARSHOT_AVX512

  static __m512i unpacked(const Int8Product<ROW_BITS>* from, int) {
    constexpr __mmask32 ALL = 0xFFFFFFFF;
    const auto* bytes = reinterpret_cast<const __m256i*>(from);
    return _mm512_maskz_cvtepi8_epi16(ALL, _mm256_loadu_si256(bytes));
  }

  static void add(Sum& sum, Given given, __m512i weights) {
    const __m512i inputs = _mm512_set1_epi32(static_cast<int>(given));
#ifdef EARSHOT_AVX512_BF16
    const auto before = reinterpret_cast<__m512i>(sum);
    sum = reinterpret_cast<Sum>(_mm512_dpwssd_epi32(before, inputs, weights));
#else
    sum += reinterpret_cast<Sum>(_mm512_madd_epi16(inputs, weights));
#endif
  }

#else

  static __m256i unpacked(const Int8Product<ROW_BITS>* from, int) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  static void add(Sum& sum, Given given, __m256i weights) {
    const __m256i inputs = _mm256_set1_epi32(static_cast<int>(given));
    sum += reinterpret_cast<Sum>(_mm256_madd_epi16(inputs, weights));
  }

#endif

  static float give(const float* row, int inputs, Given* to) {
    return WholeSums<ROW_BITS>::give_whole(
        row, inputs, [&](int first, const std::int32_t* numbers) {
          for (int i = 0; i < WIDTH; i += INPUTS) {
            to[(first + i) / INPUTS] = static_cast<std::uint16_t>(numbers[i]) |
                                       static_cast<std::uint32_t>(numbers[i + 1]) << 16;
          }
        });
  }
};

#else

template <int ROW_BITS>
struct WeightElement<Int8Product<ROW_BITS>> : WholeSums<ROW_BITS> {
  static constexpr int INPUTS = 1;
  using Given = std::int32_t;
  using typename WholeSums<ROW_BITS>::Sum;

  static Sum unpacked(const Int8Product<ROW_BITS>* from, int) {
    using Bytes = std::int8_t __attribute__((vector_size(WIDTH / PARTS)));
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return __builtin_convertvector(bytes, Sum);
  }

  static void add(Sum& sum, Given given, Sum weights) { sum += given * weights; }

  static float give(const float* row, int inputs, Given* to) {
    return WholeSums<ROW_BITS>::give_whole(
        row, inputs,
        [&](int first, const std::int32_t* numbers) { std::copy_n(numbers, WIDTH, to + first); });
  }
};

#endif

#ifdef EARSHOT_AVX512_BF16

// Four inputs a step (vpdpbusd), the row's lifted to 1 … 255, for which sums begin lower.
template <>
struct WeightElement<Int8Product<8>> : WholeSums<8> {
  static constexpr int INPUTS = 4, LIFT = 128;
  using Given = std::uint32_t;

  static __m512i unpacked(const Int8Product<8>* from, int) { return _mm512_loadu_si512(from); }

  static void add(Sum& sum, Given given, __m512i weights) {
    const __m512i inputs = _mm512_set1_epi32(static_cast<int>(given));
    const auto before = reinterpret_cast<__m512i>(sum);
    sum = reinterpret_cast<Sum>(_mm512_dpbusd_epi32(before, inputs, weights));
  }

  static float give(const float* row, int inputs, Given* to) {
    return give_whole(row, inputs, [&](int first, const std::int32_t* numbers) {
      const __m512i lifted = _mm512_add_epi32(_mm512_loadu_si512(numbers), _mm512_set1_epi32(LIFT));
      constexpr __mmask16 ALL = 0xFFFF;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + first / INPUTS),
                       _mm512_maskz_cvtepi32_epi8(ALL, lifted));
    });
  }
};

#endif

}  // namespace earshot::EARSHOT_PROCESSOR
