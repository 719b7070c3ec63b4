// Copies and fills of memory, as streams and graphs do them.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <string>

namespace emulator {

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;

  // The error of a copy that leads elsewhere than its kind says, or to what is not allocated.
  cudaError_t check(cudaMemcpyKind kind) const;
  // Returns what went wrong, or nothing.
  std::string run() const;
};

struct Fill {
  void* to = nullptr;
  unsigned value = 0;
  unsigned element_bytes = 1;
  std::size_t width = 0;  // elements
  std::size_t height = 1;
  std::size_t pitch = 0;  // bytes

  cudaError_t check() const;
  std::string run() const;
};

}  // namespace emulator
