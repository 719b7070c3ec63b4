// The block of threads of a GPU, and how a kernel is launched there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block/launch.h"

#ifdef EARSHOT_LM
#define EARSHOT_BACKEND cuda_lm
#else
#define EARSHOT_BACKEND cuda
#endif
#define KERNEL_FN __device__ inline
#define KERNEL_CALL __device__ __noinline__  // of what many places call, where code is dear
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
  KERNEL_FN int compare_exchange(int* value, int expected, int replacement) const {
    return atomicCAS(value, expected, replacement);
  }
  // One thread finds what is free, and gives it back or another value by publish().
  KERNEL_FN bool claim(int* value, int free, int claimed) const {
    return atomicCAS(value, free, claimed) == free;
  }
  // Whoever reads by load_published what was published sees all that was written before.
  KERNEL_FN void publish(int* value, int replacement) const {
    asm volatile("st.release.cta.s32 [%0], %1;" ::"l"(value), "r"(replacement) : "memory");
  }
  KERNEL_FN int load_published(const int* value) const {
    int found;
    asm volatile("ld.acquire.cta.s32 %0, [%1];" : "=r"(found) : "l"(value) : "memory");
    return found;
  }
  KERNEL_FN void lower(std::int64_t* value, std::int64_t other) const {
    atomicMin(reinterpret_cast<long long*>(value), static_cast<long long>(other));
  }
  KERNEL_FN void lower(std::uint64_t* value, std::uint64_t other) const {
    atomicMin(reinterpret_cast<unsigned long long*>(value), static_cast<unsigned long long>(other));
  }
  KERNEL_FN void set_bits(int* value, int bits) const { atomicOr(value, bits); }
  KERNEL_FN void set_bits(std::uint64_t* value, std::uint64_t bits) const {
    atomicOr(reinterpret_cast<unsigned long long*>(value), static_cast<unsigned long long>(bits));
  }
  template <class T>
  KERNEL_FN T load(const T* value) const {
    return *static_cast<const volatile T*>(value);
  }
  KERNEL_FN void count_if(bool condition, int* counter) const {
    if (condition) atomicAdd(counter, 1);
  }

  // Lengthens a list that all threads share.
  class Appender {
   public:
    KERNEL_FN Appender(int* list, int* size) : list_(list), size_(size) {}
    KERNEL_FN void append_if(bool condition, int value) const {
      if (condition) list_[atomicAdd(size_, 1)] = value;
    }

   private:
    int* list_;
    int* size_;
  };
};

// libstdc++'s std::bit_width and std::countr_zero go through builtins that nvcc 13.0 compiles to
// constants, without a warning.
KERNEL_FN int bit_width(std::uint64_t bits) {
  return 64 - __clzll(static_cast<long long>(bits));
}
// Where the lowest bit is that is set; some bit is.
KERNEL_FN int lowest_bit(std::uint64_t bits) {
  return __ffsll(static_cast<long long>(bits)) - 1;
}

// What threads of any block read and write as they like: each word is whole, and nothing orders
// two.
inline constexpr bool HAS_OWN_WORKER = false;
KERNEL_FN std::uint64_t load_relaxed(const std::uint64_t* value) {
  std::uint64_t found;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(found) : "l"(value) : "memory");
  return found;
}
KERNEL_FN void store_relaxed(std::uint64_t* value, std::uint64_t replacement) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(value), "l"(replacement) : "memory");
}

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

inline constexpr std::size_t PLAIN_SHARED_BYTES = 48 << 10;  // a block may have more if told so

inline void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // the next launch is not to be blamed for it
  throw LaunchFailed(cudaGetErrorString(error));
}

template <class Kernel, class Params>
void launch(const Launch& how, const Params& params) {
  if (how.blocks == 0) return;
  if (how.scratch_bytes > PLAIN_SHARED_BYTES) {
    check_cuda(cudaFuncSetAttribute(run_block<Kernel, Params>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(how.scratch_bytes)));
  }
  const auto stream = reinterpret_cast<cudaStream_t>(how.stream);
  run_block<Kernel, Params><<<how.blocks, how.threads, how.scratch_bytes, stream>>>(params);
  check_cuda(cudaGetLastError());
}

}  // namespace earshot::EARSHOT_BACKEND
