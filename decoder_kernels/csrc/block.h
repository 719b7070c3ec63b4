// One kernel source, two targets: this is the only file that knows the compiler.
//
// A kernel is a functor `void operator()(const Block&, const Params&) const`. Its work is written
// as loops `for (int i = block.thread; i < n; i += block.threads)`, with `block.sync()` between a
// write and another thread's read. No result may depend on `block.threads` or on the order of
// atomics.
//
// CUDA:  one thread block runs the kernel for one `index`; scratch is dynamic shared memory.
// CPU:   a block has one thread and the blocks are spread over `workers` threads. More threads per
//        block are real threads that meet at a barrier: too slow to serve with, and made for tests
//        and ThreadSanitizer, which then find a missing sync() without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "launch.h"

#ifdef __CUDACC__

#include <stdexcept>
#include <string>

#define EARSHOT_BACKEND cuda
#define KERNEL_FN __device__ inline
#define KERNEL_HOST_FN __host__ __device__ inline

namespace earshot::EARSHOT_BACKEND {

inline constexpr int MAX_BLOCK_THREADS = 256;  // leaves each thread all the registers it may have

struct Block {
  int index;
  int thread;
  int threads;
  int worker;  // no two blocks that run at the same time have the same
  std::byte* scratch;

  KERNEL_FN void sync() const { __syncthreads(); }
  KERNEL_FN int fetch_add(int* value, int increment) const { return atomicAdd(value, increment); }
  KERNEL_FN int exchange(int* value, int replacement) const {
    return atomicExch(value, replacement);
  }
  // Writes before it are seen by whoever loads the replacement.
  KERNEL_FN int compare_exchange(int* value, int expected, int replacement) const {
    __threadfence_block();
    return atomicCAS(value, expected, replacement);
  }
  KERNEL_FN void lower(std::int64_t* value, std::int64_t other) const {
    atomicMin(reinterpret_cast<long long*>(value), static_cast<long long>(other));
  }
  KERNEL_FN void lower(std::uint64_t* value, std::uint64_t other) const {
    atomicMin(reinterpret_cast<unsigned long long*>(value), static_cast<unsigned long long>(other));
  }
  KERNEL_FN void set_bits(std::uint64_t* value, std::uint64_t bits) const {
    atomicOr(reinterpret_cast<unsigned long long*>(value), static_cast<unsigned long long>(bits));
  }
  template <class T>
  KERNEL_FN T load(const T* value) const {
    return *static_cast<const volatile T*>(value);
  }
  // Behind the list's end may be written to as well.
  KERNEL_FN void append_if(bool condition, int* list, int* size, int value) const {
    if (condition) list[atomicAdd(size, 1)] = value;
  }
};

KERNEL_FN void prefetch(const void*) {}
inline constexpr int FETCHED_TOGETHER = 1;  // other warps work while one waits

template <class Kernel, class Params>
__global__ void __launch_bounds__(MAX_BLOCK_THREADS)
    run_block(const __grid_constant__ Params params) {
  extern __shared__ __align__(16) std::byte scratch[];
  Kernel{}(Block{static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x),
                 static_cast<int>(blockDim.x), static_cast<int>(blockIdx.x), scratch},
           params);
}

inline void check_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class Kernel, class Params>
void launch(const Launch& how, const Params& params) {
  if (how.blocks == 0) return;
  check_cuda(cudaFuncSetAttribute(run_block<Kernel, Params>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(how.scratch_bytes)));
  const auto stream = reinterpret_cast<cudaStream_t>(how.stream);
  run_block<Kernel, Params><<<how.blocks, how.threads, how.scratch_bytes, stream>>>(params);
  check_cuda(cudaGetLastError());
}

}  // namespace earshot::EARSHOT_BACKEND

#else  // the CPU

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>
#include <utility>
#include <vector>

#define EARSHOT_BACKEND cpu
#define KERNEL_FN inline
#define KERNEL_HOST_FN inline

namespace earshot::EARSHOT_BACKEND {

struct Block {
  int index;
  int thread;
  int threads;
  int worker;  // no two blocks that run at the same time have the same
  std::byte* scratch;
  std::barrier<>* meeting;  // null for a block of one thread, which needs no atomics either

  KERNEL_FN void sync() const {
    if (meeting != nullptr) meeting->arrive_and_wait();
  }
  KERNEL_FN int fetch_add(int* value, int increment) const {
    if (meeting == nullptr) {
      const int before = *value;
      *value += increment;
      return before;
    }
    return std::atomic_ref<int>(*value).fetch_add(increment, std::memory_order_relaxed);
  }
  KERNEL_FN int exchange(int* value, int replacement) const {
    if (meeting == nullptr) return std::exchange(*value, replacement);
    return std::atomic_ref<int>(*value).exchange(replacement, std::memory_order_relaxed);
  }
  // Writes before it are seen by whoever loads the replacement.
  KERNEL_FN int compare_exchange(int* value, int expected, int replacement) const {
    if (meeting == nullptr) {
      const int before = *value;
      if (before == expected) *value = replacement;
      return before;
    }
    std::atomic_ref<int>(*value).compare_exchange_strong(expected, replacement);
    return expected;
  }
  template <class T>
  KERNEL_FN void lower(T* value, T other) const {
    if (meeting == nullptr) {
      if (other < *value) *value = other;
      return;
    }
    std::atomic_ref<T> shared(*value);
    T seen = shared.load(std::memory_order_relaxed);
    while (other < seen && !shared.compare_exchange_weak(seen, other, std::memory_order_relaxed)) {
    }
  }
  KERNEL_FN void set_bits(std::uint64_t* value, std::uint64_t bits) const {
    if (meeting == nullptr) {
      *value |= bits;
      return;
    }
    std::atomic_ref<std::uint64_t>(*value).fetch_or(bits, std::memory_order_relaxed);
  }
  template <class T>
  KERNEL_FN T load(const T* value) const {
    if (meeting == nullptr) return *value;
    return std::atomic_ref<T>(*const_cast<T*>(value)).load(std::memory_order_acquire);
  }
  // Behind the list's end may be written to as well: no branch, where no thread is beside this one.
  KERNEL_FN void append_if(bool condition, int* list, int* size, int value) const {
    if (meeting == nullptr) {
      list[*size] = value;
      *size += condition ? 1 : 0;
    } else if (condition) {
      list[fetch_add(size, 1)] = value;
    }
  }
};

KERNEL_FN void prefetch(const void* address) {
  __builtin_prefetch(address);
}
inline constexpr int FETCHED_TOGETHER = 24;  // what memory is asked for before the first is used

template <class Kernel, class Params>
void run_block(const Launch& how, int index, int worker, std::byte* scratch, const Params& params) {
  if (how.threads == 1) {
    Kernel{}(Block{index, 0, 1, worker, scratch, nullptr}, params);
    return;
  }
  std::barrier<> meeting(how.threads);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < how.threads; ++thread) {
    threads.emplace_back([&, thread] {
      Kernel{}(Block{index, thread, how.threads, worker, scratch, &meeting}, params);
    });
  }
}

template <class Kernel, class Params>
void launch(const Launch& how, const Params& params) {
  const int workers = std::max(1, std::min(how.workers, how.blocks));
  // max_align_t cells, so that every worker's scratch is aligned for any type.
  const std::size_t cells = how.scratch_bytes / sizeof(std::max_align_t) + 1;
  std::vector<std::max_align_t> scratch(cells * static_cast<std::size_t>(workers));
  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    auto* own =
        reinterpret_cast<std::byte*>(scratch.data() + cells * static_cast<std::size_t>(worker));
    for (int index = next++; index < how.blocks; index = next++) {
      run_block<Kernel>(how, index, worker, own, params);
    }
  };
  std::vector<std::jthread> others;
  for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  work(0);
}

}  // namespace earshot::EARSHOT_BACKEND

#endif
