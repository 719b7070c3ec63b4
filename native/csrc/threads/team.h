// Threads that go together through many short loops: none has to be woken for each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "threads/thread_pool.h"

namespace earshot {

// One thread leads; the others wait, awake for as long as a loop may be near, and take parts of the
// loops that it shares. A helper that is late leaves its parts to whoever is there.
class Team {
 public:
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // A leader who shares with nobody: many may be it at once.
  static Team& alone() {
    static Team one(1);
    return one;
  }

  // Calls `run(first, count)` for parts of `items`, on all threads; returns when all have ended.
  // For the leader only, and not within a part. Throws the first of the parts' exceptions.
  template <class Run>
  void share(int items, const Run& run) {
    if (threads_ <= 1 || items <= 1) {
      if (items > 0) run(0, items);
      return;
    }
    const int parts = std::min(items, threads_ * PARTS_A_THREAD);
    const auto run_part = [&](int part) {
      const auto border = [&](int i) { return static_cast<int>(std::int64_t{items} * i / parts); };
      run(border(part), border(part + 1) - border(part));
    };
    run_parts(parts, ShareFunction(run_part));
  }

 private:
  friend class TeamMembers;

  // So that one that starts late, or on a slower core, does not keep the others waiting.
  static constexpr int PARTS_A_THREAD = 4;

  explicit Team(int threads) : threads_(threads) {}

  void run_parts(int parts, const ShareFunction& run);
  void follow();
  void dismiss();
  bool take_part();

  int threads_;
  // The loop that is under way, its parts, and the next of them that nobody has: one number, so
  // that none is taken of a loop that has ended.
  std::atomic<std::uint64_t> loop_{0};
  const ShareFunction* run_ = nullptr;  // written while nobody has a part, read by who has one
  std::atomic<int> unfinished_{0};      // parts
  std::atomic<bool> failed_{false};
  std::exception_ptr error_{};
};

// Calls `lead(team)` on one of `threads` threads; the others help it until it returns.
class TeamMembers {
 public:
  template <class Lead>
  static void run(int threads, const Lead& lead) {
    const int members = std::max(threads, 1);
    Team team(members);
    run_shares(members, members, [&](int member) {
      if (member != 0) return team.follow();
      const Dismissal at_the_end{team};
      lead(team);
    });
  }

 private:
  struct Dismissal {
    Team& team;
    ~Dismissal() { team.dismiss(); }
  };
};

}  // namespace earshot
