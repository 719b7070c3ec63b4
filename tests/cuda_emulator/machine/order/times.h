// Until when what each thread has done is known; a copy costs nothing until one of the two changes.
#pragma once

#include <memory>
#include <vector>

#include "thread.h"

namespace emulator {

class Times {
 public:
  // Nothing is known of anybody.
  bool empty() const { return values_ == nullptr; }
  void clear() { values_.reset(); }
  u32 at(u32 index) const {
    return values_ != nullptr && index < values_->size() ? (*values_)[index] : 0;
  }
  void raise(u32 index, u32 time);
  // All that is known to the one or the other.
  void join(const Times& other);

 private:
  std::vector<u32>& own();

  std::shared_ptr<std::vector<u32>> values_;
};

}  // namespace emulator
