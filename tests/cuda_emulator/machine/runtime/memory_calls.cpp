// The calls of the CUDA runtime that allocate, copy and set memory.
#include <cuda_runtime_api.h>

#include <unordered_set>

#include "device_memory.h"
#include "errors.h"
#include "fault.h"
#include "streams.h"

using namespace emulator;

namespace {

std::unordered_set<void*> allocated;  // by the calls below

cudaError_t allocate(void** memory, std::size_t bytes) {
  *memory = bytes == 0 ? nullptr : emulator_allocate(bytes);
  if (bytes != 0 && *memory == nullptr) return fail(cudaErrorMemoryAllocation);
  if (bytes != 0) allocated.insert(*memory);
  return cudaSuccess;
}

cudaError_t release_memory(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (allocated.erase(memory) == 0) return fail(cudaErrorInvalidValue);
  emulator_release(memory);
  return cudaSuccess;
}

cudaError_t finish(const std::string& why) {
  if (why.empty()) return cudaSuccess;
  break_device(why);
  return fail(cudaErrorLaunchFailure, why);
}

// Nothing that a graph holds may allocate here.
cudaError_t forbid_capture(cudaStream_t stream) {
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(stream, capture)) return error;
  return capture == nullptr ? cudaSuccess : spoil(*capture, "memory is allocated in a graph");
}

cudaError_t copy_in(cudaStream_t stream, const Copy& copy, cudaMemcpyKind kind) {
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(stream, capture)) return error;
  if (const cudaError_t error = copy.check(kind)) return fail(error);
  if (capture == nullptr) return finish(copy.run());
  Node node;
  node.type = cudaGraphNodeTypeMemcpy;
  node.copy = copy;
  append(*capture, std::move(node));
  return cudaSuccess;
}

cudaError_t fill_in(cudaStream_t stream, const Fill& fill) {
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(stream, capture)) return error;
  if (const cudaError_t error = fill.check()) return fail(error);
  if (capture == nullptr) return finish(fill.run());
  Node node;
  node.type = cudaGraphNodeTypeMemset;
  node.fill = fill;
  append(*capture, std::move(node));
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  return allocate(memory, bytes);
}

cudaError_t cudaFree(void* memory) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  return release_memory(memory);
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_capture(stream)) return error;
  return allocate(memory, bytes);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_capture(stream)) return error;
  return release_memory(memory);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (const cudaError_t error = forbid_unsafe()) return error;
  return copy_in(nullptr, Copy{to, from, bytes}, kind);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : copy_in(stream, Copy{to, from, bytes}, kind);
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return fill_in(nullptr, Fill{memory, static_cast<unsigned>(value), 1, bytes});
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return fill_in(stream, Fill{memory, static_cast<unsigned>(value), 1, bytes});
}
}
