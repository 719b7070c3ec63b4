#include "threads/team.h"

namespace earshot {
namespace {

// Bits of `Team::loop_`: number of the loop, parts, next part.
constexpr int BITS = 20;
constexpr std::uint64_t MASK = (std::uint64_t{1} << BITS) - 1;
constexpr std::uint64_t DISMISSED = ~std::uint64_t{0};
// About as long as waking a thread takes.
constexpr int GLANCES = 4000;

std::uint64_t next_of(std::uint64_t loop) {
  return loop & MASK;
}
std::uint64_t parts_of(std::uint64_t loop) {
  return loop >> BITS & MASK;
}

void breathe() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until it is something else: awake at first, then asleep.
template <class Number>
Number changed(const std::atomic<Number>& watched, Number from) {
  for (int glance = 0; glance < GLANCES; ++glance) {
    const Number now = watched.load(std::memory_order_acquire);
    if (now != from) return now;
    breathe();
  }
  watched.wait(from, std::memory_order_acquire);
  return watched.load(std::memory_order_acquire);
}

}  // namespace

void Team::run_parts(int parts, const ShareFunction& run) {
  const std::uint64_t number = (loop_.load(std::memory_order_relaxed) >> 2 * BITS) + 1;
  run_ = &run;
  failed_ = false;
  unfinished_.store(parts, std::memory_order_relaxed);
  loop_.store(number << 2 * BITS | static_cast<std::uint64_t>(parts) << BITS,
              std::memory_order_release);
  loop_.notify_all();
  while (take_part()) {
  }
  for (int left = unfinished_.load(std::memory_order_acquire); left != 0;) {
    left = changed(unfinished_, left);
  }
  if (failed_) std::rethrow_exception(error_);
}

bool Team::take_part() {
  std::uint64_t loop = loop_.load(std::memory_order_acquire);
  do {
    if (loop == DISMISSED || next_of(loop) >= parts_of(loop)) return false;
  } while (!loop_.compare_exchange_weak(loop, loop + 1, std::memory_order_acquire));
  try {
    (*run_)(static_cast<int>(next_of(loop)));
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_all();
  return true;
}

void Team::follow() {
  std::uint64_t seen = loop_.load(std::memory_order_acquire);
  for (; seen != DISMISSED; seen = changed(loop_, seen)) {
    while (take_part()) {
    }
  }
}

void Team::dismiss() {
  loop_.store(DISMISSED, std::memory_order_release);
  loop_.notify_all();
}

}  // namespace earshot
