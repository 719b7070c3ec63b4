// Kernels to be nodes of graphs: small things, whose order one can read off, and conditions that
// they set.
#include "named_probes.h"

namespace {

struct Given {
  int* memory;
  int value;
  cudaGraphConditionalHandle condition;
};

__device__ bool is_first() {
  return blockIdx.x == 0 && threadIdx.x == 0;
}

__global__ void appends_digit(const __grid_constant__ Given given) {
  if (is_first()) given.memory[0] = 10 * given.memory[0] + given.value;
}

// memory[1]: how often still.
__global__ void counts_down(const __grid_constant__ Given given) {
  if (!is_first()) return;
  given.memory[1] -= 1;
  cudaGraphSetConditional(given.condition, given.memory[1] > 0 ? 1u : 0u);
}

__global__ void sets_condition(const __grid_constant__ Given given) {
  if (is_first()) cudaGraphSetConditional(given.condition, static_cast<unsigned>(given.value));
}

__global__ void sets_from_memory(const __grid_constant__ Given given) {
  if (is_first()) cudaGraphSetConditional(given.condition, static_cast<unsigned>(given.memory[1]));
}

__global__ void sets_twice(const __grid_constant__ Given given) {
  if (!is_first()) return;
  cudaGraphSetConditional(given.condition, 1);
  cudaGraphSetConditional(given.condition, static_cast<unsigned>(given.value));
}

__global__ void sets_behind_a_barrier(const __grid_constant__ Given given) {
  if (threadIdx.x == 0) cudaGraphSetConditional(given.condition, 1);
  __syncthreads();
  if (threadIdx.x == 1) cudaGraphSetConditional(given.condition, 0);
}

__global__ void sets_in_two_threads(const __grid_constant__ Given given) {
  if (threadIdx.x < 2) cudaGraphSetConditional(given.condition, static_cast<unsigned>(given.value));
}

__global__ void sets_in_all_blocks(const __grid_constant__ Given given) {
  if (threadIdx.x == 0)
    cudaGraphSetConditional(given.condition, static_cast<unsigned>(given.value));
}

__global__ void writes_outside(const __grid_constant__ Given given) {
  given.memory[-1] = 1;
}

using Probe = void (*)(Given);

const Named<Probe> PROBES[] = {
    NAMED(appends_digit),       NAMED(counts_down),        NAMED(sets_condition),
    NAMED(sets_from_memory),    NAMED(sets_twice),         NAMED(sets_behind_a_barrier),
    NAMED(sets_in_two_threads), NAMED(sets_in_all_blocks), NAMED(writes_outside),
};

}  // namespace

// What the runtime knows the kernel by; nullptr where there is none.
extern "C" const void* emulator_graph_kernel(const char* name) {
  return reinterpret_cast<const void*>(find_probe(PROBES, name));
}
