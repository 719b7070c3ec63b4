// Tokens in cost buckets from cheap to dear: where the cheap ones are expanded first, the keys that
// they lead to lower the cutoff (histogram pruning) before the dear ones are looked at.
#pragma once

#include "block/block.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int BUCKET_BITS = 6;
inline constexpr int BUCKET_BINS = 1 << BUCKET_BITS;
inline constexpr int LIKELY_GROWTH = 4;  // of the number of keys in a frame

class CostBuckets {
 public:
  KERNEL_FN CostBuckets(const Block& block, const Workspace& work, const WfstOptionRow& options,
                        const Frontier& frontier)
      : block_(block), options_(options), work_(work), frontier_(frontier) {}

  // Sorts the affordable tokens, where there will be so many keys that it matters.
  KERNEL_FN void sort() const {
    const std::int64_t keys = frontier_.num_alive();
    if (LIKELY_GROWTH * keys < options_.max_active) return;
    const int count = totals().num_affordable;
    for (int i = block_.thread; i < BUCKET_BINS; i += block_.threads) work_.histogram[i] = 0;
    block_.sync();
    for (int i = block_.thread; i < count; i += block_.threads) {
      block_.fetch_add(&work_.histogram[bin_of(work_.affordable[i])], 1);
    }
    block_.sync();
    if (block_.thread == 0) add_up(count);
    block_.sync();
    for (int i = block_.thread; i < count; i += block_.threads) {
      const int place = work_.affordable[i];
      work_.sorted[block_.fetch_add(&work_.histogram[bin_of(place)], 1)] = place;
    }
    block_.sync();
  }

  KERNEL_FN int count() const { return totals().num_buckets; }
  KERNEL_FN const int* order() const { return count() > 1 ? work_.sorted : work_.affordable; }
  KERNEL_FN int begin(int bucket) const {
    return bucket == 0 ? 0 : totals().bucket_ends[bucket - 1];
  }
  KERNEL_FN int end(int bucket) const {
    return bucket + 1 == count() ? totals().num_affordable : totals().bucket_ends[bucket];
  }

 private:
  KERNEL_FN FrameTotals& totals() const { return frontier_.totals(); }

  KERNEL_FN int bin_of(int place) const {
    const int width = bit_width(static_cast<std::uint64_t>(options_.beam));
    const int shift = width > BUCKET_BITS ? width - BUCKET_BITS : 0;
    const Cost bin = (work_.entries.costs[place] - totals().least) >> shift;
    return bin < BUCKET_BINS ? static_cast<int>(bin) : BUCKET_BINS - 1;
  }

  // Where bins begin, and buckets of about as many tokens each end.
  KERNEL_FN void add_up(int count) const {
    totals().num_buckets = MOST_BUCKETS;
    int before = 0;
    int bucket = 0;
    for (int bin = 0; bin < BUCKET_BINS; ++bin) {
      const int here = work_.histogram[bin];
      work_.histogram[bin] = before;
      before += here;
      while (bucket < MOST_BUCKETS && MOST_BUCKETS * static_cast<std::int64_t>(before) >=
                                          (bucket + 1) * static_cast<std::int64_t>(count)) {
        totals().bucket_ends[bucket++] = before;
      }
    }
  }

  const Block& block_;
  const WfstOptionRow& options_;
  const Workspace& work_;
  const Frontier& frontier_;
};

}  // namespace earshot::EARSHOT_BACKEND
