#include "clock.h"

namespace emulator {

void Clock::start(u32 block, u32 first, u32 thread) {
  *this = Clock{};
  block_ = block;
  first_ = first;
  place_ = first + thread;
}

void Clock::go_on(const Times& together) {
  known_ = together;
  ++time_;
}

void Clock::fence(Order order) {
  known_.join(seen_of_block_);
  seen_of_block_.clear();
  if (reaches_all(order)) {
    known_.join(seen_);
    seen_.clear();
  }
  released_to_block_ = release();
  if (reaches_all(order)) released_ = released_to_block_;
}

Times Clock::release() {
  Times released = known_;
  released.raise(place_, time_);
  ++time_;
  return released;
}

void Clock::strong_read(u64 at, Order order, Published& published) {
  const auto found = published.find(at);
  if (found == published.end()) return;
  (acquires(order) ? known_ : seen_of_block_).join(found->second.to(block_));
  if (reaches_all(order)) (acquires(order) ? known_ : seen_).join(found->second.to_all);
}

void Clock::strong_write(u64 at, Order order, Published& published, bool is_update) {
  if (!is_update) published.erase(at);
  const Times to_block = releases(order) ? release() : released_to_block_;
  if (to_block.empty()) return;
  Publication& publication = published[at];
  publication.to(block_).join(to_block);
  if (reaches_all(order)) publication.to_all.join(releases(order) ? to_block : released_);
}

}  // namespace emulator
