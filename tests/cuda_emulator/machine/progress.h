// Whether a launch gets on, or its threads wait for what none of them will do.
//
// A thread that gives way twice in the same state, while nobody has changed memory, comes back to
// that state for ever: it waits. The state is all that lies on its stack.
#pragma once

#include "fiber.h"
#include "thread.h"

namespace emulator {

// Changes of memory that others can see, since the start of the process.
inline u64 memory_changes = 0;

inline void change_memory(u64 at, const void* bytes, u32 size) {
  auto* const place = reinterpret_cast<void*>(at);
  if (std::memcmp(place, bytes, size) == 0) return;
  std::memcpy(place, bytes, size);
  ++memory_changes;
}

class Progress {
 public:
  void begin() { idle_rounds_ = 0; }
  // Around a round, in which each thread runs that can.
  void begin_round() { changes_before_ = memory_changes; }
  void end_round(bool has_moved);  // a thread has ended or has come to a barrier
  // Of a thread that gives way.
  void look_at(Fiber& fiber);
  // Whether it will wait for ever, unless others change what it reads.
  bool waits(const Fiber& fiber) const { return fiber.idle_since == epoch_ && fiber.is_waiting; }

 private:
  u64 changes_before_ = 0;
  u64 idle_rounds_ = 0;
  u64 epoch_ = 1;  // between two changes
};

}  // namespace emulator
