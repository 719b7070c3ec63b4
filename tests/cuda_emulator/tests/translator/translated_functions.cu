// Functions of eight words that give eight words, for the device and for the host.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

#ifdef __CUDACC__
#define FUNCTION __device__
#define APART __device__ __noinline__
#define TABLE __device__ const
#define ENTRY(name)                                           \
  extern "C" __global__ void name(const u64* from, u64* to) { \
    name##_of(from, to);                                      \
  }
#else
#define FUNCTION inline
#define APART __attribute__((noinline))
#define TABLE const
#define ENTRY(name)                                       \
  extern "C" void host_##name(const u64* from, u64* to) { \
    name##_of(from, to);                                  \
  }
inline int __clzll(s64 value) {
  return std::countl_zero(static_cast<u64>(value));
}
inline int __clz(s32 value) {
  return std::countl_zero(static_cast<u32>(value));
}
inline int __popcll(u64 value) {
  return std::popcount(value);
}
inline int __ffsll(s64 value) {
  return __builtin_ffsll(value);
}
inline int __ffs(s32 value) {
  return __builtin_ffs(value);
}
inline u64 __brevll(u64 value) {
  u64 result = 0;
  for (int i = 0; i < 64; ++i) result = result << 1 | (value >> i & 1);
  return result;
}
inline u32 __brev(u32 value) {
  return static_cast<u32>(__brevll(value) >> 32);
}
inline u32 __funnelshift_l(u32 low, u32 high, u32 by) {
  return static_cast<u32>(((u64{high} << 32 | low) << (by & 31)) >> 32);
}
inline u32 __byte_perm(u32 low, u32 high, u32 selector) {
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 digit = selector >> 4 * i & 7;
    result |= static_cast<u32>((u64{high} << 32 | low) >> 8 * digit & 255) << 8 * i;
  }
  return result;
}
#endif

FUNCTION double number(u64 word) {
  return static_cast<double>(static_cast<s64>(word) >> 12) / 7.0;
}
FUNCTION u64 pattern(double value) {
  u64 word;
  memcpy(&word, &value, sizeof word);
  return value == value ? word : 1;
}

FUNCTION void integer_mixture_of(const u64* from, u64* to) {
  const u32 a = static_cast<u32>(from[0]), b = static_cast<u32>(from[1] >> 7);
  const s32 c = static_cast<s32>(from[2]), d = static_cast<s32>(from[3] >> 9);
  to[0] = (a * b) ^ (a & ~b) ^ (a | (b << 3));
  to[1] = static_cast<u64>(static_cast<s64>(c) * d - c);
  to[2] = static_cast<u64>(static_cast<s64>(c < d ? c >> (d & 31) : d - c));
  to[3] = a > b ? a - b : u64{b} + a + (u64{a} << 33);
  to[4] = static_cast<u64>(c > 0 && d > 0) << 1 | static_cast<u64>(c != d || a == b);
  to[5] = (from[4] >> (from[5] & 63)) + (from[5] << (from[4] & 63));
  to[6] = static_cast<u64>(static_cast<s64>(from[6]) >> (from[7] & 63));
  to[7] = from[6] < from[7] ? from[6] : from[7] ^ (a > 5 ? 3u : 1u);
}
ENTRY(integer_mixture)

FUNCTION void double_mixture_of(const u64* from, u64* to) {
  const double a = number(from[0]), b = number(from[1]), c = number(from[2]);
  to[0] = pattern(a * b + c);
  to[1] = pattern(a / b);
  to[2] = pattern(std::sqrt(a < 0 ? -a : a) - b);
  to[3] = pattern(a < b ? c : b < c ? a : b);
  to[4] = static_cast<u64>(static_cast<s64>(a * 0.001));
  to[5] = pattern(static_cast<double>(from[3]) + static_cast<s32>(from[4]));
  to[6] = pattern(std::fma(a, b, c));
  to[7] = (a <= b) + 2 * (b >= c) + 4 * (a != c) + 8 * !(a > b);
}
ENTRY(double_mixture)

struct Record {
  u64 key;
  double weight;
  s32 next;
  u16 flags;
  u8 kind;
};
FUNCTION Record record(const u64* from) {
  return {from[0], number(from[1]), static_cast<s32>(from[2]), static_cast<u16>(from[3]),
          static_cast<u8>(from[4])};
}
APART Record older(Record one, Record other) {
  Record result = one.key < other.key ? one : other;
  result.next += one.flags - other.kind;
  return result;
}
FUNCTION void struct_copies_of(const u64* from, u64* to) {
  const Record result = older(record(from), record(from + 3));
  to[0] = result.key;
  to[1] = pattern(result.weight);
  to[2] = static_cast<u64>(static_cast<s64>(result.next));
  to[3] = result.flags;
  to[4] = result.kind;
  to[5] = to[6] = to[7] = 0;
}
ENTRY(struct_copies)

FUNCTION void loops_of(const u64* from, u64* to) {
  for (int i = 0; i < 8; ++i) {
    u64 state = from[i] | 1;
    u32 steps = 0;
    while (state != 1 && steps < 100 + static_cast<u32>(i)) {
      if (steps == 90 && (state & 2) != 0) break;
      state = state % 2 == 0 ? state / 2 : 3 * state + 1;
      ++steps;
    }
    to[i] = state << 8 | steps;
  }
}
ENTRY(loops)

FUNCTION void chosen_of(const u64* from, u64* to) {
  for (int i = 0; i < 8; ++i) {
    const u64 word = from[i];
    switch (word >> 1 & 15) {
      case 0:
        to[i] = word + 7;
        break;
      case 1:
        to[i] = word * 3;
        break;
      case 2:
        to[i] = ~word;
        break;
      case 3:
        to[i] = word >> 5;
        [[fallthrough]];
      case 4:
        to[i] = word ^ 0x5555;
        break;
      case 5:
        to[i] = word - (word << 2);
        break;
      case 6:
        to[i] = word / 10;
        break;
      case 7:
        to[i] = word % 1000003;
        break;
      case 8:
        to[i] = word << 40;
        break;
      case 15:
        to[i] = 99;
        break;
      default:
        to[i] = static_cast<u64>(i);
    }
  }
}
ENTRY(chosen)

FUNCTION void local_arrays_of(const u64* from, u64* to) {
  u32 heap[16];
  for (int i = 0; i < 16; ++i) heap[i] = static_cast<u32>(from[i / 2] >> 32 * (i & 1));
  for (int i = 1; i < 16; ++i) {
    for (int j = i; j > 0 && heap[j] < heap[j - 1]; --j) {
      const u32 moved = heap[j];
      heap[j] = heap[j - 1];
      heap[j - 1] = moved;
    }
  }
  for (int i = 0; i < 8; ++i) to[i] = u64{heap[(from[i] & 15)]} << 32 | heap[2 * i];
}
ENTRY(local_arrays)

APART u64 mixed(u64 a, u32 b, double c, u8 d) {
  return (a ^ b) * 0x9E3779B97F4A7C15ull + static_cast<u64>(static_cast<s64>(c)) + d;
}
APART void swap_if(bool condition, u64* a, u64* b) {
  if (!condition) return;
  const u64 moved = *a;
  *a = *b;
  *b = moved;
}
APART float halved(float value) {
  return value * 0.5f;
}
FUNCTION void calls_of(const u64* from, u64* to) {
  u64 pair[2] = {mixed(from[0], static_cast<u32>(from[1]), 12.5, static_cast<u8>(from[2])),
                 mixed(from[3], 7, number(from[4] >> 20), 255)};
  swap_if(pair[0] < pair[1], pair, pair + 1);
  to[0] = pair[0];
  to[1] = pair[1];
  to[2] = static_cast<u64>(halved(static_cast<float>(static_cast<u32>(from[5]))));
  for (int i = 3; i < 8; ++i) to[i] = (from[i] & 1) != 0 ? mixed(from[i], 1, 2.0, 3) : 0;
}
ENTRY(calls)

FUNCTION void wide_products_of(const u64* from, u64* to) {
  using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(from[0]) * from[1];
  const Wide sum = product + from[2] - (static_cast<Wide>(from[3]) << 64);
  to[0] = static_cast<u64>(sum);
  to[1] = static_cast<u64>(sum >> 64);
  to[2] = static_cast<u64>(
      static_cast<__int128>(static_cast<s64>(from[4])) * static_cast<s64>(from[5]) >> 64);
  to[3] = from[6] / 1000000007u;
  to[4] = static_cast<u64>(static_cast<s64>(from[6]) / 10);
  to[5] = static_cast<u64>(static_cast<s64>(static_cast<s32>(from[7])) * static_cast<s32>(from[0]));
  to[6] = u64{static_cast<u32>(from[7])} * static_cast<u32>(from[1]) + from[2];
  to[7] = from[3] * from[4] * from[5];
}
ENTRY(wide_products)

FUNCTION void bit_operations_of(const u64* from, u64* to) {
  to[0] = static_cast<u64>(__clzll(static_cast<s64>(from[0])));
  to[1] = static_cast<u64>(__ffsll(static_cast<s64>(from[1])));
  to[2] = static_cast<u64>(__popcll(from[2]));
  to[3] = __brevll(from[3]);
  to[4] =
      static_cast<u64>(__clz(static_cast<s32>(from[4]))) << 32 | __brev(static_cast<u32>(from[4]));
  to[5] = __funnelshift_l(static_cast<u32>(from[5]), static_cast<u32>(from[6]),
                          static_cast<u32>(from[7]));
  to[6] = __byte_perm(static_cast<u32>(from[5]), static_cast<u32>(from[6]), 0x7250);
  to[7] = static_cast<u64>(__ffs(static_cast<s32>(from[7]))) + (from[7] >> 13 & 0x3FF);
}
ENTRY(bit_operations)

FUNCTION void floats_of(const u64* from, u64* to) {
  const float a = static_cast<float>(static_cast<s32>(from[0])) * 0.001f;
  const float b = static_cast<float>(static_cast<s32>(from[1] >> 3)) / 3.0f;
  to[0] = std::bit_cast<u32>(a * b);
  to[1] = std::bit_cast<u32>(a + b);
  to[2] = std::bit_cast<u32>(fminf(a, b)) + std::bit_cast<u32>(fmaxf(a, 0.25f));
  to[3] = std::bit_cast<u32>(floorf(a) - rintf(b * 0.01f) + truncf(a * 0.1f));
  to[4] = std::bit_cast<u32>(fabsf(b) + ceilf(a));
  to[5] = pattern(fmin(number(from[2]), floor(number(from[3]))) + fabs(number(from[4])));
  to[6] = std::bit_cast<u32>(static_cast<float>(number(from[5])));
  to[7] = std::bit_cast<u32>(static_cast<float>(from[6])) + (a < b) + (a == a);
}
ENTRY(floats)

TABLE double WEIGHTS[8] = {0.5, -1.25, 1e-300, 3.0, 1e10, -0.0, 7.75, 0.1};
TABLE u16 STEPS[5] = {1, 10, 100, 1000, 65535};
FUNCTION void tables_of(const u64* from, u64* to) {
  constexpr s8 SIGNS[4] = {1, -1, 0, -128};
  for (int i = 0; i < 8; ++i) {
    to[i] = pattern(WEIGHTS[from[i] & 7]) + STEPS[from[i] % 5] +
            static_cast<u64>(static_cast<s64>(SIGNS[from[i] >> 5 & 3]));
  }
}
ENTRY(tables)

FUNCTION void narrow_of(const u64* from, u64* to) {
  const s8* bytes = reinterpret_cast<const s8*>(from);
  const u16* halves = reinterpret_cast<const u16*>(from);
  s32 sum = 0;
  u16 product = 1;
  s8 wrapped = 0;
  for (int i = 0; i < 64; ++i) {
    sum += bytes[i];
    wrapped = static_cast<s8>(wrapped + bytes[i] * 3);
  }
  for (int i = 0; i < 32; ++i) product = static_cast<u16>(product * (halves[i] | 1));
  to[0] = static_cast<u64>(static_cast<s64>(sum));
  to[1] = product;
  to[2] = static_cast<u64>(static_cast<s64>(wrapped));
  u8* written = reinterpret_cast<u8*>(to + 3);
  for (int i = 0; i < 40; ++i) written[i] = static_cast<u8>(bytes[i] >> 2);
}
ENTRY(narrow)

FUNCTION void divisions_of(const u64* from, u64* to) {
  const s32 a = static_cast<s32>(from[0]), b = static_cast<s32>(from[1] | 4) & 0x7FFFFFFF;
  const u64 c = from[2], d = from[3] | 2;
  to[0] = static_cast<u64>(static_cast<s64>(a / b));
  to[1] = static_cast<u64>(static_cast<s64>(a % b));
  to[2] = c / d;
  to[3] = c % d;
  to[4] = static_cast<u64>(static_cast<s64>(from[4]) / static_cast<s64>(from[5] >> 2 | 1));
  to[5] = static_cast<u64>(static_cast<s64>(from[4]) % static_cast<s64>(from[5] >> 2 | 1));
  to[6] = static_cast<u32>(c) / static_cast<u32>(d);
  to[7] = static_cast<u64>(a < 0 ? -static_cast<s64>(a) : a);
}
ENTRY(divisions)
