// What strong writes have published, by address.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "times.h"

namespace emulator {

// To the threads of the block that wrote, and to those of all blocks.
class Publication {
 public:
  Times to_all;

  Times& to(u32 block) {
    for (auto& [other, times] : to_blocks_) {
      if (other == block) return times;
    }
    return to_blocks_.emplace_back(block, Times{}).second;
  }

 private:
  std::vector<std::pair<u32, Times>> to_blocks_;
};

using Published = std::unordered_map<u64, Publication>;

}  // namespace emulator
