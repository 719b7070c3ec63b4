// A launch as the host asks for it: checked, with a copy of its parameter, to be run now or as a
// node of a graph.
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <string>
#include <vector>

#include "grid.h"

namespace emulator {

// The largest grid and block, and what one multiprocessor holds: as on sm_90, but for the threads
// of a block, which our kernels' __launch_bounds__ say.
inline constexpr u32 MOST_THREADS = 256;
inline constexpr std::size_t PLAIN_SHARED_BYTES = 48 << 10;
inline constexpr std::size_t MOST_SHARED_BYTES = 227 << 10;

struct LaunchRequest {
  const void* function;
  dim3 grid, block;
  std::size_t shared_bytes;
  bool is_cooperative = false;
};

struct KernelLaunch {
  const Kernel* kernel = nullptr;
  LaunchSize size{};
  std::vector<u64> param;  // words, so that it is aligned
};

void register_kernel(const void* function, const char* name);
// nullptr where none was translated.
const Kernel* kernel_of(const void* function);
cudaError_t allow_shared_bytes(const void* function, int bytes);

// Blocks that one multiprocessor holds at the same time.
u32 blocks_per_multiprocessor(u32 threads, std::size_t shared_bytes);

// Keeps the parameter's bytes; returns the error of a launch that cannot be.
cudaError_t prepare_launch(const LaunchRequest& request, void** args, KernelLaunch& launch);
// Returns what went wrong, or nothing.
std::string run_kernel(const KernelLaunch& launch);

}  // namespace emulator
