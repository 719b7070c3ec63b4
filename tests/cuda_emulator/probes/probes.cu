// Kernels that do something wrong, one thing each, and some that do it right: what the emulated
// device must find, and must not.
#include <cstdint>

#include "block/block.h"
#include "named_probes.h"

namespace {

using earshot::cuda::bit_width;
using earshot::cuda::lowest_bit;

// What a probe is given; one parameter, as our kernels have.
struct Given {
  int* memory;
  int size;
};

using Probe = void (*)(Given);

__global__ void nothing_wrong(Given given) {
  extern __shared__ int shared[];
  for (int i = threadIdx.x; i < given.size; i += blockDim.x) shared[i] = i;
  __syncthreads();
  if (blockIdx.x != 0) return;
  for (int i = threadIdx.x; i < given.size; i += blockDim.x)
    given.memory[i] = shared[given.size - 1 - i];
}

__global__ void reads_behind_an_allocation(Given given) {
  given.memory[threadIdx.x] = given.memory[given.size];
}

__global__ void writes_before_an_allocation(Given given) {
  given.memory[-1] = 1;
}

__global__ void writes_behind_shared_memory(Given given) {
  extern __shared__ int shared[];
  shared[given.size] = given.memory[0];
}

__global__ void reads_unwritten_shared_memory(Given given) {
  extern __shared__ int shared[];
  given.memory[threadIdx.x] = shared[threadIdx.x];
}

// Into the half of the memory that nobody has written.
__global__ void reads_unwritten_memory(Given given) {
  given.memory[threadIdx.x] = given.memory[given.size / 2 + threadIdx.x];
}

// Where it lies is what the probe's own memory begins with.
__global__ void reads_memory_of_the_host(Given given) {
  const int* const there = *reinterpret_cast<int* const*>(given.memory);
  given.memory[2 + threadIdx.x] = there[threadIdx.x];
}

__global__ void writes_memory_of_the_host(Given given) {
  (*reinterpret_cast<int* const*>(given.memory))[threadIdx.x] = 1;
}

__global__ void is_not_aligned(Given given) {
  auto* const bytes = reinterpret_cast<char*>(given.memory) + 4;
  *reinterpret_cast<long long*>(bytes) = 1;
}

__global__ void meets_at_two_barriers(Given given) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    given.memory[0] = 1;
  } else {
    __syncthreads();
    given.memory[1] = 2;
  }
}

__global__ void leaves_some_waiting(Given given) {
  if (threadIdx.x == 0) return;
  __syncthreads();
  given.memory[threadIdx.x] = 1;
}

// Every thread reads what its neighbour writes.
__global__ void lacks_a_barrier(Given given) {
  given.memory[threadIdx.x] = static_cast<int>(threadIdx.x);
  given.memory[blockDim.x + threadIdx.x] = given.memory[(threadIdx.x + 1) % blockDim.x];
}

__global__ void lacks_a_barrier_in_shared_memory(Given given) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  given.memory[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

__global__ void adds_without_atomics(Given given) {
  given.memory[0] += 1;
}

__global__ void adds_with_atomics(Given given) {
  atomicAdd(given.memory, 1);
}

__global__ void two_blocks_write_one_place(Given given) {
  if (threadIdx.x == 0) given.memory[0] = static_cast<int>(blockIdx.x);
}

// The first thread leaves a message for all others.
__device__ void leave(int* memory, int message) {
  memory[1] = message;
}

__device__ void fetch(int* memory, int found) {
  if (found != 0) memory[2 + threadIdx.x] = memory[1];
}

__global__ void publishes_without_a_fence(Given given) {
  volatile int* const flag = given.memory;
  if (threadIdx.x == 0) {
    leave(given.memory, 7);
    *flag = 1;
  } else {
    fetch(given.memory, *flag);
  }
}

__global__ void reads_without_a_fence(Given given) {
  volatile int* const flag = given.memory;
  if (threadIdx.x == 0) {
    leave(given.memory, 7);
    __threadfence_block();
    *flag = 1;
  } else {
    fetch(given.memory, *flag);
  }
}

__global__ void publishes_with_fences(Given given) {
  volatile int* const flag = given.memory;
  if (threadIdx.x == 0) {
    leave(given.memory, 7);
    __threadfence_block();
    *flag = 1;
  } else {
    const int found = *flag;
    __threadfence_block();
    fetch(given.memory, found);
  }
}

// As the searches do: see Block.
__global__ void publishes_by_release_and_acquire(Given given) {
  const earshot::cuda::Block block{0, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                                   0, nullptr};
  if (threadIdx.x == 0) {
    leave(given.memory, 7);
    block.publish(given.memory, 1);
  } else {
    fetch(given.memory, block.load_published(given.memory));
  }
}

// Who comes first says what is left there, without a conflict.
__global__ void depends_on_the_order_of_threads(Given given) {
  atomicCAS(given.memory, 0, static_cast<int>(threadIdx.x) + 1);
}

__global__ void depends_on_the_order_of_blocks(Given given) {
  if (threadIdx.x == 0) atomicCAS(given.memory, 0, static_cast<int>(blockIdx.x) + 1);
}

// Only where another block runs meanwhile: the first waits for a sign of the second.
__global__ void waits_for_another_block(Given given) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (atomicAdd(given.memory, 0) == 0) {
    }
  } else {
    atomicExch(given.memory, 1);
  }
}

// The last lane to come sees all others, if none of them waits in vain for it.
__global__ void waits_for_another_thread(Given given) {
  volatile int* const flag = given.memory;
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
  } else if (threadIdx.x == blockDim.x - 1) {
    *flag = 1;
  }
}

// memory: of each number, 64 bits a piece, its width and its lowest bit.
__global__ void finds_bits(Given given) {
  const auto* const numbers = reinterpret_cast<const std::uint64_t*>(given.memory);
  for (int i = threadIdx.x; i < given.size / 4; i += blockDim.x) {
    const std::uint64_t number = numbers[i];
    given.memory[given.size / 2 + 2 * i] = bit_width(number);
    given.memory[given.size / 2 + 2 * i + 1] = number == 0 ? -1 : lowest_bit(number);
  }
}

__global__ void takes_two_parameters(int* memory, int size) {
  memory[0] = size;
}

const Named<Probe> PROBES[] = {
    NAMED(nothing_wrong),
    NAMED(reads_behind_an_allocation),
    NAMED(writes_before_an_allocation),
    NAMED(writes_behind_shared_memory),
    NAMED(reads_unwritten_shared_memory),
    NAMED(reads_unwritten_memory),
    NAMED(reads_memory_of_the_host),
    NAMED(writes_memory_of_the_host),
    NAMED(is_not_aligned),
    NAMED(meets_at_two_barriers),
    NAMED(leaves_some_waiting),
    NAMED(lacks_a_barrier),
    NAMED(lacks_a_barrier_in_shared_memory),
    NAMED(adds_without_atomics),
    NAMED(adds_with_atomics),
    NAMED(two_blocks_write_one_place),
    NAMED(publishes_without_a_fence),
    NAMED(reads_without_a_fence),
    NAMED(publishes_with_fences),
    NAMED(publishes_by_release_and_acquire),
    NAMED(depends_on_the_order_of_threads),
    NAMED(depends_on_the_order_of_blocks),
    NAMED(waits_for_another_block),
    NAMED(waits_for_another_thread),
    NAMED(finds_bits),
};

}  // namespace

// Returns 0, the device's error, or -1 where there is no such probe.
extern "C" int emulator_probe(const char* name, int blocks, int threads, int shared_bytes,
                              int* memory, int size) {
  const Probe probe = find_probe(PROBES, name);
  if (probe == nullptr) return -1;
  probe<<<blocks, threads, shared_bytes>>>(Given{memory, size});
  return cudaGetLastError();
}

extern "C" int emulator_probe_of_two(int* memory, int size) {
  takes_two_parameters<<<1, 32>>>(memory, size);
  return cudaGetLastError();
}

extern "C" const char* emulator_probe_error(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}
