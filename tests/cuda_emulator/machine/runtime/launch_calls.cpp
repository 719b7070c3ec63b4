// The calls of the CUDA runtime that nvcc's host objects make to register and to launch kernels.
#include <cuda_runtime_api.h>

#include <vector>

#include "errors.h"
#include "fault.h"
#include "kernel_launch.h"
#include "streams.h"

using namespace emulator;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<Configuration> pushed;

cudaError_t launch_now(const KernelLaunch& launch) {
  ++grid().tally.host_launches;
  const std::string why = run_kernel(launch);
  if (why.empty()) return cudaSuccess;
  break_device(why);
  return fail(cudaErrorLaunchFailure, why);
}

cudaError_t launch(const char* name, const LaunchRequest& request, void** args,
                   cudaStream_t stream) {
  const Call call(name);
  if (call.error != cudaSuccess) return call.error;
  if (launch_injection.strikes()) {
    return fail(cudaErrorInvalidConfiguration, "a launch told to fail");
  }
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(stream, capture)) return error;
  Node node;
  node.type = cudaGraphNodeTypeKernel;
  if (const cudaError_t error = prepare_launch(request, args, node.launch)) return error;
  if (capture == nullptr) return launch_now(node.launch);
  append(*capture, std::move(node));
  return cudaSuccess;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  register_kernel(host, name);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  pushed.push_back(Configuration{grid, block, shared_bytes, stream});
  return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  const Configuration top = pushed.back();
  pushed.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
    return fail(cudaErrorInvalidValue);
  }
  return allow_shared_bytes(function, value);
}

cudaError_t __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(__func__, LaunchRequest{function, grid, block, shared_bytes}, args, stream);
}

cudaError_t __cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, args, shared_bytes, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  return launch(__func__, LaunchRequest{function, grid, block, shared_bytes, true}, args, stream);
}
}
