// What a launch costs, counted as a GPU of 32 lanes a warp would: see counts.cpp for the rules.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grid_words.h"
#include "thread.h"

namespace emulator {

struct Block;
struct Fiber;

enum class Space : u8 { GLOBAL, SHARED, OWN, CONSTANT, HOST, NOWHERE };

// Of one kernel, over all its launches.
struct KernelCounts {
  u64 launches = 0;
  u64 blocks = 0;
  u64 barriers = 0;
  u64 critical_instructions = 0;  // of the warp that works most between two barriers, added up
  u64 critical_doubles = 0;       // of these, double precision
  u64 critical_accesses = 0;      // of these, to memory that others see
  u64 global_atomics = 0;         // of all threads, and so below
  u64 shared_atomics = 0;
  u64 fences = 0;
  u64 global_bytes = 0;
  u64 shared_bytes = 0;
  u64 own_bytes = 0;   // the stack and constants, by generic address
  u64 host_reads = 0;  // of the host's memory
  u64 host_bytes = 0;
  u64 host_sectors = 0;   // of 32 bytes, each once between two barriers of a block
  u64 watched_reads = 0;  // of the piece of memory that `settings` names
  u64 watched_writes = 0;
};

class Counts {
 public:
  void begin(const std::string& kernel, u32 blocks);
  void start(Fiber& fiber);
  void access(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site);
  void fence() { ++now_->fences; }
  // All threads of the block have come to a barrier or to their end.
  void interval(Block& block, bool at_barrier);

  std::string json() const;
  void clear() { kernels_.clear(); }

 private:
  void watched_access(u64 at, Access access);
  void host_access(const Fiber& fiber, u64 at, u32 bytes);

  std::map<std::string, KernelCounts> kernels_;
  std::map<const Block*, std::set<u64>> host_sectors_;  // since the block's last barrier
  KernelCounts* now_ = nullptr;
};

}  // namespace emulator
