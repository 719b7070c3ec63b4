// Barriers of all blocks of a grid that run together, and what is wrong with others.
#pragma once

namespace probes {

using Counter = unsigned int;

// Ways to come to a barrier and to leave it.
struct Releases {
  static __device__ Counter add(Counter* arrived) {
    Counter before;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived) : "memory");
    return before;
  }
};
struct Acquires {
  static __device__ Counter load(const Counter* arrived) {
    Counter found;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(found) : "l"(arrived) : "memory");
    return found;
  }
};
struct Fences {
  static __device__ Counter add(Counter* arrived) {
    __threadfence();
    return atomicAdd(arrived, 1);
  }
  static __device__ Counter load(const Counter* arrived) {
    const Counter found = *static_cast<const volatile Counter*>(arrived);
    __threadfence();
    return found;
  }
};
struct FencesOfTheBlock {
  static __device__ Counter add(Counter* arrived) {
    __threadfence_block();
    return atomicAdd(arrived, 1);
  }
};
struct ReleasesToTheBlock {
  static __device__ Counter add(Counter* arrived) {
    Counter before;
    asm volatile("atom.add.release.cta.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived) : "memory");
    return before;
  }
};
struct NoOrder {
  static __device__ Counter add(Counter* arrived) { return atomicAdd(arrived, 1); }
  static __device__ Counter load(const Counter* arrived) {
    return *static_cast<const volatile Counter*>(arrived);
  }
};

// All blocks have come when `goal` have arrived since the launch.
template <class Arrive, class Leave>
__device__ void meet(Counter* arrived, Counter goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    Arrive::add(arrived);
    while (Leave::load(arrived) < goal) {
    }
  }
  __syncthreads();
}

}  // namespace probes
