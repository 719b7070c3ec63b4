// The memory of the emulated device: which bytes are allocated, and which of these were written.
#pragma once

#include <cstddef>

#include "thread.h"

extern "C" {
// nullptr where it is refused: no room, told to fail, or the device is broken. Contents count as
// unwritten.
void* emulator_allocate(std::size_t bytes);
void emulator_release(void* memory);
// The host has written there.
void emulator_host_wrote(void* at, std::size_t bytes);
// Refuses one allocation, after so many that are not.
void emulator_fail_allocation(std::size_t after);
bool emulator_is_written(const void* at);
std::size_t emulator_allocations();
// Why every copy and allocation fails, or nullptr. Valid until the thread's next call.
const char* emulator_sticky_error();
}

namespace emulator {

enum State : u8 { FREE, UNWRITTEN, WRITTEN };

// What is known of bytes is read 8 at a time: so much lies behind the last of them.
inline constexpr std::size_t STATE_MARGIN = 8;

// Whether all of these are written: nearly always, and asked at each access.
inline bool all_written(const u8* states, u32 bytes) {
  if (bytes > 8) return all_written(states, 8) && all_written(states + 8, bytes - 8);
  u64 found;
  std::memcpy(&found, states, sizeof found);
  return (found ^ WRITTEN * 0x0101010101010101ULL) << (64 - 8 * bytes) == 0;
}

// A range of addresses with what is known of each byte.
class Arena {
 public:
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  bool holds(u64 at) const { return at - base_ < size_; }
  // The least state among these bytes, all of which are to lie in the arena.
  State state(u64 at, std::size_t bytes) const;
  // The same of an access.
  State access_state(u64 at, u32 bytes) const {
    return all_written(states_ + offset(at), bytes) ? WRITTEN : state(at, bytes);
  }
  void set_state(u64 at, std::size_t bytes, State state);
  // All of it free, and its pages given back.
  void forget(u64 at, std::size_t bytes);
  u64 offset(u64 at) const { return at - base_; }
  u64 base() const { return base_; }
  std::size_t size() const { return size_; }

 private:
  u64 base_;
  std::size_t size_;
  u8* states_;
};

// Zeroed memory of the address space, backed only where it is touched.
void* reserve(std::size_t bytes);

Arena& device_arena();

}  // namespace emulator
