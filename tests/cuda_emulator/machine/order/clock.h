// What a thread knows of the others' writes: vector clocks.
//
// PTX's memory model (ISA, "Memory Consistency Model"): a fence followed by a strong write
// releases; a strong read that sees that write, followed by a fence, acquires; .release and
// .acquire accesses are such pairs in themselves. What has the scope of a block (.cta) orders its
// threads alone. A barrier orders all threads of the block: where blocks are looked at one by one,
// clocks start anew there; where they run together, clocks go on.
#pragma once

#include "published.h"
#include "thread.h"
#include "times.h"

namespace emulator {

class Clock {
 public:
  // Of one of a block's threads. `first`: the place of the block's first thread among all that
  // are told apart.
  void start(u32 block, u32 first, u32 thread);
  // Behind a barrier, whose threads know of each other what they all do.
  void go_on(const Times& together);

  u32 place() const { return place_; }
  u32 time() const { return time_; }
  const Times& known() const { return known_; }
  // Of a thread of the same block.
  bool knows(u32 thread, u32 time) const { return knows_place(first_ + thread, time); }
  bool knows_place(u32 place, u32 time) const {
    return place == place_ || known_.at(place) >= time;
  }

  void fence(Order order);
  void strong_read(u64 at, Order order, Published& published);
  void strong_write(u64 at, Order order, Published& published, bool is_update);

 private:
  Times release();

  u32 block_ = 0;
  u32 first_ = 0;
  u32 place_ = 0;
  u32 time_ = 1;
  Times known_;
  // What strong reads have met and a fence makes known, and what strong writes publish: of the
  // block's own threads, and of all.
  Times seen_of_block_, seen_;
  Times released_to_block_, released_;
};

}  // namespace emulator
