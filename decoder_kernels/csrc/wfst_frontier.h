// The keys that a frame reaches and the ways to them: inserted under a running cut that only falls,
// then cut exactly.
#pragma once

#include "block.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int FIRST_MASK = (1 << 12) - 1;

class Frontier {
 public:
  KERNEL_FN Frontier(const Block& block, const WfstState& state, const Workspace& work,
                     const WfstOptionRow& options)
      : block_(block), state_(state), work_(work), options_(options) {}

  KERNEL_FN FrameTotals& totals() const { return *work_.totals; }
  KERNEL_FN int num_entries() const {
    const int reached = totals().num_entries;
    return reached < state_.shape.entry_capacity ? reached : state_.shape.entry_capacity;
  }
  KERNEL_FN Entry& entry(int i) const { return work_.entries[i]; }

  // What costs more cannot survive the frame.
  KERNEL_FN Cost cut() const { return block_.load(&totals().best) + options_.beam; }

  KERNEL_FN void lower_best(Cost cost) const {
    if (cost < block_.load(&totals().best)) block_.lower(&totals().best, cost);
  }

  // A way to a key; the caller has compared its cost with the cut. `kind` is WfstArc's target_kind.
  KERNEL_FN void offer(Key key, int kind, Cost cost, int from, int word) const {
    const int place = find(key, kind);
    if (place == NONE) return;
    Entry& reached = work_.entries[place];
    const Cost before = block_.load(&reached.cost);
    if (cost > before && cost - before > options_.lattice_beam) return;
    const int made = block_.fetch_add(&totals().num_candidates, 1);
    if (made >= state_.shape.candidate_capacity) {
      block_.exchange(&totals().overflowed, 1);
      return;
    }
    Candidate& candidate = work_.candidates[made];
    candidate.cost = cost;
    candidate.from = from;
    candidate.word = word;
    candidate.next = block_.exchange(&reached.candidate, made);
    if (cost < before) block_.lower(&reached.cost, cost);
    lower_best(cost);
  }

  // Says what survives: entries up to limit_cost, and of those that cost just that up to limit_key.
  KERNEL_FN void limit(int max_active) const {
    const Cost highest = totals().best + options_.beam;
    block_.sync();
    if (block_.thread == 0) {
      totals().limit_cost = highest;
      totals().limit_key = ~Key{0};
      totals().num_survivors = 0;
    }
    block_.sync();
    int alive = 0;
    for (int i = block_.thread; i < num_entries(); i += block_.threads) {
      alive += entry(i).cost <= highest ? 1 : 0;
    }
    if (alive > 0) block_.fetch_add(&totals().num_survivors, alive);
    block_.sync();
    if (totals().num_survivors > max_active) limit_count(max_active, highest);
  }

  KERNEL_FN bool survives(const Entry& reached) const {
    const FrameTotals& found = totals();
    return reached.cost < found.limit_cost ||
           (reached.cost == found.limit_cost && reached.key <= found.limit_key);
  }

  // Empties the table for the next frame.
  KERNEL_FN void clear() const {
    block_.sync();
    for (int i = block_.thread; i < num_entries(); i += block_.threads) {
      if (entry(i).position != NONE) work_.index[entry(i).position] = NONE;
    }
    block_.sync();
    if (block_.thread == 0) {
      FrameTotals& fresh = totals();
      fresh.index_mask = next_mask(fresh.num_entries);
      fresh.best = fresh.least = NO_COST;
      fresh.best_token = 0;
      fresh.num_entries = fresh.num_candidates = fresh.num_pending = fresh.num_hubs = 0;
      fresh.taken = fresh.overflowed = 0;
    }
    block_.sync();
  }

 private:
  // The entry of a key, a new one if need be; NONE if there is no room.
  KERNEL_FN int find(Key key, int kind) const {
    int fresh = NONE;
    for (int position = hash_of(key) & totals().index_mask;;
         position = (position + 1) & totals().index_mask) {
      int found = block_.load(&work_.index[position]);
      if (found == NONE) {
        if (grows()) {
          grow();
          return find(key, kind);
        }
        if (fresh == NONE) fresh = make(key, kind);
        if (fresh == NONE) return NONE;
        work_.entries[fresh].position = position;
        found = block_.compare_exchange(&work_.index[position], NONE, fresh);
        if (found == NONE) {
          if ((kind & 1) != 0) note_epsilons(fresh, node_of(key));
          return fresh;
        }
      }
      if (work_.entries[found].key == key) {
        if (fresh != NONE) work_.entries[fresh].position = NONE;
        return found;
      }
    }
  }

  KERNEL_FN int make(Key key, int kind) const {
    const int made = block_.fetch_add(&totals().num_entries, 1);
    if (made >= state_.shape.entry_capacity) {
      block_.exchange(&totals().overflowed, 1);
      return NONE;
    }
    work_.entries[made] = Entry{key, NO_COST, NONE, NONE, NONE, kind >> 1};
    return made;
  }

  KERNEL_FN void note_epsilons(int made, int node) const {
    prefetch(&state_.graph.nodes[node]);
    work_.pending[block_.fetch_add(&totals().num_pending, 1)] = made;
  }

  // With room for twice the entries of the frame that was.
  KERNEL_FN int next_mask(int last_entries) const {
    int mask = FIRST_MASK;
    while (mask < 4 * last_entries && mask < work_.full_index_mask) mask = 2 * mask + 1;
    return block_.threads == 1 && mask < work_.full_index_mask ? mask : work_.full_index_mask;
  }

  // The table of a lone thread grows with the frame.
  KERNEL_FN bool grows() const {
    return block_.threads == 1 && 2 * totals().num_entries > totals().index_mask &&
           totals().index_mask < work_.full_index_mask;
  }

  KERNEL_FN void grow() const {
    for (int i = 0; i < num_entries(); ++i) work_.index[entry(i).position] = NONE;
    const int mask = 4 * totals().index_mask + 3;
    totals().index_mask = mask < work_.full_index_mask ? mask : work_.full_index_mask;
    for (int i = 0; i < num_entries(); ++i) {
      int position = hash_of(entry(i).key) & totals().index_mask;
      while (work_.index[position] != NONE) position = (position + 1) & totals().index_mask;
      work_.index[position] = i;
      entry(i).position = position;
    }
  }

  // The exact cost, and if need be the key, of the last of the `count` cheapest entries.
  KERNEL_FN void limit_count(int count, Cost highest) const {
    const Cost best = totals().best;
    const auto range = static_cast<std::uint64_t>(highest - best);
    int equal = 0;
    const std::uint64_t above = select(count, std::bit_width(range), &count, &equal,
                                       [&](const Entry& one, std::uint64_t* rank) {
                                         *rank = static_cast<std::uint64_t>(one.cost - best);
                                         return one.cost <= highest;
                                       });
    const Cost last = best + static_cast<Cost>(above);
    Key key = ~Key{0};
    if (count < equal) {
      int unused;
      key = select(count, 64, &unused, &unused, [&](const Entry& one, std::uint64_t* rank) {
        *rank = one.key;
        return one.cost == last;
      });
    }
    block_.sync();
    if (block_.thread == 0) {
      totals().limit_cost = last;
      totals().limit_key = key;
    }
    block_.sync();
  }

  // The `count`-th smallest rank, digit by digit from the highest. `left`: how many of those that
  // equal it are among the `count`; `equal`: how many there are.
  template <class RankOf>
  KERNEL_FN std::uint64_t select(int count, int bits, int* left, int* equal,
                                 const RankOf& rank_of) const {
    constexpr int DIGITS = 1 << HISTOGRAM_BITS;
    std::uint64_t prefix = 0;
    for (int shift = (bits - 1) / HISTOGRAM_BITS * HISTOGRAM_BITS; shift >= 0;
         shift -= HISTOGRAM_BITS) {
      block_.sync();
      for (int i = block_.thread; i < DIGITS; i += block_.threads) work_.histogram[i] = 0;
      block_.sync();
      for (int i = block_.thread; i < num_entries(); i += block_.threads) {
        std::uint64_t rank;
        if (!rank_of(entry(i), &rank)) continue;
        const std::uint64_t digits = rank >> shift;
        if (digits >> HISTOGRAM_BITS != prefix) continue;
        block_.fetch_add(&work_.histogram[digits & (DIGITS - 1)], 1);
      }
      block_.sync();
      int digit = 0;
      for (; count > work_.histogram[digit]; ++digit) count -= work_.histogram[digit];
      *equal = work_.histogram[digit];
      prefix = (prefix << HISTOGRAM_BITS) | static_cast<std::uint64_t>(digit);
    }
    *left = count;
    return prefix;
  }

  const Block& block_;
  const WfstState& state_;
  const Workspace& work_;
  const WfstOptionRow& options_;
};

}  // namespace earshot::EARSHOT_BACKEND
