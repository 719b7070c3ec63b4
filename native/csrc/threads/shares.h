// Items that threads share out among themselves.
#pragma once

#include <algorithm>

#include "threads/thread_pool.h"

namespace earshot {

// Calls `run(first, count)` for shares of `items` of about one size, on as many threads.
template <class Run>
void share_out(int items, int threads, Run run) {
  const int count = std::max(1, std::min(threads, items));
  run_shares(count, count, [&](int share) {
    const int first = items * share / count;
    run(first, items * (share + 1) / count - first);
  });
}

}  // namespace earshot
