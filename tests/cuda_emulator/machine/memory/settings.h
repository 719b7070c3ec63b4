// How the emulated device behaves, set by tests before they launch.
#pragma once

#include "thread.h"

namespace emulator {

struct Settings {
  u64 seed = 0;             // of all that is left to chance; 0: threads and blocks run in order
  u64 mean_slice = 0;       // accesses between two forced switches of threads; 0: none is forced
  u64 blocks_together = 1;  // blocks that run at the same time, interleaved
  u64 delays_stores = 0;    // plain stores reach others at a fence or barrier, or by chance
  u64 finds_conflicts = 1;  // accesses that nothing orders are faults
  u64 finds_unwritten = 1;  // reads of what nobody has written are faults
  u64 counts = 0;           // instructions, barriers, atomics, bytes
  u64 watched_from = 0;     // of the device's memory, whose accesses are counted for themselves
  u64 watched_bytes = 0;
  u64 memory_bytes = u64{8} << 30;  // of the device
  u64 multiprocessors = 132;        // how many blocks run together where all must
};

extern Settings settings;

}  // namespace emulator
