// A block of CPU threads that meet at a barrier, as those of a GPU do.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#ifdef EARSHOT_LM
#define EARSHOT_BACKEND cpu_teams_lm
#else
#define EARSHOT_BACKEND cpu_teams
#endif
#include "block/cpu_launch.h"

namespace earshot::EARSHOT_BACKEND {

// What threads of any block read and write as they like: each word is whole, and nothing orders
// two.
inline constexpr bool HAS_OWN_WORKER = false;
KERNEL_FN std::uint64_t load_relaxed(const std::uint64_t* value) {
  auto& shared = *const_cast<std::uint64_t*>(value);
  return std::atomic_ref<std::uint64_t>(shared).load(std::memory_order_relaxed);
}
KERNEL_FN void store_relaxed(std::uint64_t* value, std::uint64_t replacement) {
  std::atomic_ref<std::uint64_t>(*value).store(replacement, std::memory_order_relaxed);
}

struct Block {
  int index;
  int thread;
  int threads;
  int worker;  // no two blocks that run at the same time have the same
  std::byte* scratch;
  std::barrier<>* meeting;

  KERNEL_FN void sync() const { meeting->arrive_and_wait(); }
  KERNEL_FN int fetch_add(int* value, int increment) const {
    return std::atomic_ref<int>(*value).fetch_add(increment, std::memory_order_relaxed);
  }
  KERNEL_FN int exchange(int* value, int replacement) const {
    return std::atomic_ref<int>(*value).exchange(replacement, std::memory_order_relaxed);
  }
  KERNEL_FN int compare_exchange(int* value, int expected, int replacement) const {
    std::atomic_ref<int>(*value).compare_exchange_strong(expected, replacement,
                                                         std::memory_order_relaxed);
    return expected;
  }
  // One thread finds what is free, and gives it back or another value by publish().
  KERNEL_FN bool claim(int* value, int free, int claimed) const {
    return compare_exchange(value, free, claimed) == free;
  }
  // Whoever reads by load_published what was published sees all that was written before.
  KERNEL_FN void publish(int* value, int replacement) const {
    std::atomic_ref<int>(*value).store(replacement, std::memory_order_release);
  }
  KERNEL_FN int load_published(const int* value) const {
    return std::atomic_ref<int>(*const_cast<int*>(value)).load(std::memory_order_acquire);
  }
  template <class T>
  KERNEL_FN void lower(T* value, T other) const {
    std::atomic_ref<T> shared(*value);
    T seen = shared.load(std::memory_order_relaxed);
    while (other < seen && !shared.compare_exchange_weak(seen, other, std::memory_order_relaxed)) {
    }
  }
  template <class T>
  KERNEL_FN void set_bits(T* value, T bits) const {
    std::atomic_ref<T>(*value).fetch_or(bits, std::memory_order_relaxed);
  }
  template <class T>
  KERNEL_FN T load(const T* value) const {
    return std::atomic_ref<T>(*const_cast<T*>(value)).load(std::memory_order_relaxed);
  }
  KERNEL_FN void count_if(bool condition, int* counter) const {
    if (condition) fetch_add(counter, 1);
  }

  // Lengthens a list that all threads share.
  class Appender {
   public:
    KERNEL_FN Appender(int* list, int* size) : list_(list), size_(*size) {}
    KERNEL_FN void append_if(bool condition, int value) const {
      if (condition) list_[size_.fetch_add(1, std::memory_order_relaxed)] = value;
    }

   private:
    int* list_;
    std::atomic_ref<int> size_;
  };
};

template <class Kernel, class Params>
void run_block(const Launch& how, int index, int worker, std::byte* scratch, const Params& params) {
  std::barrier<> meeting(how.threads);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < how.threads; ++thread) {
    threads.emplace_back([&, thread] {
      Kernel{}(Block{index, thread, how.threads, worker, scratch, &meeting}, params);
    });
  }
}

}  // namespace earshot::EARSHOT_BACKEND
