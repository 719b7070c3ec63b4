// The calls of the CUDA runtime about memory of the host that kernels read.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <map>

#include "errors.h"
#include "host_memory.h"
#include "streams.h"

using namespace emulator;

namespace {

constexpr unsigned REGISTER_FLAGS =
    cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
constexpr unsigned ALLOCATE_FLAGS =
    cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

std::map<void*, std::size_t> host_pieces;  // by cudaHostAlloc

u64 address(const void* memory) {
  return reinterpret_cast<u64>(memory);
}

}  // namespace

extern "C" {

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  if (memory == nullptr || bytes == 0 || (flags & ~REGISTER_FLAGS) != 0) {
    return fail(cudaErrorInvalidValue);
  }
  if (host_memory().add(address(memory), bytes, false)) return cudaSuccess;
  return fail(cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* memory) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  if (host_memory().remove(address(memory), false)) return cudaSuccess;
  return fail(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  if (bytes == 0 || (flags & ~ALLOCATE_FLAGS) != 0) return fail(cudaErrorInvalidValue);
  void* const own =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) return fail(cudaErrorMemoryAllocation);
  host_memory().add(address(own), bytes, true);
  host_pieces[own] = bytes;
  *memory = own;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  if (memory == nullptr) return cudaSuccess;
  if (!host_memory().remove(address(memory), true)) return fail(cudaErrorInvalidValue);
  munmap(memory, host_pieces[memory]);
  host_pieces.erase(memory);
  return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** seen, void* memory, unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (flags != 0 || !host_memory().holds(address(memory))) return fail(cudaErrorInvalidValue);
  *seen = reinterpret_cast<void*>(address(memory) | HOST_BIT);
  return cudaSuccess;
}
}
