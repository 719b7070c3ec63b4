// What PTX's instructions compute, where C++ has no operator that does the same.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace emulator::ptx {

template <class T>
inline constexpr std::uint32_t WIDTH = sizeof(T) * 8;

template <class T>
constexpr T all_ones() {
  return static_cast<T>(~std::make_unsigned_t<T>{0});
}

// Shifts by the width and more leave nothing, or the sign.
template <class T>
T left(T value, std::uint32_t by) {
  return by >= WIDTH<T> ? T{0} : static_cast<T>(std::uint64_t{value} << by);
}
template <class T>
T right(T value, std::uint32_t by) {
  if (by < WIDTH<T>) return static_cast<T>(value >> by);
  return value < 0 ? all_ones<T>() : T{0};
}
inline std::uint32_t funnel_left(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(both << std::min(by, 32u) >> 32);
}
inline std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(both >> std::min(by, 32u));
}

// Bit 4a + 2b + c of the table is what the bits a, b and c give.
inline std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (int row = 0; row < 8; ++row) {
    const std::uint32_t met = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    if (table >> row & 1) result |= met;
  }
  return result;
}

// Each hexadecimal digit of the selector names one of eight bytes; its top bit asks for the sign.
inline std::uint32_t permute(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t digit = selector >> 4 * i & 15;
    std::uint32_t byte = both >> 8 * (digit & 7) & 255;
    if (digit & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

// Fields: of position and length only the low byte counts, what lies outside is 0 or the sign.
template <class T>
T extract(T value, std::uint32_t position, std::uint32_t length) {
  using U = std::make_unsigned_t<T>;
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  const std::uint32_t top = std::min(position + length - 1, WIDTH<T> - 1);
  const bool negative = std::is_signed_v<T> && (static_cast<U>(value) >> top & 1) != 0;
  U field = right<U>(static_cast<U>(value), position);
  if (position + length > WIDTH<T>) length = position < WIDTH<T> ? WIDTH<T> - position : 0;
  const U mask = length >= WIDTH<T> ? all_ones<U>() : left<U>(1, length) - 1;
  field = (field & mask) | (negative ? static_cast<U>(~mask) : U{0});
  return static_cast<T>(field);
}
template <class T>
T insert(T field, T into, std::uint32_t position, std::uint32_t length) {
  position &= 255;
  length &= 255;
  const T ones = length >= WIDTH<T> ? all_ones<T>() : static_cast<T>(left<T>(1, length) - 1);
  const T mask = left<T>(ones, position);
  return (into & ~mask) | (left<T>(field, position) & mask);
}
template <class T>
T reversed(T value) {
  T result = 0;
  for (std::uint32_t i = 0; i < WIDTH<T>; ++i) result = result << 1 | (value >> i & 1);
  return result;
}
// The highest bit that is not like the sign, or -1.
template <class T>
std::uint32_t leading(T value) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(value < 0 ? ~value : value);
  return WIDTH<T> - 1 - static_cast<std::uint32_t>(std::countl_zero(bits));
}
template <class T>
std::uint32_t leading_shift(T value) {
  const std::uint32_t bit = leading(value);
  return bit == ~0u ? bit : WIDTH<T> - 1 - bit;
}

template <class T>
T high_product(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(Wide{a} * Wide{b} >> WIDTH<T>);
}
// What PTX leaves open is what GPUs do: x / 0 has all bits set, x % 0 is x.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return all_ones<T>();
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <class T>
std::make_unsigned_t<T> magnitude(T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  return static_cast<std::make_unsigned_t<T>>(value < 0 ? 0u - bits : bits);
}
template <class T>
T sum(T a, T b, bool carry_in, bool& carry_out) {
  const auto whole = static_cast<unsigned __int128>(a) + b + carry_in;
  carry_out = (whole >> WIDTH<T> & 1) != 0;
  return static_cast<T>(whole);
}
template <class T>
T difference(T a, T b, bool borrow_in, bool& borrow_out) {
  const auto whole = static_cast<unsigned __int128>(a) - b - borrow_in;
  borrow_out = (whole >> WIDTH<T> & 1) != 0;
  return static_cast<T>(whole);
}

// Of a number and a NaN the number; -0 is less than +0.
template <class T>
T lesser(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T lesser_or_nan(T a, T b) {
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : lesser(a, b);
}
template <class T>
T greater_or_nan(T a, T b) {
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : greater(a, b);
}

// Of a whole number; what lies outside the type becomes its end. A NaN becomes the top bit where
// 64 bits are converted from or to, else 0.
template <class To, class From>
To to_integer(From value) {
  constexpr To LOWEST = std::numeric_limits<To>::min();
  constexpr To HIGHEST = std::numeric_limits<To>::max();
  if (value != value) {
    const bool is_wide = sizeof(From) == 8 || sizeof(To) == 8;
    return is_wide ? static_cast<To>(std::uint64_t{1} << (WIDTH<To> - 1)) : To{0};
  }
  if (value <= static_cast<From>(LOWEST)) return LOWEST;
  // Where the end is no floating-point number, the next one is, and lies outside.
  if (value >= static_cast<From>(HIGHEST)) return HIGHEST;
  return static_cast<To>(value);
}

enum class Rounding { NEAREST, ZERO, DOWN, UP };

// 64-bit integers and f64 are exact as long double.
static_assert(std::numeric_limits<long double>::digits >= 64);
template <class To, Rounding ROUNDING, class From>
To to_float(From value) {
  const To nearest = static_cast<To>(value);
  if constexpr (ROUNDING == Rounding::NEAREST) return nearest;
  const long double exact = value;
  const long double error = static_cast<long double>(nearest) - exact;
  constexpr To INFINITE = std::numeric_limits<To>::infinity();
  const bool is_down = ROUNDING == Rounding::DOWN || (ROUNDING == Rounding::ZERO && exact > 0);
  if (is_down && error > 0) return std::nextafter(nearest, -INFINITE);
  if (!is_down && error < 0) return std::nextafter(nearest, INFINITE);
  return nearest;
}

// Saturation, to 0 … 1 or to the ends of a smaller type.
template <class T>
T to_unit(T value) {
  return value > 0 ? std::min(value, T{1}) : T{0};
}
template <class To, class From>
To to_nearest(From value) {
  const auto low = static_cast<__int128>(std::numeric_limits<To>::min());
  const auto high = static_cast<__int128>(std::numeric_limits<To>::max());
  return static_cast<To>(std::clamp(static_cast<__int128>(value), low, high));
}

}  // namespace emulator::ptx
