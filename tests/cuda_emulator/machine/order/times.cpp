#include "times.h"

#include <algorithm>

namespace emulator {

void Times::raise(u32 index, u32 time) {
  std::vector<u32>& values = own();
  if (values.size() <= index) values.resize(index + 1);
  values[index] = std::max(values[index], time);
}

void Times::join(const Times& other) {
  if (other.values_ == values_ || other.empty()) return;
  if (empty()) {
    values_ = other.values_;
    return;
  }
  const std::vector<u32>& theirs = *other.values_;
  std::vector<u32>& values = own();
  if (values.size() < theirs.size()) values.resize(theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) values[i] = std::max(values[i], theirs[i]);
}

// Values that nobody else has.
std::vector<u32>& Times::own() {
  if (values_ == nullptr) {
    values_ = std::make_shared<std::vector<u32>>();
  } else if (values_.use_count() > 1) {
    values_ = std::make_shared<std::vector<u32>>(*values_);
  }
  return *values_;
}

}  // namespace emulator
