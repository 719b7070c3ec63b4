// A block of threads with the memory that they share.
#pragma once

#include <memory>
#include <vector>

#include "clock.h"
#include "conflicts.h"
#include "fiber.h"

namespace emulator {

// One block that is under way.
struct Block {
  std::vector<u8> shared;         // with room behind it that nobody may touch
  std::vector<u8> shared_states;  // State of each byte
  std::vector<Word> shared_words;
  std::size_t shared_bytes = 0;
  std::vector<std::unique_ptr<Fiber>> fibers;
  u64 interval = 0;
  u32 barriers = 0;  // that it has passed
  Published own_published;
  Published* published = &own_published;  // or the grid's, where all blocks run together

  bool is_together() const { return published != &own_published; }

  bool holds(u64 at, u32 bytes) const {
    const auto start = reinterpret_cast<u64>(shared.data());
    return at >= start && at + bytes <= start + shared_bytes;
  }
  u64 shared_offset(u64 at) const { return at - reinterpret_cast<u64>(shared.data()); }
};

}  // namespace emulator
