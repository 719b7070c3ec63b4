// The calls of the CUDA runtime that nvcc's host objects make to register and to launch kernels.
#include <cuda_runtime_api.h>

#include <vector>

#include "errors.h"
#include "fault.h"
#include "kernel_launch.h"

using namespace emulator;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<Configuration> pushed;

cudaError_t launch(const char* call, const LaunchRequest& request, void** args, cudaStream_t) {
  if (const cudaError_t error = begin_call(call)) return error;
  if (launch_injection.strikes()) {
    return fail(cudaErrorInvalidConfiguration, "a launch told to fail");
  }
  KernelLaunch ready;
  if (const cudaError_t error = prepare_launch(request, args, ready)) return error;
  return run_launch(ready);
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
  if (const cudaError_t error = begin_call(__func__)) return error;
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
