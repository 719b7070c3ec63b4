// A block of one CPU thread: nothing in it is shared, so that all that threads of a block would
// need costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#ifdef EARSHOT_LM
#define EARSHOT_BACKEND cpu_lm
#else
#define EARSHOT_BACKEND cpu
#endif
#include "block/cpu_launch.h"

namespace earshot::EARSHOT_BACKEND {

// A worker's memory is its block's alone while it runs.
inline constexpr bool HAS_OWN_WORKER = true;
KERNEL_FN std::uint64_t load_relaxed(const std::uint64_t* value) {
  return *value;
}
KERNEL_FN void store_relaxed(std::uint64_t* value, std::uint64_t replacement) {
  *value = replacement;
}

struct Block {
  static constexpr int thread = 0;
  static constexpr int threads = 1;
  int index;
  int worker;  // no two blocks that run at the same time have the same
  std::byte* scratch;

  KERNEL_FN void sync() const {}
  KERNEL_FN int fetch_add(int* value, int increment) const {
    return std::exchange(*value, *value + increment);
  }
  KERNEL_FN int exchange(int* value, int replacement) const {
    return std::exchange(*value, replacement);
  }
  KERNEL_FN int compare_exchange(int* value, int expected, int replacement) const {
    const int before = *value;
    if (before == expected) *value = replacement;
    return before;
  }
  KERNEL_FN bool claim(const int* value, int free, int) const { return *value == free; }
  KERNEL_FN void publish(int* value, int replacement) const { *value = replacement; }
  KERNEL_FN int load_published(const int* value) const { return *value; }
  template <class T>
  KERNEL_FN void lower(T* value, T other) const {
    if (other < *value) *value = other;
  }
  template <class T>
  KERNEL_FN void set_bits(T* value, T bits) const {
    *value |= bits;
  }
  template <class T>
  KERNEL_FN T load(const T* value) const {
    return *value;
  }
  KERNEL_FN void count_if(bool condition, int* counter) const { *counter += condition ? 1 : 0; }

  // Lengthens a list for as long as it lives, without a branch: behind the end is written to as
  // well. Its length is nobody else's meanwhile, so that it need not go through memory.
  class Appender {
   public:
    KERNEL_FN Appender(int* list, int* size) : list_(list), size_(size), length_(*size) {}
    KERNEL_FN ~Appender() { *size_ = length_; }
    Appender(const Appender&) = delete;
    Appender& operator=(const Appender&) = delete;

    KERNEL_FN void append_if(bool condition, int value) {
      list_[length_] = value;
      length_ += condition ? 1 : 0;
    }

   private:
    int* list_;
    int* size_;
    int length_;
  };
};

template <class Kernel, class Params>
void run_block(const Launch&, int index, int worker, std::byte* scratch, const Params& params) {
  Kernel{}(Block{index, worker, scratch}, params);
}

}  // namespace earshot::EARSHOT_BACKEND
