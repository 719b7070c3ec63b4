// Kernels whose blocks wait for each other, right and wrong.

#include "grid_barrier.h"
#include "named_probes.h"

namespace {

using namespace probes;

// memory: two counters, then two halves of `size` numbers, one for each thread of the grid.
struct Given {
  int* memory;
  int size;

  __device__ Counter* arrived() const { return reinterpret_cast<Counter*>(memory); }
  __device__ int* half(int which) const { return memory + 2 + which * size; }
};

__device__ int place() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

constexpr int ROUNDS = 3;

// In each round each thread adds what it and its neighbour in the next block have.
template <class Arrive, class Leave>
__device__ void add_neighbours(const Given& given) {
  given.half(0)[place()] = place();
  for (int round = 0; round < ROUNDS; ++round) {
    meet<Arrive, Leave>(given.arrived(), (round + 1) * gridDim.x);
    const int* const from = given.half(round % 2);
    const int neighbour = (place() + static_cast<int>(blockDim.x)) % given.size;
    given.half(1 - round % 2)[place()] = from[place()] + from[neighbour];
  }
}

__global__ void meets_by_release_and_acquire(const __grid_constant__ Given given) {
  add_neighbours<Releases, Acquires>(given);
}
__global__ void meets_by_fences(const __grid_constant__ Given given) {
  add_neighbours<Fences, Fences>(given);
}
__global__ void arrives_without_a_release(const __grid_constant__ Given given) {
  add_neighbours<NoOrder, Acquires>(given);
}
__global__ void leaves_without_an_acquire(const __grid_constant__ Given given) {
  add_neighbours<Releases, NoOrder>(given);
}
__global__ void releases_to_its_block(const __grid_constant__ Given given) {
  add_neighbours<ReleasesToTheBlock, Acquires>(given);
}
__global__ void fences_for_its_block(const __grid_constant__ Given given) {
  add_neighbours<FencesOfTheBlock, Acquires>(given);
}

// Only what the first thread has written is released.
__global__ void arrives_before_its_block(const __grid_constant__ Given given) {
  given.half(0)[place()] = place();
  if (threadIdx.x == 0) {
    Releases::add(given.arrived());
    while (Acquires::load(given.arrived()) < gridDim.x) {
    }
  }
  __syncthreads();
  given.half(1)[place()] = given.half(0)[(place() + static_cast<int>(blockDim.x)) % given.size];
}

// Everybody reads what one thread then writes.
template <bool MEETS>
__device__ void read_then_write(const Given& given) {
  given.half(1)[place()] = given.half(0)[0];
  if (MEETS) meet<Releases, Acquires>(given.arrived(), gridDim.x);
  if (place() == 0) given.half(0)[0] = 7;
}
__global__ void writes_behind_all_readers(const __grid_constant__ Given given) {
  read_then_write<true>(given);
}
__global__ void writes_beside_readers(const __grid_constant__ Given given) {
  read_then_write<false>(given);
}

// Atomics of two blocks that are atomic among the threads of one.
__global__ void counts_for_its_block(const __grid_constant__ Given given) {
  ReleasesToTheBlock::add(given.arrived());
}

// A message of the first block goes from block to block.
template <class Arrive>
__device__ void pass_message(const Given& given) {
  if (threadIdx.x != 0) return;
  while (Acquires::load(given.arrived()) < blockIdx.x) {
  }
  given.half(0)[blockIdx.x] = blockIdx.x == 0 ? 1 : 2 * given.half(0)[0];
  Arrive::add(given.arrived());
}
__global__ void hands_on(const __grid_constant__ Given given) {
  pass_message<Releases>(given);
}
__global__ void hands_on_without_a_release(const __grid_constant__ Given given) {
  pass_message<NoOrder>(given);
}

__global__ void waits_for_one_more(const __grid_constant__ Given given) {
  meet<Releases, Acquires>(given.arrived(), gridDim.x + 1);
}

// A lock that is taken before it is free: CAS that changes nothing.
__global__ void waits_for_a_lock(const __grid_constant__ Given given) {
  if (threadIdx.x == 0) {
    while (atomicCAS(given.arrived(), 0u, 1u) != 0u) {
    }
  }
}

// Slow, but no thread waits: it reads for long and writes nothing.
__global__ void reads_for_long(const __grid_constant__ Given given) {
  int sum = 0;
  for (int i = 0; i < 300000; ++i) sum += given.half(0)[(i + place()) % given.size];
  given.half(1)[place()] = sum;
}

using Probe = void (*)(Given);

const Named<Probe> PROBES[] = {
    NAMED(meets_by_release_and_acquire),
    NAMED(meets_by_fences),
    NAMED(arrives_without_a_release),
    NAMED(leaves_without_an_acquire),
    NAMED(releases_to_its_block),
    NAMED(fences_for_its_block),
    NAMED(arrives_before_its_block),
    NAMED(writes_behind_all_readers),
    NAMED(writes_beside_readers),
    NAMED(counts_for_its_block),
    NAMED(hands_on),
    NAMED(hands_on_without_a_release),
    NAMED(waits_for_one_more),
    NAMED(waits_for_a_lock),
    NAMED(reads_for_long),
};

}  // namespace

// Return 0, the device's error, or -1 where there is no such probe.
extern "C" int emulator_grid_probe(const char* name, int is_cooperative, int blocks, int threads,
                                   int* memory, int size) {
  const Probe probe = find_probe(PROBES, name);
  if (probe == nullptr) return -1;
  Given given{memory, size};
  void* args[] = {&given};
  const auto* const function = reinterpret_cast<const void*>(probe);
  if (is_cooperative != 0) {
    return cudaLaunchCooperativeKernel(function, dim3(blocks), dim3(threads), args, 0, nullptr);
  }
  return cudaLaunchKernel(function, dim3(blocks), dim3(threads), args, 0, nullptr);
}

extern "C" int emulator_grid_probe_fits(const char* name, int threads, int shared_bytes,
                                        int* blocks) {
  const Probe probe = find_probe(PROBES, name);
  if (probe == nullptr) return -1;
  int multiprocessors = 0;
  int of_each = 0;
  cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, probe, threads, shared_bytes);
  }
  *blocks = multiprocessors * of_each;
  return error;
}
