// What translated kernels call: one CUDA thread, its memory accesses, barriers and fences.
//
// Generic addresses are the host's own. Every access to memory that others can see goes through
// `reads`, `writes` or `updates`, which check it (see accesses.h) and may let other
// threads run first; then `get` and `put` move the bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

// How strongly an access orders others: PTX's .weak, .relaxed (and .volatile), .acquire, .release
// and .acq_rel; then the same with the scope of a block, .cta.
enum class Order : u8 {
  WEAK,
  RELAXED,
  ACQUIRE,
  RELEASE,
  BOTH,
  BLOCK_RELAXED,
  BLOCK_ACQUIRE,
  BLOCK_RELEASE,
  BLOCK_BOTH
};

constexpr bool acquires(Order order) {
  return order == Order::ACQUIRE || order == Order::BOTH || order == Order::BLOCK_ACQUIRE ||
         order == Order::BLOCK_BOTH;
}
constexpr bool releases(Order order) {
  return order == Order::RELEASE || order == Order::BOTH || order == Order::BLOCK_RELEASE ||
         order == Order::BLOCK_BOTH;
}
// Whether the threads of other blocks are ordered too.
constexpr bool reaches_all(Order order) {
  return order != Order::WEAK && order < Order::BLOCK_RELAXED;
}

enum class Atomic : u8 { ADD, EXCH, MIN, MAX, AND, OR, XOR, CAS };

// Where in our sources an instruction comes from.
struct Site {
  const char* file;
  int line;
};

// Instructions of a basic block, by what they cost; memory is counted when it is accessed.
enum Kind : int { ALU, DOUBLE, LOCAL, KINDS };
struct CodeBlock {
  int count[KINDS];
  Site site;
};

struct Thread;

struct Kernel {
  const char* name;
  void (*run)(Thread& t, const u8* param, u8* result);
  int param_bytes;
  int shared_bytes;  // before what the launch asks for
  int params;
};

// A variable of the device.
struct Variable {
  const char* name;
  void* at;
  u64 bytes;
  bool is_constant;
};

// What the translator writes, each list ended by an empty row.
extern const Kernel kernels[];
extern const Variable variables[];
extern const Site sites[];
extern const CodeBlock code_blocks[];
extern const int num_code_blocks;

struct Thread {
  u32 thread = 0;   // %tid.x
  u32 threads = 0;  // %ntid.x
  u32 block = 0;    // %ctaid.x
  u32 blocks = 0;   // %nctaid.x
  u8* shared = nullptr;
  u32* executed = nullptr;  // per basic block, where instructions are counted

  void barrier(int site);
  void fence(Order order);
  [[noreturn]] void trap(int site);  // the kernel gives up
  // Of a graph's conditional node: cudaGraphSetConditional.
  void set_condition(u64 handle, u32 value, int site);
  void reads(u64 at, u32 bytes, int site, Order order);
  void writes(u64 at, u32 bytes, int site, Order order);
  void updates(u64 at, u32 bytes, int site, Order order);  // an atomic read and write

  // Writes that other threads do not see yet may be the thread's own.
  void get_bytes(u64 at, void* bytes, u32 size, Order order) const;
  void put_bytes(u64 at, const void* bytes, u32 size, Order order);
  // Of an atomic: at once, for all to see.
  static void replace(u64 at, const void* bytes, u32 size);

  template <class T>
  T get(u64 at, Order order) const {
    T value;
    get_bytes(at, &value, sizeof value, order);
    return value;
  }
  template <class T>
  void put(u64 at, T value, Order order) {
    put_bytes(at, &value, sizeof value, order);
  }

  // Returns what was there.
  template <class T, Atomic OPERATION>
  T update(u64 at, int site, Order order, T operand, T swap = T{}) {
    updates(at, sizeof(T), site, order);
    T before;
    std::memcpy(&before, reinterpret_cast<const void*>(at), sizeof before);
    const T after = combine<T, OPERATION>(before, operand, swap);
    if (after != before) replace(at, &after, sizeof after);
    return before;
  }

  void enters(int code_block) {
    if (executed != nullptr) ++executed[code_block];
  }

 private:
  template <class T, Atomic OPERATION>
  static T combine(T before, T operand, T swap) {
    if constexpr (OPERATION == Atomic::ADD) return static_cast<T>(before + operand);
    if constexpr (OPERATION == Atomic::EXCH) return operand;
    if constexpr (OPERATION == Atomic::MIN) return std::min(before, operand);
    if constexpr (OPERATION == Atomic::MAX) return std::max(before, operand);
    if constexpr (OPERATION == Atomic::AND) return static_cast<T>(before & operand);
    if constexpr (OPERATION == Atomic::OR) return static_cast<T>(before | operand);
    if constexpr (OPERATION == Atomic::XOR) return static_cast<T>(before ^ operand);
    if constexpr (OPERATION == Atomic::CAS) return before == operand ? swap : before;
  }
};

// Of the thread's own memory: parameters and what lies on its stack.
template <class T>
T get_own(u64 at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  return value;
}
template <class T>
void put_own(u64 at, T value) {
  std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
}

template <class To, class From>
To bits(From value) {
  return std::bit_cast<To>(value);
}

}  // namespace emulator
