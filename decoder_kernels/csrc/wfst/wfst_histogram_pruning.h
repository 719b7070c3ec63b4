// Max-active (histogram) pruning: which of the keys that a frame reaches survive, and what can be
// known of that early: a key that is dearer than max_active others need not be looked at.
#pragma once

#include "block/block.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int PRUNING_BITS = 8;

class HistogramPruning {
 public:
  KERNEL_FN HistogramPruning(const Block& block, const Workspace& work,
                             const WfstOptionRow& options, const Frontier& frontier)
      : block_(block),
        max_active_(static_cast<int>(options.max_active)),
        beam_(options.beam),
        work_(work),
        entries_(work.entries),
        frontier_(frontier) {}

  // Says what survives: entries up to limit_cost, and of those that cost just that up to limit_key.
  KERNEL_FN void limit() const {
    const Cost highest = frontier_.totals().best + beam_;
    block_.sync();
    if (block_.thread == 0) {
      frontier_.totals().limit_cost = highest;
      frontier_.totals().limit_key = highest_key();
      frontier_.totals().num_survivors = 0;
    }
    block_.sync();
    if (most_keys() <= max_active_) return;
    int count = 0;
    const int size = frontier_.size();
    for (int i = block_.thread; i < size; i += block_.threads) {
      count += entries_.nexts[i] <= highest ? 1 : 0;
    }
    if (count > 0) block_.fetch_add(&frontier_.totals().num_survivors, count);
    block_.sync();
    if (frontier_.totals().num_survivors > max_active_) limit_count(max_active_, highest);
  }

  // Once more keys are known than may survive, none can that costs more than these: lowers the
  // cutoff to that, or a little above. Worth its while only where many candidates have come.
  KERNEL_CALL void tighten_cutoff() const {
    const int found = frontier_.totals().num_candidates;
    const bool is_worth_it =
        found == 0 || found - frontier_.totals().candidates_counted > max_active_ / 16;
    const bool is_over_max_active = most_keys() > max_active_;
    block_.sync();
    if (!is_over_max_active || !is_worth_it) return;
    if (block_.thread == 0) frontier_.totals().candidates_counted = found;
    count_by_cost(frontier_.cutoff());
    if (block_.thread == 0) lower_to_count(frontier_.cutoff());
    block_.sync();
  }

 private:
  // As many keys at most can cost something by now.
  KERNEL_FN int most_keys() const {
    return frontier_.totals().num_alive + frontier_.totals().num_touched;
  }

  static KERNEL_FN int shift_to_bins(Cost range) {
    const int width = bit_width(static_cast<std::uint64_t>(range));
    return width > PRUNING_BITS ? width - PRUNING_BITS : 0;
  }

  // Into bins of equal width, from the best candidate to the cutoff.
  KERNEL_FN void count_by_cost(Cost cutoff) const {
    const Cost best = frontier_.totals().best;
    const int shift = shift_to_bins(cutoff - best);
    for (int i = block_.thread; i < 1 << PRUNING_BITS; i += block_.threads) work_.histogram[i] = 0;
    block_.sync();
    const int size = frontier_.size();
    for (int i = block_.thread; i < size; i += block_.threads) {
      const Cost next = frontier_.sure_cost(i);
      const bool counts = next <= cutoff;
      block_.count_if(counts, &work_.histogram[choose(counts, (next - best) >> shift, Cost{0})]);
    }
    block_.sync();
  }

  KERNEL_FN void lower_to_count(Cost cutoff) const {
    const int shift = shift_to_bins(cutoff - frontier_.totals().best);
    int count = 0;
    for (int bin = 0; bin < 1 << PRUNING_BITS; ++bin) {
      count += work_.histogram[bin];
      if (count <= max_active_) continue;
      const Cost end = frontier_.totals().best + (static_cast<Cost>(bin + 1) << shift);
      return frontier_.lower_best_bound(end - beam_);
    }
  }

  // The exact cost, and if need be the key, of the last of the `count` cheapest entries.
  KERNEL_FN void limit_count(int count, Cost highest) const {
    int equal = 0;
    const Cost last = cost_of(count, highest, &count, &equal);
    const Key key = count < equal ? key_of(count, last) : highest_key();
    block_.sync();
    if (block_.thread == 0) {
      frontier_.totals().limit_cost = last;
      frontier_.totals().limit_key = key;
    }
    block_.sync();
  }

  // `left` and `equal` as those of `select`.
  KERNEL_FN Cost cost_of(int count, Cost highest, int* left, int* equal) const {
    const Cost best = frontier_.totals().best;
    const auto range = static_cast<std::uint64_t>(highest - best);
    const auto rank_of = [&](int place, std::uint64_t* rank) {
      const Cost next = entries_.nexts[place];
      *rank = static_cast<std::uint64_t>(next - best);
      return next <= highest;
    };
    return best + static_cast<Cost>(select(count, bit_width(range), left, equal, rank_of));
  }

  KERNEL_FN Key key_of(int count, Cost cost) const {
    const auto rank_of = [&](int place, std::uint64_t* rank) {
      *rank = place_of(entries_.keys[place]);
      return entries_.nexts[place] == cost;
    };
    int left;
    int unused;
    const Place last = select(count, 64, &left, &unused, rank_of);
    if constexpr (!HAS_LM) return make_key(last, 0);
    const auto rank_of_words = [&](int place, std::uint64_t* rank) {
      *rank = words_of(entries_.keys[place]);
      return entries_.nexts[place] == cost && place_of(entries_.keys[place]) == last;
    };
    return make_key(last, select(left, 64, &unused, &unused, rank_of_words));
  }

  // The `count`-th smallest rank, digit by digit from the highest. `left`: how many of those that
  // equal it are among the `count`; `equal`: how many there are.
  template <class RankOf>
  KERNEL_FN std::uint64_t select(int count, int bits, int* left, int* equal,
                                 const RankOf& rank_of) const {
    std::uint64_t prefix = 0;
    for (int shift = (bits - 1) / HISTOGRAM_BITS * HISTOGRAM_BITS; shift >= 0;
         shift -= HISTOGRAM_BITS) {
      count_digits(shift, prefix, rank_of);
      int digit = 0;
      for (; count > work_.histogram[digit]; ++digit) count -= work_.histogram[digit];
      *equal = work_.histogram[digit];
      prefix = (prefix << HISTOGRAM_BITS) | static_cast<std::uint64_t>(digit);
    }
    *left = count;
    return prefix;
  }

  // How many ranks with this prefix have which digit behind it.
  template <class RankOf>
  KERNEL_FN void count_digits(int shift, std::uint64_t prefix, const RankOf& rank_of) const {
    constexpr int DIGITS = 1 << HISTOGRAM_BITS;
    block_.sync();
    for (int i = block_.thread; i < DIGITS; i += block_.threads) work_.histogram[i] = 0;
    block_.sync();
    for (int i = block_.thread; i < frontier_.size(); i += block_.threads) {
      std::uint64_t rank;
      if (!rank_of(i, &rank)) continue;
      const std::uint64_t digits = rank >> shift;
      if (digits >> HISTOGRAM_BITS != prefix) continue;
      block_.fetch_add(&work_.histogram[digits & (DIGITS - 1)], 1);
    }
    block_.sync();
  }

  const Block& block_;
  int max_active_;
  Cost beam_;
  const Workspace& work_;
  const Entries& entries_;
  const Frontier& frontier_;
};

}  // namespace earshot::EARSHOT_BACKEND
