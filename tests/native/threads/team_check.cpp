// Behaviours of a team of threads, one for each name on the command line; exits with 0 where it
// holds. test_team.py compiles this file, with ThreadSanitizer too.
#include <atomic>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "behaviours.h"
#include "threads/team.h"

namespace {

using earshot::Team;
using earshot::TeamMembers;

// Whether a loop ran over each item once; what it writes is plain memory, read behind it.
bool runs_all(Team& team, int items) {
  std::vector<int> runs(items);
  team.share(items, [&](int first, int count) {
    for (int i = first; i < first + count; ++i) ++runs[i];
  });
  return std::accumulate(runs.begin(), runs.end(), 0) == items &&
         std::ranges::all_of(runs, [](int count) { return count == 1; });
}

bool run_loops(int threads, int loops) {
  bool held = true;
  TeamMembers::run(threads, [&](Team& team) {
    for (int loop = 0; loop < loops; ++loop) held = runs_all(team, loop % 37) && held;
  });
  return held;
}

bool runs_over_each_item_once() {
  return run_loops(1, 100) && run_loops(2, 3000) && run_loops(5, 3000);
}

bool sees_in_a_loop_what_the_last_one_wrote() {
  bool held = true;
  TeamMembers::run(3, [&](Team& team) {
    std::vector<int> before(50, 0), after(50, 0);
    for (int loop = 1; loop <= 500; ++loop) {
      team.share(50, [&](int first, int count) {
        for (int i = first; i < first + count; ++i) after[i] = before[49 - i] + 1;
      });
      held = held && std::ranges::all_of(after, [&](int i) { return i == loop; });
      before.swap(after);
    }
  });
  return held;
}

bool wakes_helpers_that_fell_asleep() {
  bool held = true;
  TeamMembers::run(3, [&](Team& team) {
    for (int loop = 0; loop < 5; ++loop) {
      std::atomic<long> passed{0};
      while (++passed < 3'000'000) {
      }
      std::atomic<int> inside{0};  // two parts meet, so that not all are the leader's
      team.share(12, [&](int first, int) {
        if (first > 1) return;
        ++inside;
        while (inside < 2) std::this_thread::yield();
      });
      held = held && inside == 2;
    }
  });
  return held;
}

bool throws_what_a_part_throws() {
  bool held = false;
  TeamMembers::run(3, [&](Team& team) {
    try {
      team.share(40, [](int first, int count) {
        if (first <= 22 && 22 < first + count) throw std::runtime_error("part");
      });
    } catch (const std::runtime_error& error) {
      held = error.what() == std::string("part") && runs_all(team, 40);
    }
  });
  return held;
}

bool ends_when_the_leader_throws() {
  try {
    TeamMembers::run(4, [](Team& team) {
      runs_all(team, 9);
      throw std::runtime_error("leader");
    });
  } catch (const std::runtime_error& error) {
    return error.what() == std::string("leader") && run_loops(4, 20);
  }
  return false;
}

bool serves_concurrent_callers() {
  std::atomic<int> failures{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) failures += run_loops(3, 60) ? 0 : 1;
      failures += runs_all(Team::alone(), 5) ? 0 : 1;
    });
  }
  callers.clear();
  return failures == 0;
}

const std::map<std::string, bool (*)()> BEHAVIOURS = {
    {"runs_over_each_item_once", runs_over_each_item_once},
    {"sees_in_a_loop_what_the_last_one_wrote", sees_in_a_loop_what_the_last_one_wrote},
    {"wakes_helpers_that_fell_asleep", wakes_helpers_that_fell_asleep},
    {"throws_what_a_part_throws", throws_what_a_part_throws},
    {"ends_when_the_leader_throws", ends_when_the_leader_throws},
    {"serves_concurrent_callers", serves_concurrent_callers},
};

}  // namespace

int main(int count, char** arguments) {
  return check_named(BEHAVIOURS, count, arguments);
}
