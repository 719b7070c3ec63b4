// Memory of the host that kernels may read: what was registered or allocated for that. Kernels see
// it at addresses of its own, so that one of the host's is found where the device's was meant.
#pragma once

#include <cstddef>
#include <map>

#include "thread.h"

namespace emulator {

// No address of a process has this bit.
inline constexpr u64 HOST_BIT = u64{1} << 47;

inline bool is_host(u64 at) {
  return (at & HOST_BIT) != 0;
}
// Where the bytes really are.
inline u64 host_address(u64 at) {
  return at & ~HOST_BIT;
}

class HostMemory {
 public:
  // Whether none of these bytes was there already.
  bool add(u64 start, u64 bytes, bool is_allocated);
  // Whether such a piece begins there.
  bool remove(u64 start, bool is_allocated);
  // Whether a kernel may read these bytes, which it sees at `at`.
  bool allows(u64 at, u32 bytes) const;
  bool holds(u64 start) const { return piece_of(start) != nullptr; }
  std::size_t size() const { return pieces_.size(); }

 private:
  struct Piece {
    u64 start;
    u64 bytes;
    bool is_allocated;
  };

  const Piece* piece_of(u64 start) const;

  std::map<u64, Piece> pieces_;
};

HostMemory& host_memory();

}  // namespace emulator
