// Behaviours of the pool of threads, one for each name on the command line; exits with 0 where it
// holds. test_thread_pool.py compiles this file, with ThreadSanitizer too.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "behaviours.h"
#include "threads/thread_pool.h"

namespace {

using earshot::run_shares;

// Whether each share ran once.
bool runs_all(int shares, int threads) {
  std::vector<std::atomic<int>> runs(shares);
  run_shares(shares, threads, [&](int share) { ++runs[share]; });
  for (const auto& count : runs) {
    if (count != 1) return false;
  }
  return true;
}

// Whether so many shares run at the same time: else they wait for each other forever.
bool meets(int threads) {
  std::barrier<> meeting(threads);
  run_shares(threads, threads, [&](int) { meeting.arrive_and_wait(); });
  return true;
}

bool runs_more_shares_than_threads() {
  return runs_all(1000, 3) && runs_all(2, 8) && runs_all(1, 4) && runs_all(0, 4);
}

bool grows_to_the_largest_number_asked_for() {
  return meets(2) && meets(5) && meets(3);
}

bool runs_no_more_at_once_than_asked() {
  meets(6);
  std::atomic<int> inside{0};
  std::atomic<bool> crowded{false};
  for (int round = 0; round < 200; ++round) {
    run_shares(20, 2, [&](int) {
      if (++inside > 2) crowded = true;
      --inside;
    });
  }
  return !crowded;
}

bool serves_concurrent_callers() {
  std::atomic<int> failures{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) failures += runs_all(7, 3) ? 0 : 1;
    });
  }
  callers.clear();
  return failures == 0;
}

bool serves_calls_within_shares() {
  std::atomic<int> failures{0};
  run_shares(6, 3,
             [&](int) { run_shares(4, 4, [&](int) { failures += runs_all(5, 2) ? 0 : 1; }); });
  return failures == 0;
}

bool throws_what_a_share_throws() {
  std::atomic<int> runs{0};
  try {
    run_shares(40, 4, [&](int share) {
      ++runs;
      if (share % 9 == 5) throw std::runtime_error("share");
    });
  } catch (const std::runtime_error& error) {
    return error.what() == std::string("share") && runs == 40 && runs_all(9, 4);
  }
  return false;
}

// The child has a pool of its own, and the parent's goes on: also where a call of another thread
// is under way when the fork comes.
bool survives_forks() {
  meets(3);
  std::atomic<bool> over{false};
  std::jthread busy([&] {
    while (!over) runs_all(5, 3);
  });
  bool held = true;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(meets(4) && runs_all(50, 4) ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    held = held && status == 0 && runs_all(50, 4);
  }
  over = true;
  return held;
}

const std::map<std::string, bool (*)()> BEHAVIOURS = {
    {"runs_more_shares_than_threads", runs_more_shares_than_threads},
    {"grows_to_the_largest_number_asked_for", grows_to_the_largest_number_asked_for},
    {"runs_no_more_at_once_than_asked", runs_no_more_at_once_than_asked},
    {"serves_concurrent_callers", serves_concurrent_callers},
    {"serves_calls_within_shares", serves_calls_within_shares},
    {"throws_what_a_share_throws", throws_what_a_share_throws},
    {"survives_forks", survives_forks},
};

}  // namespace

int main(int count, char** arguments) {
  return check_named(BEHAVIOURS, count, arguments);
}
