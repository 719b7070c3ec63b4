#include "threads/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>

namespace earshot {
namespace {

std::atomic<ThreadPool*> pool{nullptr};

// A child has none of its parent's threads, and perhaps a mutex that one of them held: it leaves
// the parent's pool as it is.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_release); });

// While it lives, signals are for other threads; a thread that starts inherits that.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// One call; it lies on the caller's stack until no helper is in it.
struct ThreadPool::Job {
  ShareFunction run;
  int shares;
  int helpers_wanted;
  int helpers_inside = 0;
  std::atomic<int> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error{};

  void take_shares() {
    for (int share = next++; share < shares; share = next++) {
      try {
        run(share);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
};

ThreadPool& ThreadPool::of_process() {
  ThreadPool* found = pool.load(std::memory_order_acquire);
  if (found == nullptr) {
    // No lock: one that is held at a fork would stay so in the child. Without threads a pool that
    // comes too late is only memory.
    auto* made = new ThreadPool;
    if (pool.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
    delete made;
  }
  return *found;
}

void ThreadPool::run(int shares, int threads, ShareFunction run) {
  Job job{.run = run, .shares = shares, .helpers_wanted = std::min(shares, threads) - 1};
  {
    const std::lock_guard lock(mutex_);
    grow(static_cast<std::size_t>(job.helpers_wanted));
    jobs_.push_back(&job);
  }
  for (int i = 0; i < std::min(shares, threads) - 1; ++i) job_came_.notify_one();
  job.take_shares();
  {
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    helpers_left_.wait(lock, [&] { return job.helpers_inside == 0; });
  }
  if (job.error) std::rethrow_exception(job.error);
}

void ThreadPool::grow(std::size_t helpers) {
  const NoSignals blocked;
  while (helpers_.size() < helpers) helpers_.emplace_back([this] { help(); });
}

void ThreadPool::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    job_came_.wait(lock, [&] { return !jobs_.empty(); });
    Job& job = *jobs_.front();
    ++job.helpers_inside;
    if (--job.helpers_wanted == 0) jobs_.pop_front();
    lock.unlock();
    job.take_shares();
    lock.lock();
    if (--job.helpers_inside == 0) helpers_left_.notify_all();
  }
}

}  // namespace earshot
