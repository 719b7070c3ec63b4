#include "kernel_launch.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "errors.h"

namespace emulator {

namespace {

constexpr std::size_t MOST_PARAM_BYTES = 4096;
constexpr std::size_t RESERVED_SHARED_BYTES = 1 << 10;  // of each block, by the system
constexpr std::size_t SHARED_BYTES = 228 << 10;         // of a multiprocessor, and so below
constexpr u32 THREADS = 2048;
constexpr u32 BLOCKS = 32;
constexpr u32 REGISTERS = 64 << 10;
// Of a thread. ptxas, which allots them, does not run here: no kernel takes more.
constexpr u32 MOST_REGISTERS = 256;

std::unordered_map<const void*, std::size_t> most_shared;

// Host objects register theirs before anything else here is constructed.
std::unordered_map<const void*, const Kernel*>& functions() {
  static std::unordered_map<const void*, const Kernel*> only;
  return only;
}

bool is_bad(const LaunchRequest& request) {
  const std::size_t allowed = std::max(PLAIN_SHARED_BYTES, most_shared[request.function]);
  const dim3 &grid = request.grid, &block = request.block;
  return grid.x < 1 || block.x < 1 || block.x > MOST_THREADS ||
         grid.y * grid.z * block.y * block.z != 1 || request.shared_bytes > allowed;
}

bool is_too_large(const LaunchSize& size) {
  const u64 held = blocks_per_multiprocessor(size.threads, size.shared_bytes);
  return size.blocks > held * settings.multiprocessors;
}

}  // namespace

void register_kernel(const void* function, const char* name) {
  for (const Kernel* kernel = kernels; kernel->name != nullptr; ++kernel) {
    if (std::strcmp(kernel->name, name) == 0) functions()[function] = kernel;
  }
}

const Kernel* kernel_of(const void* function) {
  const auto found = functions().find(function);
  return found == functions().end() ? nullptr : found->second;
}

cudaError_t allow_shared_bytes(const void* function, int bytes) {
  if (bytes < 0 || bytes > static_cast<int>(MOST_SHARED_BYTES)) return fail(cudaErrorInvalidValue);
  most_shared[function] = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

u32 blocks_per_multiprocessor(u32 threads, std::size_t shared_bytes) {
  const u32 in_warps = (threads + 31) / 32 * 32;
  const auto by_shared = static_cast<u32>(SHARED_BYTES / (shared_bytes + RESERVED_SHARED_BYTES));
  return std::min({BLOCKS, THREADS / in_warps, REGISTERS / (MOST_REGISTERS * in_warps), by_shared});
}

cudaError_t prepare_launch(const LaunchRequest& request, void** args, KernelLaunch& launch) {
  launch.kernel = kernel_of(request.function);
  if (launch.kernel == nullptr) {
    return fail(cudaErrorInvalidDeviceFunction, "no such kernel was translated");
  }
  if (is_bad(request)) return fail(cudaErrorInvalidConfiguration);
  const auto bytes = static_cast<std::size_t>(launch.kernel->param_bytes);
  if (launch.kernel->params != 1 || bytes > MOST_PARAM_BYTES) {
    return fail(cudaErrorInvalidValue, "only kernels of one parameter are known here");
  }
  const auto own_shared = static_cast<std::size_t>(launch.kernel->shared_bytes);
  launch.size = LaunchSize{request.grid.x, request.block.x, request.shared_bytes + own_shared,
                           request.is_cooperative};
  if (request.is_cooperative && is_too_large(launch.size)) {
    return fail(cudaErrorCooperativeLaunchTooLarge);
  }
  launch.param.assign((bytes + 7) / 8, 0);
  std::memcpy(launch.param.data(), args[0], bytes);
  return cudaSuccess;
}

std::string run_kernel(const KernelLaunch& launch) {
  alignas(16) static u8 param[MOST_PARAM_BYTES];
  std::memcpy(param, launch.param.data(), static_cast<std::size_t>(launch.kernel->param_bytes));
  return grid().run(*launch.kernel, launch.size, param);
}

}  // namespace emulator
