// The keys that tokens have and those that a frame reaches, with the ways to them: reached under a
// running cut that only falls, then cut exactly.
#pragma once

#include "block.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int LEAST_TIDIED = 1024;  // entries
inline constexpr int LEAST_INDEX_MASK = (1 << 13) - 1;

class Frontier {
 public:
  KERNEL_FN Frontier(const Block& block, const WfstState& state, const WfstSlot& slot,
                     const Workspace& work, const WfstOptionRow& options)
      : block_(block), state_(state), slot_(slot), work_(work), options_(options) {}

  KERNEL_FN FrameTotals& totals() const { return *work_.totals; }
  KERNEL_FN Entry& entry(int place) const { return work_.entries[place]; }
  KERNEL_FN int num_alive() const { return totals().num_alive; }
  KERNEL_FN int num_touched() const { return totals().num_touched; }
  KERNEL_FN Entry& alive(int i) const { return entry(work_.alive[i]); }
  KERNEL_FN Entry& touched(int i) const { return entry(work_.touched[i]); }

  // The slot's tokens become entries of a fresh table.
  KERNEL_FN void load(int least_index_mask) const {
    block_.sync();
    if (block_.thread == 0) {
      totals().num_alive = totals().num_entries = *slot_.num_tokens;
      totals().index_mask = mask_for(*slot_.num_tokens, least_index_mask);
      totals().least = NO_COST;
    }
    block_.sync();
    Cost least = NO_COST;
    for (int i = block_.thread; i <= totals().index_mask; i += block_.threads) {
      work_.index[i] = NONE;
    }
    for (int i = block_.thread; i < num_alive(); i += block_.threads) {
      entry(i) = made_of(slot_.keys[i], slot_.kinds[i]);
      entry(i).cost = slot_.costs[i];
      entry(i).history = slot_.histories[i];
      entry(i).reach = slot_.reaches[i];
      work_.alive[i] = i;
      least = entry(i).cost < least ? entry(i).cost : least;
    }
    if (least < NO_COST) block_.lower(&totals().least, least);
    block_.sync();
    for (int i = block_.thread; i < num_alive(); i += block_.threads) {
      int position = hash_of(entry(i).key) & totals().index_mask;
      while (block_.compare_exchange(&work_.index[position], NONE, i) != NONE) {
        position = (position + 1) & totals().index_mask;
      }
    }
    clear();
  }

  // Back into the slot.
  KERNEL_FN void store() const {
    block_.sync();
    for (int i = block_.thread; i < num_alive(); i += block_.threads) {
      slot_.keys[i] = alive(i).key;
      slot_.costs[i] = alive(i).cost;
      slot_.histories[i] = alive(i).history;
      slot_.kinds[i] = alive(i).kind;
      slot_.reaches[i] = alive(i).reach;
    }
    if (block_.thread == 0) *slot_.num_tokens = num_alive();
    block_.sync();
  }

  // Makes room for the next frame where the table has become full of keys without tokens.
  KERNEL_FN void tidy() const {
    if (totals().num_entries < 3 * num_alive() + LEAST_TIDIED) return;
    store();
    load(LEAST_INDEX_MASK);
  }

  // Whether the frame at hand must be walked again, with a larger table.
  KERNEL_FN bool outgrown() const {
    block_.sync();
    if (totals().outgrown == 0) return false;
    const int mask = 4 * totals().index_mask + 3;
    forget();
    store();
    load(mask);
    return true;
  }

  // What costs more cannot survive the frame.
  KERNEL_FN Cost cut() const { return block_.load(&totals().ceiling) + options_.beam; }

  KERNEL_FN void lower_ceiling(Cost cost) const {
    if (cost < block_.load(&totals().ceiling)) block_.lower(&totals().ceiling, cost);
  }

  // A way to a key; the caller has compared its cost with the cut. `kind` is WfstArc's target_kind,
  // `reach` OPEN unless the way stays at a node whose epsilon arcs lead to tokens already. Returns
  // the entry, or NONE if there is no room.
  KERNEL_FN int offer(Key key, int kind, int reach, Cost cost, int from, int word) const {
    const int place = find(key, kind);
    if (place != NONE) offer_at(place, reach, cost, from, word);
    return place;
  }

  KERNEL_FN void offer_at(int place, int reach, Cost cost, int from, int word) const {
    Entry& reached = entry(place);
    const Cost before = block_.load(&reached.next);
    if (cost > before && cost - before > options_.lattice_beam) return;
    int way = place;
    if (block_.exchange(&reached.touched, 1) == 0) {
      note(place, reached.kind);
    } else {
      way = work_.num_entries + block_.fetch_add(&totals().num_others, 1);
      if (way >= work_.num_entries + state_.shape.candidate_capacity) return overflow();
    }
    if (word != 0) block_.fetch_add(&totals().num_words, 1);
    Candidate& candidate = work_.candidates[way];
    candidate.cost = cost;
    candidate.from = from;
    candidate.word = word;
    candidate.reach = reach;
    candidate.next = block_.exchange(&reached.candidate, way);
    if (cost < before) block_.lower(&reached.next, cost);
    if (has_epsilons(reached.kind)) note_reach(place, reached, reach);
    if (cost >= block_.load(&totals().best)) return;
    block_.lower(&totals().best, cost);
    lower_ceiling(cost);
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
    if (num_touched() <= max_active) return;
    int count = 0;
    for (int i = block_.thread; i < num_touched(); i += block_.threads) {
      count += touched(i).next <= highest ? 1 : 0;
    }
    if (count > 0) block_.fetch_add(&totals().num_survivors, count);
    block_.sync();
    if (totals().num_survivors > max_active) limit_count(max_active, highest);
  }

  // The survivors become the tokens.
  KERNEL_FN void keep() const {
    block_.sync();
    if (block_.thread == 0) {
      totals().num_alive = 0;
      totals().least = NO_COST;
    }
    block_.sync();
    Cost least = NO_COST;
    for (int i = block_.thread; i < num_touched(); i += block_.threads) {
      Entry& reached = touched(i);
      if (survives(reached)) {
        reached.cost = reached.next;
        reached.history = reached.next_history;
        reached.reach = is_reached(reached) ? reached.next_reach : OPEN;
        work_.alive[block_.fetch_add(&totals().num_alive, 1)] = work_.touched[i];
        least = reached.cost < least ? reached.cost : least;
      }
      forget(reached);
    }
    if (least < NO_COST) block_.lower(&totals().least, least);
    clear();
  }

  // The tokens stay what they were.
  KERNEL_FN void forget() const {
    block_.sync();
    for (int i = block_.thread; i < num_touched(); i += block_.threads) forget(touched(i));
    clear();
  }

 private:
  static KERNEL_FN Entry made_of(Key key, int kind) {
    return Entry{key, NO_COST, NO_COST, NONE, NONE, NONE, kind, OPEN, OPEN, NONE, 0, 0};
  }

  static KERNEL_FN void forget(Entry& reached) {
    reached.next = NO_COST;
    reached.candidate = NONE;
    reached.next_history = NONE;  // not that of an earlier frame, which may be collected by now
    reached.touched = reached.is_open = 0;
  }

  KERNEL_FN bool survives(const Entry& reached) const {
    const FrameTotals& found = totals();
    return reached.next < found.limit_cost ||
           (reached.next == found.limit_cost && reached.key <= found.limit_key);
  }

  // Whether all that epsilon arcs of an entry lead to survives, so that they need not be followed
  // again while its token stays.
  KERNEL_FN bool is_reached(const Entry& reached) const {
    return reached.next_reach != OPEN && reached.next + reached.next_reach < totals().limit_cost;
  }

  KERNEL_FN void clear() const {
    block_.sync();
    if (block_.thread == 0) {
      FrameTotals& fresh = totals();
      fresh.num_touched = fresh.num_others = fresh.num_words = 0;
      fresh.num_pending = fresh.num_raised = 0;
      fresh.num_able = fresh.num_rich = fresh.num_hubs = 0;
      fresh.taken = fresh.overflowed = fresh.outgrown = 0;
      fresh.best = NO_COST;
      fresh.ceiling = NO_COST / 2;  // a way without a cost lies above any cut
    }
    block_.sync();
  }

  KERNEL_FN void overflow() const { block_.exchange(&totals().overflowed, 1); }

  // The entry of a key, made if need be; NONE if there is no room.
  KERNEL_FN int find(Key key, int kind) const {
    int fresh = NONE;
    const int mask = totals().index_mask;
    for (int position = hash_of(key) & mask;; position = (position + 1) & mask) {
      int found = block_.load(&work_.index[position]);
      if (found == NONE) {
        if (fresh == NONE) fresh = make(key, kind);
        if (fresh == NONE) return NONE;
        found = block_.compare_exchange(&work_.index[position], NONE, fresh);
        if (found == NONE) return fresh;
      }
      if (entry(found).key == key) return found;
    }
  }

  KERNEL_FN int make(Key key, int kind) const {
    const int made = block_.fetch_add(&totals().num_entries, 1);
    if (made < room()) {
      entry(made) = made_of(key, kind);
      return made;
    }
    block_.fetch_add(&totals().num_entries, -1);
    if (room() < work_.num_entries) {
      block_.exchange(&totals().outgrown, 1);
    } else {
      overflow();
    }
    return NONE;
  }

  // Entries that fit: half of the table, so that keys are found soon.
  KERNEL_FN int room() const {
    const int half = (totals().index_mask + 1) / 2;
    return half < work_.num_entries ? half : work_.num_entries;
  }

  KERNEL_FN int mask_for(int tokens, int least) const {
    int mask = least;
    while (mask < 8 * tokens) mask = 2 * mask + 1;
    return mask < work_.full_index_mask ? mask : work_.full_index_mask;
  }

  KERNEL_FN void note(int place, int kind) const {
    work_.touched[block_.fetch_add(&totals().num_touched, 1)] = place;
    if (level_of(kind) > 0) work_.raised[block_.fetch_add(&totals().num_raised, 1)] = place;
  }

  KERNEL_FN void note_reach(int place, Entry& reached, int reach) const {
    if (reach != OPEN) {
      block_.exchange(&reached.next_reach, reach);
      return;
    }
    if (block_.exchange(&reached.is_open, 1) != 0) return;
    prefetch(&state_.graph.nodes[node_of(reached.key)]);
    work_.pending[block_.fetch_add(&totals().num_pending, 1)] = place;
  }

  // The exact cost, and if need be the key, of the last of the `count` cheapest entries.
  KERNEL_FN void limit_count(int count, Cost highest) const {
    const Cost best = totals().best;
    const auto range = static_cast<std::uint64_t>(highest - best);
    int equal = 0;
    const std::uint64_t above = select(count, std::bit_width(range), &count, &equal,
                                       [&](const Entry& one, std::uint64_t* rank) {
                                         *rank = static_cast<std::uint64_t>(one.next - best);
                                         return one.next <= highest;
                                       });
    const Cost last = best + static_cast<Cost>(above);
    Key key = ~Key{0};
    if (count < equal) {
      int unused;
      key = select(count, 64, &unused, &unused, [&](const Entry& one, std::uint64_t* rank) {
        *rank = one.key;
        return one.next == last;
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
      for (int i = block_.thread; i < num_touched(); i += block_.threads) {
        std::uint64_t rank;
        if (!rank_of(touched(i), &rank)) continue;
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
  const WfstSlot& slot_;
  const Workspace& work_;
  const WfstOptionRow& options_;
};

}  // namespace earshot::EARSHOT_BACKEND
