// Threads that wait for work, so that a call need not start any. A library has a pool of its own in
// each process: it starts with the first call that wants help, and a forked child begins anew.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace earshot {

// A function of a share's number, for as long as it is called; nothing is copied.
class ShareFunction {
 public:
  template <class Run>
  explicit ShareFunction(const Run& run)
      : run_(&run),
        call_([](const void* own, int share) { (*static_cast<const Run*>(own))(share); }) {}

  void operator()(int share) const { call_(run_, share); }

 private:
  const void* run_;
  void (*call_)(const void*, int);
};

class ThreadPool {
 public:
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of this process.
  static ThreadPool& of_process();

  // Calls `run(share)` for each share in 0..shares, on at most `threads` threads of which the
  // caller is one; returns when all have ended. The caller takes what nobody else has taken, so
  // that calls within shares and calls from many threads end however few helpers there are.
  //
  // Throws the first of the shares' exceptions when all have ended; std::system_error, before any
  // share has begun, where a thread cannot be started.
  void run(int shares, int threads, ShareFunction run);

 private:
  struct Job;

  ThreadPool() = default;
  ~ThreadPool() = default;  // never of one with threads: they may outlive the interpreter

  void grow(std::size_t helpers);
  void help();

  std::mutex mutex_;  // guards the rest, and the counts of jobs
  std::condition_variable job_came_;
  std::condition_variable helpers_left_;
  std::deque<Job*> jobs_;  // that want more helpers
  std::vector<std::thread> helpers_;
};

// `run(share)` for each share, on at most `threads` threads: `ThreadPool::run`.
template <class Run>
void run_shares(int shares, int threads, const Run& run) {
  if (shares <= 1 || threads <= 1) {
    for (int share = 0; share < shares; ++share) run(share);
    return;
  }
  ThreadPool::of_process().run(shares, threads, ShareFunction(run));
}

}  // namespace earshot
