#include "host_memory.h"

namespace emulator {

bool HostMemory::add(u64 start, u64 bytes, bool is_allocated) {
  const auto next = pieces_.upper_bound(start);
  if (next != pieces_.end() && next->first < start + bytes) return false;
  if (piece_of(start) != nullptr) return false;
  pieces_[start] = Piece{start, bytes, is_allocated};
  return true;
}

bool HostMemory::remove(u64 start, bool is_allocated) {
  const auto found = pieces_.find(start);
  if (found == pieces_.end()) return false;
  if (found->second.is_allocated != is_allocated) return false;
  pieces_.erase(found);
  return true;
}

bool HostMemory::allows(u64 at, u32 bytes) const {
  const u64 start = host_address(at);
  const Piece* const piece = piece_of(start);
  return piece != nullptr && start + bytes <= piece->start + piece->bytes;
}

const HostMemory::Piece* HostMemory::piece_of(u64 start) const {
  const auto next = pieces_.upper_bound(start);
  if (next == pieces_.begin()) return nullptr;
  const Piece& piece = std::prev(next)->second;
  return start < piece.start + piece.bytes ? &piece : nullptr;
}

HostMemory& host_memory() {
  static auto& only = *new HostMemory;  // images may outlive what is destroyed at exit
  return only;
}

}  // namespace emulator
