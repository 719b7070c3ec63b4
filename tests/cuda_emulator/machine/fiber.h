// CUDA threads as fibers: each has a stack of its own and runs until it gives way.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clock.h"
#include "pending_stores.h"
#include "thread.h"

namespace emulator {

inline constexpr std::size_t STACK_BYTES = std::size_t{1} << 20;
inline constexpr int NO_SITE = -1;

struct Block;

struct Fiber : Thread {
  Block* home = nullptr;
  u32 barrier_places = 0;  // in clocks, of blocks that run together: how many each has passed
  u8* stack = nullptr;
  void* stack_pointer = nullptr;
  int waits_at = NO_SITE;   // site of the barrier
  int last_site = NO_SITE;  // of an access
  bool done = false;
  Clock clock;
  PendingStores pending;
  u64 idle_since = 0;  // of what follows: see progress.h
  bool is_waiting = false;
  std::unordered_set<u64> idle_states;
  std::vector<u32> entered;   // per code block, and
  std::vector<u32> accesses;  // per site, where that is counted

  bool owns(u64 at, u32 bytes) const {
    const auto bottom = reinterpret_cast<u64>(stack);
    return at >= bottom && at + bytes <= bottom + STACK_BYTES;
  }
};

// Lets a fresh fiber begin at `entry`, which never returns.
void prepare(Fiber& fiber, void (*entry)());
// From the host to a fiber, and back from the one that runs.
void switch_to(Fiber& fiber);
void switch_to_host();
Fiber& running();

}  // namespace emulator
