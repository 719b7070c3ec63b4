// Tokens in bands from cheap to dear: the keys that the cheap ones lead to crowd out what the dear
// ones could reach, if they come first.
#pragma once

#include "block/block.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int BAND_BITS = 6;
inline constexpr int BAND_BINS = 1 << BAND_BITS;
inline constexpr int LIKELY_GROWTH = 4;  // of the number of keys in a frame

class Bands {
 public:
  KERNEL_FN Bands(const Block& block, const Workspace& work, const WfstOptionRow& options,
                  const Frontier& frontier)
      : block_(block), options_(options), work_(work), frontier_(frontier) {}

  // Sorts the able tokens, where there will be so many keys that it matters.
  KERNEL_FN void sort() const {
    const std::int64_t keys = frontier_.num_alive();
    if (LIKELY_GROWTH * keys < options_.max_active) return;
    const int count = totals().num_able;
    for (int i = block_.thread; i < BAND_BINS; i += block_.threads) work_.histogram[i] = 0;
    block_.sync();
    for (int i = block_.thread; i < count; i += block_.threads) {
      block_.fetch_add(&work_.histogram[bin_of(work_.able[i])], 1);
    }
    block_.sync();
    if (block_.thread == 0) add_up(count);
    block_.sync();
    for (int i = block_.thread; i < count; i += block_.threads) {
      const int place = work_.able[i];
      work_.sorted[block_.fetch_add(&work_.histogram[bin_of(place)], 1)] = place;
    }
    block_.sync();
  }

  KERNEL_FN int count() const { return totals().num_bands; }
  KERNEL_FN const int* order() const { return count() > 1 ? work_.sorted : work_.able; }
  KERNEL_FN int begin(int band) const { return band == 0 ? 0 : totals().band_ends[band - 1]; }
  KERNEL_FN int end(int band) const {
    return band + 1 == count() ? totals().num_able : totals().band_ends[band];
  }

 private:
  KERNEL_FN FrameTotals& totals() const { return frontier_.totals(); }

  KERNEL_FN int bin_of(int place) const {
    const int width = bit_width(static_cast<std::uint64_t>(options_.beam));
    const int shift = width > BAND_BITS ? width - BAND_BITS : 0;
    const Cost bin = (work_.entries.costs[place] - totals().least) >> shift;
    return bin < BAND_BINS ? static_cast<int>(bin) : BAND_BINS - 1;
  }

  // Where bins begin, and bands of about as many tokens each end.
  KERNEL_FN void add_up(int count) const {
    totals().num_bands = MOST_BANDS;
    int before = 0;
    int band = 0;
    for (int bin = 0; bin < BAND_BINS; ++bin) {
      const int here = work_.histogram[bin];
      work_.histogram[bin] = before;
      before += here;
      while (band < MOST_BANDS && MOST_BANDS * static_cast<std::int64_t>(before) >=
                                      (band + 1) * static_cast<std::int64_t>(count)) {
        totals().band_ends[band++] = before;
      }
    }
  }

  const Block& block_;
  const WfstOptionRow& options_;
  const Workspace& work_;
  const Frontier& frontier_;
};

}  // namespace earshot::EARSHOT_BACKEND
