// The blocks of a launch that share one list of work, and how they wait for each other.
#pragma once

#include "block/block_cuda.h"

namespace earshot::cuda {

// A thread's place. Work is dealt out by `for (item = block; item < items; item += blocks)`, so
// that a launch may have any number of blocks and threads.
struct GridPlace {
  int block;
  int blocks;
  int thread;
  int threads;

  static __device__ GridPlace here() {
    return {static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
            static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  }
  KERNEL_FN void sync() const { __syncthreads(); }
};

// A barrier of all blocks of a grid, which are resident together: a counter that only rises, with a
// release by who comes and an acquire by who leaves.
class GridBarrier {
 public:
  KERNEL_FN explicit GridBarrier(std::int32_t* arrived) : arrived_(arrived) {}

  KERNEL_FN void wait(const GridPlace& place) {
    expected_ += place.blocks;
    place.sync();
    if (place.thread == 0) {
      arrive();
      while (arrived() < expected_) {
      }
    }
    place.sync();
  }

 private:
  KERNEL_FN void arrive() const {
    [[maybe_unused]] int before;
    asm volatile("atom.add.release.gpu.s32 %0, [%1], 1;" : "=r"(before) : "l"(arrived_) : "memory");
  }
  KERNEL_FN int arrived() const {
    int found;
    asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(found) : "l"(arrived_) : "memory");
    return found;
  }

  std::int32_t* arrived_;
  int expected_ = 0;
};

}  // namespace earshot::cuda
