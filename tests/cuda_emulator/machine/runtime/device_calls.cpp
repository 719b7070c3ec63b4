// The calls of the CUDA runtime about the device: which there is, and what it holds.
#include <cuda_runtime_api.h>

#include "errors.h"
#include "kernel_launch.h"

using namespace emulator;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (device != 0) return fail(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = static_cast<int>(settings.multiprocessors);
      return cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(MOST_SHARED_BYTES);
      return cudaSuccess;
    default:
      return fail(cudaErrorInvalidValue, "an attribute that nobody has asked for so far");
  }
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t shared_bytes, unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  const Kernel* const kernel = kernel_of(function);
  if (kernel == nullptr) return fail(cudaErrorInvalidDeviceFunction);
  if (threads < 1 || flags > cudaOccupancyDisableCachingOverride) {
    return fail(cudaErrorInvalidValue);
  }
  const std::size_t all_shared = shared_bytes + static_cast<std::size_t>(kernel->shared_bytes);
  const bool fits = threads <= static_cast<int>(MOST_THREADS) && all_shared <= MOST_SHARED_BYTES;
  *blocks =
      fits ? static_cast<int>(blocks_per_multiprocessor(static_cast<u32>(threads), all_shared)) : 0;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, cudaOccupancyDefault);
}
}
