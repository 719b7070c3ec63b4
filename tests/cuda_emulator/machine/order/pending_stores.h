// Plain stores of one thread that others do not see yet.
//
// A GPU may let them arrive late and in another order; only a fence, a barrier and the end of the
// kernel say when they are there. Stores to the same bytes keep their order.
#pragma once

#include <vector>

#include "thread.h"

namespace emulator {

class PendingStores {
 public:
  bool empty() const { return stores_.empty(); }
  void add(u64 at, const void* bytes, u32 size);
  // What the thread itself reads there.
  void read(u64 at, void* bytes, u32 size) const;
  // All that touch these bytes arrive.
  void settle(u64 at, u32 size);
  void settle_all();
  // One arrives, whichever.
  void settle_one(u64 chance);
  std::size_t size() const { return stores_.size(); }

 private:
  struct Store {
    u64 at;
    u32 size;
    u8 bytes[8];
  };

  static void arrive(const Store& store);

  std::vector<Store> stores_;
};

}  // namespace emulator
