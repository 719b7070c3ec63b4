// Cuts one block of memory into aligned arrays; with no memory behind it, it only measures.
#pragma once

#include "block/block.h"

namespace earshot::EARSHOT_BACKEND {

class Carver {
 public:
  KERNEL_HOST_FN explicit Carver(std::byte* memory) : memory_(memory) {}

  template <class T>
  KERNEL_HOST_FN T* take(int count) {
    const std::size_t start = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    used_ = start + sizeof(T) * static_cast<std::size_t>(count);
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + start);
  }

  // Bytes taken, rounded up so that another piece of the same kind can follow.
  KERNEL_HOST_FN std::size_t used() const { return (used_ + 15) / 16 * 16; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

}  // namespace earshot::EARSHOT_BACKEND
