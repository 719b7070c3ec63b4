// The keys that tokens have and those that a frame reaches, with the candidates for each: found
// under a cutoff that only falls (the adaptive beam), then pruned exactly.
#pragma once

#include "block/block.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int LEAST_REHASHED = 256;              // entries
inline constexpr int LEAST_INDEX_MASK = (1 << 15) - 1;  // less, and frames outgrow it

class Frontier {
 public:
  KERNEL_FN Frontier(const Block& block, const WfstState& state, const WfstSlot& slot,
                     const Workspace& work, const WfstOptionRow& options, const LmPrices& lm)
      : block_(block), state_(state), slot_(slot), work_(work), options_(options), lm_(lm) {}

  KERNEL_FN FrameTotals& totals() const { return *work_.totals; }
  KERNEL_FN const Entries& entries() const { return work_.entries; }
  KERNEL_FN int num_alive() const { return totals().num_alive; }
  KERNEL_FN int size() const { return totals().num_entries; }
  KERNEL_FN bool is_token(int place) const { return entries().costs[place] < NO_COST; }

  // The slot's tokens become entries of a fresh table.
  KERNEL_FN void load(int least_index_mask) const {
    empty(*slot_.num_tokens, least_index_mask);
    Cost least = NO_COST;
    for (int i = block_.thread; i < size(); i += block_.threads) {
      load_token(i);
      least = slot_.costs[i] < least ? slot_.costs[i] : least;
    }
    if (least < NO_COST) block_.lower(&totals().least, least);
    block_.sync();
    for (int i = block_.thread; i < size(); i += block_.threads) {
      int position = position_of(entries().keys[i]);
      while (block_.compare_exchange(&work_.index[position], NONE, i) != NONE) {
        position = (position + 1) & totals().index_mask;
      }
      if constexpr (HAS_LM) entries().heads[i] = head_of(block_, work_, i);
    }
    clear();
  }

  // Back into the slot.
  KERNEL_FN void store() const {
    block_.sync();
    if (block_.thread == 0) {
      *slot_.num_tokens = num_alive();
      *slot_.has_words = lm_.empty() ? 0 : 1;
    }
    for (int i = block_.thread; i < num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      slot_.places[i] = place_of(entries().keys[place]);
      if constexpr (HAS_LM) slot_.words[i] = words_of(entries().keys[place]);
      slot_.costs[i] = entries().costs[place];
      slot_.histories[i] = entries().histories[place];
      slot_.kinds[i] = entries().kinds[place];
      slot_.closure_bounds[i] = closure_bound(place);
    }
    block_.sync();
  }

  // Makes the hash table anew for the next frame where it is full of keys without tokens.
  KERNEL_FN void rehash() const {
    if (size() < 2 * totals().num_alive + LEAST_REHASHED) return;
    const int half = totals().index_mask / 2;  // no less, or the next frame may outgrow it
    store();
    load(half > LEAST_INDEX_MASK ? half : LEAST_INDEX_MASK);
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
  KERNEL_FN Cost cutoff() const { return block_.load(&totals().best_bound) + options_.beam; }

  KERNEL_FN void lower_best_bound(Cost cost) const {
    if (cost < block_.load(&totals().best_bound)) block_.lower(&totals().best_bound, cost);
  }

  // Where the search for a key begins, in memory that is asked for.
  KERNEL_FN int prefetch_position(Key key) const {
    const int position = position_of(key);
    prefetch(&work_.index[position]);
    return position;
  }

  KERNEL_FN void prefetch_entry(int position) const {
    const int place = block_.load(&work_.index[position]);  // where there is none no harm is done
    prefetch(&entries().keys[place]);
    prefetch(&entries().nexts[place]);
  }

  // A candidate for a key; the caller has compared its cost with the cutoff. `kind` is WfstArc's
  // target_kind, `closure_bound` OPEN unless the candidate stays at a node whose epsilon arcs lead
  // to tokens already. Returns the entry, or NONE if there is no room.
  KERNEL_FN int offer(Key key, int kind, int closure_bound, Cost cost, int from, int word) const {
    return offer_from(position_of(key), key, kind, closure_bound, cost, from, word);
  }

  // The same where the search for the key begins at a known position.
  KERNEL_CALL int offer_from(int position, Key key, int kind, int closure_bound, Cost cost,
                             int from, int word) const {
    const int place = find(position, key, kind, cost);
    if (place != NONE) offer_at(place, kind, closure_bound, cost, from, word);
    return place;
  }

  KERNEL_CALL void offer_at(int place, int kind, int closure_bound, Cost cost, int from,
                            int word) const {
    Cost* next = &entries().nexts[place];
    const Cost before = block_.load(next);
    if (cost - before > options_.lattice_beam || is_far(place, cost)) return;
    if (!list_candidate(place, Candidate{cost, from, word, NONE, closure_bound})) return overflow();
    if (cost < before) block_.lower(next, cost);
    note_best(place, cost);
    if (has_epsilons(kind)) note_closure(place, closure_bound);
    if (cost >= block_.load(&totals().best)) return;
    block_.lower(&totals().best, cost);
    lower_best_bound(cost);
  }

  // A candidate for an entry is one for its place.
  KERNEL_FN void note_best(int place, Cost cost) const {
    if constexpr (HAS_LM) {
      Cost* const best = &entries().bests[entries().heads[place]];
      if (cost < block_.load(best)) block_.lower(best, cost);
    }
  }

  // Whether a candidate for an entry lies beyond the history beam of its place, by the candidates
  // that have come so far.
  KERNEL_FN bool is_far(int place, Cost cost) const {
    if constexpr (!HAS_LM) return false;
    return !lm_.empty() && lies_far(entries().heads[place], cost);
  }

  // Drops the entries that lie beyond it.
  KERNEL_FN void drop_far_histories() const {
    if (!HAS_LM || lm_.empty()) return;
    block_.sync();
    for (int i = block_.thread; i < size(); i += block_.threads) {
      if (is_far(i, entries().nexts[i])) entries().nexts[i] = NO_COST;
    }
    block_.sync();
  }

  // What may be counted as that of a survivor by now: of each place, of whose entries one will
  // survive the history beam, the best.
  KERNEL_FN Cost sure_cost(int place) const {
    if constexpr (!HAS_LM) return entries().nexts[place];
    return entries().heads[place] == place ? entries().bests[place] : NO_COST;
  }

  // The epsilon-closure bound: what the dearest epsilon arc of a token costs if all lead to tokens,
  // OPEN if not, NO_EPSILONS without any. What lies beyond the history beam of its place stays
  // there as long as both tokens do: they pay for the same label.
  KERNEL_FN int closure_bound(int place) const {
    const int closure_bound = entries().closure_bounds[place];
    return entries().costs[place] + closure_bound < totals().last_limit ? closure_bound : OPEN;
  }

  // Whether no more candidates fit into the frame. They are not counted then either: a count that
  // went on would leave what an int can hold.
  KERNEL_FN bool is_full() const {
    return block_.load(&totals().num_candidates) >= state_.shape.candidate_capacity;
  }

  // The entry's epsilon arcs are to be followed.
  KERNEL_FN void open(int place, Opening why) const {
    if (block_.load(&entries().opens[place]) != CLOSED) return;
    if (block_.compare_exchange(&entries().opens[place], CLOSED, why) != CLOSED) return;
    work_.pending[block_.fetch_add(&totals().num_pending, 1)] = place;
  }

  // The survivors become the tokens, once all threads have swapped their costs.
  KERNEL_FN void keep() const {
    block_.sync();
    if (block_.thread == 0) {
      totals().num_alive = 0;
      totals().least = NO_COST;
      totals().last_limit = totals().limit_cost;
    }
    block_.sync();
    const Cost least = keep_survivors();
    if (least < NO_COST) block_.lower(&totals().least, least);
    block_.sync();
    for (int i = block_.thread; i < totals().num_touched; i += block_.threads) {
      const int place = work_.touched[i];
      entries().histories[place] = entries().next_histories[place];
    }
    if (totals().overflowed != 0)
      invalidate_closures();  // what epsilon arcs lead to may have been lost
    finish();
  }

  // The tokens stay what they were.
  KERNEL_FN void forget() const {
    block_.sync();
    invalidate_closures();
    for (int i = block_.thread; i < size(); i += block_.threads) {
      entries().nexts[i] = NO_COST;
      if constexpr (HAS_LM) entries().bests[i] = NO_COST;
    }
    finish();
  }

 private:
  // A table with room for so many tokens, whose entries come first.
  KERNEL_FN void empty(int tokens, int least_index_mask) const {
    block_.sync();
    if (block_.thread == 0) {
      totals().num_alive = totals().num_entries = tokens;
      totals().index_mask = index_mask_for(work_, tokens, least_index_mask);
      totals().least = totals().last_limit = NO_COST;
      totals().num_known = 0;
    }
    block_.sync();
    const int last = totals().index_mask;
    for (int i = block_.thread; i <= last; i += block_.threads) {
      work_.index[i] = NONE;
      if constexpr (HAS_LM) work_.place_index[i] = NONE;
    }
  }

  KERNEL_FN void load_token(int i) const {
    // Also where models have just gone: tokens of equal cost are told apart by their words.
    const LmWords words = HAS_LM ? words_in_slot(slot_, options_, i) : 0;
    make_at(i, make_key(slot_.places[i], words), slot_.kinds[i]);
    entries().costs[i] = slot_.costs[i];
    entries().histories[i] = slot_.histories[i];
    entries().closure_bounds[i] = slot_.closure_bounds[i];
    work_.alive[i] = i;
  }

  // Returns whether there was room.
  KERNEL_FN bool list_candidate(int place, Candidate candidate) const {
    if (is_full()) return false;
    const int number = block_.fetch_add(&totals().num_candidates, 1);
    // Another thread may have been faster.
    if (block_.threads > 1 && number >= state_.shape.candidate_capacity) return false;
    const int index = work_.num_entries + number;
    block_.count_if(candidate.word != 0, &totals().num_words);
    candidate.next = block_.exchange(&entries().candidates[place], index);
    work_.candidates[index] = candidate;
    if (candidate.next == NONE) work_.touched[block_.fetch_add(&totals().num_touched, 1)] = place;
    return true;
  }

  // Returns the least that one of the thread's survivors costs.
  KERNEL_FN Cost keep_survivors() const {
    Block::Appender alive(work_.alive, &totals().num_alive);
    const int num_entries = size();
    const Cost limit = totals().limit_cost;
    Cost least = NO_COST;
    for (int i = block_.thread; i < num_entries; i += block_.threads) {
      const Cost next = entries().nexts[i];
      bool survived = next < limit;
      if (next == limit) [[unlikely]]
        survived = entries().keys[i] <= totals().limit_key;
      const Cost kept = choose(survived, next, NO_COST);
      entries().nexts[i] = kept;
      entries().costs[i] = NO_COST;
      if constexpr (HAS_LM) entries().bests[i] = NO_COST;
      least = kept < least ? kept : least;
      alive.append_if(survived, i);
    }
    return least;
  }

  // What the frame has found out about entries holds no more.
  KERNEL_FN void invalidate_closures() const {
    for (int i = block_.thread; i < totals().num_touched; i += block_.threads) {
      invalidate_closure(work_.touched[i]);
    }
    for (int i = block_.thread; i < totals().num_pending; i += block_.threads) {
      invalidate_closure(work_.pending[i]);
    }
  }

  KERNEL_FN void invalidate_closure(int place) const {
    if (has_epsilons(entries().kinds[place]))
      block_.exchange(&entries().closure_bounds[place], OPEN);
  }

  // Leaves no candidate in any list.
  KERNEL_FN void finish() const {
    block_.sync();
    for (int i = block_.thread; i < totals().num_touched; i += block_.threads) {
      entries().candidates[work_.touched[i]] = NONE;
    }
    for (int i = block_.thread; i < totals().num_pending; i += block_.threads) {
      entries().opens[work_.pending[i]] = CLOSED;
    }
    clear();
  }

  KERNEL_FN void make_at(int place, Key key, int kind) const {
    entries().keys[place] = key;
    entries().costs[place] = entries().nexts[place] = NO_COST;
    entries().kinds[place] = kind;
    entries().closure_bounds[place] = fresh_closure_bound(kind);
    entries().candidates[place] = entries().blanks[place] = NONE;
    entries().opens[place] = CLOSED;
    if constexpr (HAS_LM) entries().bests[place] = NO_COST;
  }

  KERNEL_FN void clear() const {
    block_.sync();
    if (block_.thread == 0) {
      FrameTotals& fresh = totals();
      fresh.has_self_loops = fresh.candidates_counted = fresh.num_candidates = fresh.num_touched =
          fresh.num_words = 0;
      fresh.num_pending = fresh.num_raised = 0;
      fresh.num_to_blank = fresh.num_affordable = fresh.num_expandable = fresh.num_high_degree = 0;
      fresh.num_buckets = 1;
      fresh.best_token = 0;
      fresh.taken = fresh.overflowed = fresh.outgrown = 0;
      fresh.best = NO_COST;
      fresh.best_bound = NO_COST / 2;  // a candidate without a cost lies above any cutoff
    }
    block_.sync();
  }

  KERNEL_FN void overflow() const { block_.exchange(&totals().overflowed, 1); }

  KERNEL_FN int position_of(Key key) const { return hash_of(key) & totals().index_mask; }

  // The entry of a key, made if need be; NONE without room, or for a cost beyond the history beam.
  KERNEL_FN int find(int position, Key key, int kind, Cost cost) const {
    const int mask = totals().index_mask;
    for (;;) {
      int* const place = &work_.index[position];
      const int found = block_.load_published(place);
      if (found == NONE) {
        const int head =
            HAS_LM && !lm_.empty() ? known_head_of(block_, work_, place_of(key)) : NONE;
        if (head >= 0 && lies_far(head, cost)) return NONE;
        if (!block_.claim(place, NONE, CLAIMED)) continue;
        const int made = make(key, kind);
        block_.publish(place, made);
        return made;
      }
      if (block_.threads > 1 && found == CLAIMED) continue;  // it may become this key's
      if (entries().keys[found] == key) return found;
      position = (position + 1) & mask;
    }
  }

  KERNEL_FN bool lies_far(int head, Cost cost) const {
    return cost > block_.load(&entries().bests[head]) + lm_.history_beam();
  }

  KERNEL_FN int make(Key key, int kind) const {
    const int made = block_.fetch_add(&totals().num_entries, 1);
    if (made < room()) {
      make_at(made, key, kind);
      if constexpr (HAS_LM) entries().heads[made] = head_of(block_, work_, made);
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

  KERNEL_FN void note_closure(int place, int closure_bound) const {
    if (closure_bound == OPEN) return open(place, BY_ARC);
    block_.exchange(&entries().closure_bounds[place], closure_bound);
  }

  const Block& block_;
  const WfstState& state_;
  const WfstSlot& slot_;
  const Workspace& work_;
  const WfstOptionRow& options_;
  const LmPrices& lm_;
};

}  // namespace earshot::EARSHOT_BACKEND
