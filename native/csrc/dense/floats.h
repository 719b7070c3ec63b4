// Sixteen floats at a time, in the registers that the processor has. Sums have the same order on
// all kinds: what is sixteen sums on one is sixteen sums on all.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace earshot::EARSHOT_PROCESSOR {

inline constexpr int WIDTH = 16;

#if defined(EARSHOT_AVX512)
inline constexpr int PARTS = 1;  // registers
#elif defined(EARSHOT_AVX2)
inline constexpr int PARTS = 2;
#else
inline constexpr int PARTS = 4;
#endif

using Part = float __attribute__((vector_size(4 * WIDTH / PARTS)));
using IntegerPart = std::int32_t __attribute__((vector_size(4 * WIDTH / PARTS)));

// Where they lie in memory: anywhere.
using Stored = Part __attribute__((aligned(4), may_alias));

struct Floats {
  Part parts[PARTS];
};

constexpr int padded(int size) {
  return (size + WIDTH - 1) / WIDTH * WIDTH;
}

// Register by register: a copy of whole arrays would go through memory.
inline Part load_part(const float* from, int part) {
  return reinterpret_cast<const Stored*>(from)[part];
}

inline void store_part(float* to, int part, Part values) {
  reinterpret_cast<Stored*>(to)[part] = values;
}

inline Floats load(const float* from) {
  Floats values;
  for (int i = 0; i < PARTS; ++i) values.parts[i] = load_part(from, i);
  return values;
}

inline void store(float* to, const Floats& values) {
  for (int i = 0; i < PARTS; ++i) store_part(to, i, values.parts[i]);
}

// One of `change(part)` for each register.
template <class Change>
inline Floats by_part(Floats values, Change change) {
  for (Part& part : values.parts) part = change(part);
  return values;
}

inline Floats all(float value) {
  return by_part({}, [=](Part zeros) { return zeros + value; });
}

inline Floats operator+(Floats one, const Floats& other) {
  for (int i = 0; i < PARTS; ++i) one.parts[i] += other.parts[i];
  return one;
}

inline Floats operator*(Floats one, const Floats& other) {
  for (int i = 0; i < PARTS; ++i) one.parts[i] *= other.parts[i];
  return one;
}

inline Floats operator+(const Floats& one, float other) {
  return by_part(one, [=](Part part) { return part + other; });
}

inline Floats operator*(const Floats& one, float other) {
  return by_part(one, [=](Part part) { return part * other; });
}

// Products as they are rounded, also where something is added to them.
inline Part rounded(Part products) {
#if defined(__has_builtin) && __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(products);
#else
  asm volatile("" : "+m"(products));
  return products;
#endif
}

inline Floats rounded(const Floats& products) {
  return by_part(products, [](Part part) { return rounded(part); });
}

// sum += one * other, which need not be rounded between.
inline void add_product(Floats& sum, float one, const Floats& other) {
  for (int i = 0; i < PARTS; ++i) sum.parts[i] += one * other.parts[i];
}

inline Floats larger(Floats one, const Floats& other) {
  for (int i = 0; i < PARTS; ++i) {
    one.parts[i] = one.parts[i] > other.parts[i] ? one.parts[i] : other.parts[i];
  }
  return one;
}

inline float sum(const Floats& values) {
  float numbers[WIDTH];
  store(numbers, values);
  for (int half = WIDTH / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) numbers[i] += numbers[i + half];
  }
  return numbers[0];
}

inline float largest(const Floats& values) {
  float numbers[WIDTH];
  store(numbers, values);
  float found = numbers[0];
  for (const float number : numbers) found = number > found ? number : found;
  return found;
}

// e^x within 2 units in the last place, by Cephes' polynomial (Moshier, expf.c); 0 far below.
inline Part exponential(Part x) {
  constexpr float LEAST = -87.0F, MOST = 88.0F, TO_INTEGER = 12582912.0F;  // 1.5 * 2^23
  constexpr float TERMS[] = {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F,
                             5.0000001201e-1F};
  const Part least = Part{} + LEAST, most = Part{} + MOST;
  const Part clamped = x < least ? least : (x > most ? most : x);
  const Part twos = (clamped * 1.44269504088896341F + TO_INTEGER) - TO_INTEGER;
  const Part rest = (clamped - twos * 0.693359375F) + twos * 2.12194440e-4F;
  Part series = Part{} + 1.9875691500e-4F;
  for (const float term : TERMS) series = series * rest + term;
  const Part power = series * rest * rest + rest + 1.0F;
  const IntegerPart scale = (__builtin_convertvector(twos, IntegerPart) + 127) << 23;
  Part factor;
  std::memcpy(&factor, &scale, sizeof factor);
  return x < least ? Part{} : power * factor;
}

inline Floats exponential(const Floats& x) {
  return by_part(x, [](Part part) { return exponential(part); });
}

inline Floats sigmoid(const Floats& x) {
  return by_part(x, [](Part part) { return 1.0F / (1.0F + exponential(-part)); });
}

inline Floats tanh(const Floats& x) {
  return by_part(x, [](Part part) { return 1.0F - 2.0F / (1.0F + exponential(2.0F * part)); });
}

// x Phi(x), within 1e-7 x: Abramowitz and Stegun 1964, 7.1.26.
inline Floats gelu(const Floats& x) {
  return by_part(x, [](Part part) {
    const Part zero{}, size = (part < zero ? -part : part) * 0.70710678118654752F;
    const Part t = 1.0F / (1.0F + 0.3275911F * size);
    Part series = zero + 1.061405429F;
    for (const float term : {-1.453152027F, 1.421413741F, -0.284496736F, 0.254829592F}) {
      series = series * t + term;
    }
    const Part rest = 0.5F * series * t * exponential(-size * size);  // Phi(-|x|)
    return part * (part < zero ? rest : 1.0F - rest);
  });
}

}  // namespace earshot::EARSHOT_PROCESSOR
