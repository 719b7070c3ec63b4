// The calls of the CUDA runtime that nvcc's host objects and ours make, in front of the emulated
// device. Signatures as in NVIDIA's headers, of which nothing is included here.
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "fault.h"
#include "grid.h"

using namespace emulator;

namespace {

constexpr int SUCCESS = 0;
constexpr int INVALID_VALUE = 1;
constexpr int INVALID_CONFIGURATION = 9;
constexpr int LAUNCH_FAILURE = 719;
constexpr int MOST_SHARED_ATTRIBUTE = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize
constexpr std::size_t PLAIN_SHARED = 48 << 10;
constexpr std::size_t MOST_SHARED = 227 << 10;  // of a block on sm_90
constexpr u32 MOST_THREADS = 256;               // as our kernels' __launch_bounds__ say
constexpr std::size_t MOST_PARAM_BYTES = 4096;

struct Size {
  u32 x, y, z;
};
struct Configuration {
  Size grid, block;
  std::size_t shared_bytes;
  void* stream;
};

std::mutex one_launch;
std::unordered_map<const void*, std::size_t> most_shared;
thread_local std::vector<Configuration> pushed;
thread_local int last_error = SUCCESS;
thread_local std::string last_text;

// Host objects register theirs before anything else here is constructed.
std::unordered_map<const void*, const Kernel*>& functions() {
  static std::unordered_map<const void*, const Kernel*> only;
  return only;
}

int fail(int error, const std::string& text) {
  last_error = error;
  last_text = text;
  return error;
}

bool is_bad(const Size& grid, const Size& block, std::size_t shared_bytes, const void* function) {
  const std::size_t allowed = std::max(PLAIN_SHARED, most_shared[function]);
  return grid.x < 1 || block.x < 1 || block.x > MOST_THREADS ||
         grid.y * grid.z * block.y * block.z != 1 || shared_bytes > allowed;
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
  for (const Kernel* kernel = kernels; kernel->name != nullptr; ++kernel) {
    if (std::strcmp(kernel->name, name) == 0) functions()[host] = kernel;
  }
}

unsigned __cudaPushCallConfiguration(Size grid, Size block, std::size_t shared_bytes,
                                     void* stream) {
  pushed.push_back(Configuration{grid, block, shared_bytes, stream});
  return SUCCESS;
}

int __cudaPopCallConfiguration(Size* grid, Size* block, std::size_t* shared_bytes, void** stream) {
  const Configuration top = pushed.back();
  pushed.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  return SUCCESS;
}

int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  const std::lock_guard guard(one_launch);
  if (attribute != MOST_SHARED_ATTRIBUTE || value > static_cast<int>(MOST_SHARED)) {
    return fail(INVALID_VALUE, "invalid argument");
  }
  most_shared[function] = static_cast<std::size_t>(value);
  return SUCCESS;
}

int cudaGetLastError() {
  const int error = last_error;
  last_error = SUCCESS;
  return error;
}

const char* cudaGetErrorString(int) {
  return last_text.c_str();
}

int __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return SUCCESS;
}

int cudaLaunchKernel(const void* function, Size size, Size block, void** args,
                     std::size_t shared_bytes, void*) {
  const std::lock_guard guard(one_launch);
  if (const std::string why = sticky_error(); !why.empty()) return fail(LAUNCH_FAILURE, why);
  if (launch_injection.strikes()) return fail(INVALID_CONFIGURATION, "a launch told to fail");
  const auto found = functions().find(function);
  if (found == functions().end()) return fail(INVALID_VALUE, "no such kernel was translated");
  if (is_bad(size, block, shared_bytes, function)) {
    return fail(INVALID_CONFIGURATION, "invalid configuration argument");
  }
  const auto param_bytes = static_cast<std::size_t>(found->second->param_bytes);
  if (found->second->params != 1 || param_bytes > MOST_PARAM_BYTES) {
    return fail(INVALID_VALUE, "only kernels of one parameter are known here");
  }
  const auto* const given = static_cast<const u8*>(args[0]);
  alignas(16) static u8 param[MOST_PARAM_BYTES];
  std::memcpy(param, given, param_bytes);
  const std::size_t all_shared =
      shared_bytes + static_cast<std::size_t>(found->second->shared_bytes);
  const std::string why =
      grid().run(*found->second, LaunchSize{size.x, block.x, all_shared}, param);
  if (why.empty()) return SUCCESS;
  break_device(why);
  return fail(LAUNCH_FAILURE, why);
}

int __cudaLaunchKernel(const void* function, Size grid, Size block, void** args,
                       std::size_t shared_bytes, void* stream) {
  return cudaLaunchKernel(function, grid, block, args, shared_bytes, stream);
}
}
