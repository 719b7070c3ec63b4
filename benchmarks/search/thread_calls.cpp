// What one call of several threads costs: by the pool, and by threads that each call starts.
// Prints lines `way threads work_us wall_us cpu_us` in turns; thread_calls.py reads them.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "threads/thread_pool.h"

namespace {

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void work_for(double microseconds) {
  const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + 1e-6 * microseconds;
  while (microseconds > 0 && seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

template <class Run>
void with_new_threads(int threads, const Run& run) {
  std::vector<std::jthread> others;
  for (int share = 1; share < threads; ++share) others.emplace_back(run, share);
  run(0);
}

template <class Call>
void measure(const char* way, int threads, double work, Call call) {
  constexpr int CALLS = 300;
  const auto share = [work](int) { work_for(work); };
  call(threads, share);
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < CALLS; ++i) {
    call(threads, share);
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // as between an engine's calls
  }
  std::printf("%s %d %g %g %g\n", way, threads, work,
              1e6 * (seconds(CLOCK_MONOTONIC) - wall) / CALLS,
              1e6 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / CALLS);
}

}  // namespace

int main() {
  for (int turn = 0; turn < 5; ++turn) {
    for (const int threads : {1, 2, 4, 8}) {
      for (const double work : {0.0, 100.0}) {
        measure("pool", threads, work,
                [](int count, const auto& share) { earshot::run_shares(count, count, share); });
        measure("new", threads, work,
                [](int count, const auto& share) { with_new_threads(count, share); });
      }
    }
  }
}
