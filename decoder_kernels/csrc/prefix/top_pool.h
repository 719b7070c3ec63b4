// The best `keep` of any number of candidates, offered in batches by all threads of a block.
//
// Candidates are ordered by score, ties by a key that is unique: which thread offered first never
// shows. A candidate that the worst kept one beats is dropped at once ("cut before insert"), so a
// batch is mostly empty and its ranks are counted in a few comparisons.
#pragma once

#include <limits>

#include "block/block.h"
#include "block/scratch.h"

namespace earshot::EARSHOT_BACKEND {

struct Candidate {
  double score;
  long long key;
  int parent;
  int token;
};

KERNEL_FN bool better(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.key < b.key);
}

class TopPool {
 public:
  static constexpr int LARGEST_BATCH = 256;  // most offers between two calls of settle()

  // Offers per batch: few enough that the worst kept candidate soon drops the rest at once, and
  // enough to give every thread some.
  KERNEL_FN static int batch(const Block& block) {
    const int two_each = 2 * block.threads;
    return two_each < 16 ? 16 : (two_each < LARGEST_BATCH ? two_each : LARGEST_BATCH);
  }

  KERNEL_HOST_FN TopPool(Carver& scratch, int keep)
      : keep_(keep),
        best_(scratch.take<Candidate>(keep)),
        next_(scratch.take<Candidate>(keep)),
        incoming_(scratch.take<Candidate>(LARGEST_BATCH)),
        kept_(scratch.take<int>(1)),
        offered_(scratch.take<int>(1)) {}

  KERNEL_FN void clear(const Block& block) {
    block.sync();
    if (block.thread == 0) *kept_ = *offered_ = 0;
    block.sync();
  }

  // Candidates below this score need not be offered: worse than all that would be kept.
  KERNEL_FN double floor() const {
    return *kept_ < keep_ ? -std::numeric_limits<double>::infinity() : best_[keep_ - 1].score;
  }

  KERNEL_FN void offer(const Block& block, const Candidate& candidate) {
    if (*kept_ < keep_ || better(candidate, best_[keep_ - 1])) {
      incoming_[block.fetch_add(offered_, 1)] = candidate;
    }
  }

  // Merges the batch into the best, sorted.
  KERNEL_FN void settle(const Block& block) {
    block.sync();
    const int kept = *kept_;
    const int total = kept + *offered_;
    if (total == kept) {
      block.sync();  // nobody offers again before all have read that nothing was offered
      return;
    }
    for (int i = block.thread; i < total; i += block.threads) {
      const Candidate candidate = at(i, kept);
      const int rank = rank_of(candidate, kept, total);
      if (rank < keep_) next_[rank] = candidate;
    }
    block.sync();
    const int remaining = total < keep_ ? total : keep_;
    for (int i = block.thread; i < remaining; i += block.threads) best_[i] = next_[i];
    if (block.thread == 0) {
      *kept_ = remaining;
      *offered_ = 0;
    }
    block.sync();
  }

  KERNEL_FN int size() const { return *kept_; }
  KERNEL_FN const Candidate& operator[](int rank) const { return best_[rank]; }

 private:
  KERNEL_FN const Candidate& at(int i, int kept) const {
    return i < kept ? best_[i] : incoming_[i - kept];
  }

  KERNEL_FN int rank_of(const Candidate& candidate, int kept, int total) const {
    int rank = 0;
    for (int i = 0; i < total && rank < keep_; ++i) rank += better(at(i, kept), candidate) ? 1 : 0;
    return rank;
  }

  int keep_;
  Candidate* best_;
  Candidate* next_;
  Candidate* incoming_;
  int* kept_;
  int* offered_;
};

}  // namespace earshot::EARSHOT_BACKEND
