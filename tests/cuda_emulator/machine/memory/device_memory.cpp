#include "device_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "fault.h"
#include "settings.h"

namespace emulator {

namespace {

constexpr std::size_t ARENA_BYTES = std::size_t{32} << 30;
constexpr std::size_t ALIGNMENT = 4096;  // pages, so that what is freed can be given back
constexpr std::size_t GUARD_BYTES = 512;
// Freed memory that lies unused. What is known of each of its bytes takes 15 times as much.
constexpr std::size_t SLACK_BYTES = std::size_t{64} << 20;

// Pieces of the arena, the next one behind the last: what was freed is used again late.
class Allocator {
 public:
  void* allocate(std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    if (allocation_injection.strikes() || !sticky_error().empty()) return nullptr;
    const std::size_t room = (bytes + GUARD_BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (in_use_ + bytes > settings.memory_bytes) return nullptr;
    if (next_ > 2 * in_use_ + SLACK_BYTES) next_ = 0;
    const std::size_t start = find(room);
    if (start + room > device_arena().size()) return nullptr;
    pieces_[start] = Piece{room, bytes};
    next_ = start + room;
    in_use_ += bytes;
    const u64 at = device_arena().base() + start;
    device_arena().set_state(at, bytes, UNWRITTEN);
    return reinterpret_cast<void*>(at);
  }

  std::size_t size() {
    const std::lock_guard guard(mutex_);
    return pieces_.size();
  }

  void release(void* memory) {
    const std::lock_guard guard(mutex_);
    const auto at = reinterpret_cast<u64>(memory);
    const auto piece = pieces_.find(device_arena().offset(at));
    if (piece == pieces_.end()) std::abort();  // memory that is not the device's, or freed twice
    device_arena().forget(at, piece->second.room);
    in_use_ -= piece->second.bytes;
    pieces_.erase(piece);
  }

 private:
  struct Piece {
    std::size_t room;
    std::size_t bytes;
  };

  // The first gap behind the last piece that was taken.
  std::size_t find(std::size_t room) const {
    std::size_t start = next_;
    for (auto piece = pieces_.lower_bound(start); piece != pieces_.end(); ++piece) {
      if (piece->first - start >= room) break;
      start = piece->first + piece->second.room;
    }
    return start;
  }

  std::mutex mutex_;
  std::map<std::size_t, Piece> pieces_;  // by where they begin
  std::size_t next_ = 0;
  std::size_t in_use_ = 0;
};

Allocator& allocator() {
  static auto& only = *new Allocator;  // tensors may outlive what is destroyed at exit
  return only;
}

}  // namespace

void* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

Arena::Arena(std::size_t bytes)
    : base_(reinterpret_cast<u64>(reserve(bytes))),
      size_(bytes),
      states_(static_cast<u8*>(reserve(bytes + STATE_MARGIN))) {}

State Arena::state(u64 at, std::size_t bytes) const {
  const u8* const states = states_ + offset(at);
  u8 least = WRITTEN;
  for (std::size_t i = 0; i < bytes; ++i) least = std::min(least, states[i]);
  return static_cast<State>(least);
}

void Arena::set_state(u64 at, std::size_t bytes, State state) {
  std::memset(states_ + offset(at), state, bytes);
}

void Arena::forget(u64 at, std::size_t bytes) {
  madvise(reinterpret_cast<void*>(at), bytes, MADV_DONTNEED);
  madvise(states_ + offset(at), bytes, MADV_DONTNEED);
}

Arena& device_arena() {
  static auto& only = *new Arena(ARENA_BYTES);
  return only;
}

}  // namespace emulator

void* emulator_allocate(std::size_t bytes) {
  return emulator::allocator().allocate(bytes);
}

void emulator_release(void* memory) {
  emulator::allocator().release(memory);
}

void emulator_host_wrote(void* at, std::size_t bytes) {
  const auto start = reinterpret_cast<emulator::u64>(at);
  if (emulator::device_arena().state(start, bytes) == emulator::FREE) std::abort();
  emulator::device_arena().set_state(start, bytes, emulator::WRITTEN);
}

void emulator_fail_allocation(std::size_t after) {
  emulator::allocation_injection.arm(after);
}

bool emulator_is_written(const void* at) {
  return emulator::device_arena().state(reinterpret_cast<emulator::u64>(at), 1) ==
         emulator::WRITTEN;
}

std::size_t emulator_allocations() {
  return emulator::allocator().size();
}

const char* emulator_sticky_error() {
  thread_local std::string why;
  why = emulator::sticky_error();
  return why.empty() ? nullptr : why.c_str();
}
