#include <cstring>

#include "block/block_cuda.h"
#include "pinned/pinned_bytes.h"

namespace earshot {

namespace {

// What is refused is tried otherwise, and not the next launch's fault.
bool succeeds(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

const std::uint8_t* seen(void* pointer) {
  return static_cast<const std::uint8_t*>(pointer);
}

}  // namespace

PinnedBytes::PinnedBytes(const std::uint8_t* content, std::size_t size) {
  if (!register_own(content, size)) copy(content, size);
}

PinnedBytes::~PinnedBytes() {
  if (registered_ != nullptr) succeeds(cudaHostUnregister(registered_));
  if (copy_ != nullptr) succeeds(cudaFreeHost(copy_));
}

bool PinnedBytes::register_own(const std::uint8_t* content, std::size_t size) {
  void* const own = const_cast<std::uint8_t*>(content);  // which is only read
  const unsigned flags =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
  if (!succeeds(cudaHostRegister(own, size, flags))) return false;
  void* there = nullptr;
  if (succeeds(cudaHostGetDevicePointer(&there, own, 0))) {
    registered_ = own;
    there_ = seen(there);
    return true;
  }
  succeeds(cudaHostUnregister(own));
  return false;
}

void PinnedBytes::copy(const std::uint8_t* content, std::size_t size) {
  void* own = nullptr;
  cuda::check_cuda(cudaHostAlloc(&own, size, cudaHostAllocPortable | cudaHostAllocMapped));
  std::memcpy(own, content, size);
  void* there = nullptr;
  const cudaError_t error = cudaHostGetDevicePointer(&there, own, 0);
  if (error != cudaSuccess) succeeds(cudaFreeHost(own));
  cuda::check_cuda(error);
  copy_ = own;
  there_ = seen(there);
}

}  // namespace earshot
