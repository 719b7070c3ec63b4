#include "clock.h"

namespace emulator {

void join(Times& into, const Times& from) {
  if (from.empty()) return;
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

void Clock::start(u32 thread, u32 threads) {
  thread_ = thread;
  threads_ = threads;
  time_ = 1;
  known_.clear();
  seen_.clear();
  released_.clear();
}

void Clock::fence() {
  join(known_, seen_);
  seen_.clear();
  release();
}

void Clock::release() {
  released_ = known_;
  released_.resize(threads_);
  released_[thread_] = time_;
  ++time_;
}

void Clock::strong_read(u64 at, Order order, const Published& published) {
  const auto found = published.find(at);
  if (found == published.end()) return;
  const bool acquires = order == Order::ACQUIRE || order == Order::BOTH;
  join(acquires ? known_ : seen_, found->second);
}

void Clock::strong_write(u64 at, Order order, Published& published, bool is_update) {
  if (order == Order::RELEASE || order == Order::BOTH) {
    Times fenced = released_;
    release();
    std::swap(fenced, released_);
    join(is_update ? published[at] : (published[at] = Times{}), fenced);
    return;
  }
  if (released_.empty()) {
    if (!is_update) published.erase(at);
    return;
  }
  join(is_update ? published[at] : (published[at] = Times{}), released_);
}

}  // namespace emulator
