// What a thread knows of the others' writes: vector clocks between two barriers.
//
// PTX's memory model (ISA, "Memory Consistency Model"): a fence followed by a strong write
// releases; a strong read that sees that write, followed by a fence, acquires; .release and
// .acquire accesses are such pairs in themselves. A barrier orders all threads of the block.
#pragma once

#include <unordered_map>
#include <vector>

#include "thread.h"

namespace emulator {

// Of each thread up to when its writes are known; empty where nothing is.
using Times = std::vector<u32>;

void join(Times& into, const Times& from);

// What strong writes have published, by address.
using Published = std::unordered_map<u64, Times>;

class Clock {
 public:
  void start(u32 thread, u32 threads);

  u32 time() const { return time_; }
  bool knows(u32 thread, u32 time) const {
    return thread == thread_ || (thread < known_.size() && known_[thread] >= time);
  }

  void fence();
  void strong_read(u64 at, Order order, const Published& published);
  void strong_write(u64 at, Order order, Published& published, bool is_update);

 private:
  void release();

  u32 thread_ = 0;
  u32 threads_ = 0;
  u32 time_ = 1;
  Times known_;
  Times seen_;      // what strong reads have met and a fence makes known
  Times released_;  // what strong writes publish
};

}  // namespace emulator
