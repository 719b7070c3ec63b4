// Recombination: one history of all candidates for an entry, once it is known what survives.
#pragma once

#include "block/block.h"
#include "wfst/wfst_backpointers.h"
#include "wfst/wfst_expansion.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

enum BackpointerRoom { NO_ROOM, ROOM_FOR_WORDS, ROOM_FOR_ALL };

class Recombination {
 public:
  KERNEL_FN Recombination(const Block& block, const WfstState& state, const WfstOptionRow& options,
                          const WfstSlot& slot, const Workspace& work, const Frontier& frontier,
                          const Expansion& expansion)
      : block_(block),
        options_(options),
        num_levels_(state.shape.num_levels),
        slot_(slot),
        work_(work),
        entries_(work.entries),
        frontier_(frontier),
        expansion_(expansion),
        backpointers_(block, slot, work, state.shape.backpointer_capacity) {}

  // Whether the backpointers of this frame fit: all, or without merges, or not even those of words.
  KERNEL_FN BackpointerRoom make_room() const {
    const FrameTotals& totals = frontier_.totals();
    const int most = totals.num_words + totals.num_candidates;
    if (has_room(most)) return ROOM_FOR_ALL;
    backpointers_.collect();
    if (has_room(most)) return ROOM_FOR_ALL;
    count_backpointers();
    if (has_room(totals.needed_backpointers)) return ROOM_FOR_ALL;
    return has_room(totals.needed_words) ? ROOM_FOR_WORDS : NO_ROOM;
  }

  // Of all entries that matter; those that epsilon arcs lead to after those they come from.
  KERNEL_FN void recombine(bool merges) const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < totals.num_touched; i += block_.threads) {
      const int place = work_.touched[i];
      if (level_of(entries_.kinds[place]) == 0) {
        recombine(place, merges);
      } else {
        work_.raised[block_.fetch_add(&totals.num_raised, 1)] = place;
      }
    }
    block_.sync();
    for (int level = 1; level < num_levels_; ++level) {
      for (int i = block_.thread; i < totals.num_raised; i += block_.threads) {
        const int place = work_.raised[i];
        if (level_of(entries_.kinds[place]) == level) recombine(place, merges);
      }
      block_.sync();
    }
    if (block_.thread == 0) *slot_.num_free -= totals.taken;
    block_.sync();
  }

 private:
  KERNEL_FN bool has_room(int count) const { return backpointers_.num_free() >= count; }

  // At most so many backpointers are made: counted so that the order of threads does not matter,
  // and never more than the candidates and words that were found in whatever order.
  KERNEL_FN void count_backpointers() const {
    FrameTotals& totals = frontier_.totals();
    block_.sync();
    if (block_.thread == 0) totals.needed_backpointers = totals.needed_words = 0;
    block_.sync();
    for (int i = block_.thread; i < totals.num_touched; i += block_.threads) {
      if (is_needed(work_.touched[i])) count_backpointers_of(work_.touched[i]);
    }
    block_.sync();
  }

  KERNEL_FN void count_backpointers_of(int place) const {
    int near = has_self_loop(place) && is_kept(place, expansion_.self_loop_cost(place)) ? 1 : 0;
    int words = 0;
    for (int at = entries_.candidates[place]; at != NONE; at = work_.candidates[at].next) {
      if (!is_kept(place, work_.candidates[at].cost)) continue;
      near += 1;
      words += work_.candidates[at].word != 0 ? 1 : 0;
    }
    const int merges = near - 1;
    FrameTotals& totals = frontier_.totals();
    block_.fetch_add(&totals.needed_backpointers, words + merges);
    block_.fetch_add(&totals.needed_words, words != 0 ? 1 : 0);
  }

  // Survivors, and entries from which an epsilon path may lead to one.
  KERNEL_FN bool is_needed(int place) const {
    return entries_.nexts[place] - expansion_.arc_costs().slack(entries_.kinds[place]) <=
           frontier_.totals().limit_cost;
  }

  // An alternative to the best candidate: it survives and lies within lattice_beam, and within the
  // history beam of the place.
  KERNEL_FN bool is_near(int place, Cost cost) const {
    return cost <= frontier_.totals().limit_cost &&
           cost - entries_.nexts[place] <= options_.lattice_beam && !frontier_.is_far(place, cost);
  }

  KERNEL_FN bool is_kept(int place, Cost cost) const {
    return cost == entries_.nexts[place] || is_near(place, cost);
  }

  KERNEL_FN bool has_self_loop(int place) const {
    return frontier_.totals().has_self_loops != 0 && frontier_.is_token(place);
  }

  KERNEL_FN void recombine(int place, bool merges) const {
    entries_.next_histories[place] = NO_BACKPOINTER;
    if (!is_needed(place)) return;
    if (has_self_loop(place)) list_self_loop(place);
    const int frame = static_cast<int>(*slot_.num_frames);
    if (work_.candidates[entries_.candidates[place]].next != NONE) sort_candidates(place);
    const Candidate& best = work_.candidates[entries_.candidates[place]];
    int history = backpointers_.store(history_of(best), frame);
    for (int at = best.next; merges && at != NONE; at = work_.candidates[at].next) {
      const Candidate& other = work_.candidates[at];
      if (!is_near(place, other.cost)) break;
      history = backpointers_.merge(history, history_of(other), other.cost - entries_.nexts[place],
                                    options_.lattice_beam, frame);
    }
    entries_.next_histories[place] = history;
  }

  // The self-loop, beside the others.
  KERNEL_FN void list_self_loop(int place) const {
    const Cost cost = expansion_.self_loop_cost(place);
    if (!is_kept(place, cost)) return;
    work_.candidates[place] = Candidate{cost, place, 0, entries_.candidates[place], OPEN};
    entries_.candidates[place] = place;
  }

  KERNEL_FN History history_of(const Candidate& candidate) const {
    const int from = candidate.from < 0 ? ~candidate.from : candidate.from;
    const bool is_recombined = candidate.from < 0 && entries_.candidates[from] != NONE;
    const int history = is_recombined ? entries_.next_histories[from] : entries_.histories[from];
    return History{history, candidate.word};
  }

  // Leaves the best candidate and those near it, in order: a merge sort of the list.
  KERNEL_FN void sort_candidates(int place) const {
    int rest = kept_candidates(place);
    for (int length = 1;; length *= 2) {
      int sorted = NONE;
      int* end = &sorted;
      int runs = 0;
      for (; rest != NONE; ++runs) {
        int one = rest;
        int other = cut_after(one, length);
        rest = cut_after(other, length);
        end = merge_runs(one, other, end);
      }
      rest = sorted;
      if (runs <= 1) break;
    }
    entries_.candidates[place] = rest;
  }

  KERNEL_FN int kept_candidates(int place) const {
    int kept = NONE;
    for (int candidate = entries_.candidates[place]; candidate != NONE;) {
      Candidate& own = work_.candidates[candidate];
      const int next = own.next;
      if (is_kept(place, own.cost)) {
        own.next = kept;
        kept = candidate;
      }
      candidate = next;
    }
    return kept;
  }

  // Ends a list after so many candidates; returns the rest.
  KERNEL_FN int cut_after(int candidate, int length) const {
    for (; candidate != NONE && length > 1; --length) candidate = work_.candidates[candidate].next;
    if (candidate == NONE) return NONE;
    const int rest = work_.candidates[candidate].next;
    work_.candidates[candidate].next = NONE;
    return rest;
  }

  // Two sorted lists put as one where `end` is; returns the new end.
  KERNEL_FN int* merge_runs(int one, int other, int* end) const {
    while (one != NONE || other != NONE) {
      int& first = other == NONE || (one != NONE && precedes(one, other)) ? one : other;
      *end = first;
      end = &work_.candidates[first].next;
      first = *end;
    }
    *end = NONE;
    return end;
  }

  // In the order of cost, kind of source, key of source, word.
  KERNEL_FN bool precedes(int a, int b) const {
    const Candidate& one = work_.candidates[a];
    const Candidate& other = work_.candidates[b];
    if (one.cost != other.cost) return one.cost < other.cost;
    if ((one.from < 0) != (other.from < 0)) return other.from < 0;
    const Key key = source_key(one.from);
    const Key other_key = source_key(other.from);
    return key != other_key ? key < other_key : one.word < other.word;
  }

  KERNEL_FN Key source_key(int from) const { return entries_.keys[from < 0 ? ~from : from]; }

  const Block& block_;
  const WfstOptionRow& options_;
  int num_levels_;
  const WfstSlot& slot_;
  const Workspace& work_;
  const Entries& entries_;
  const Frontier& frontier_;
  const Expansion& expansion_;
  BackpointerPool backpointers_;
};

}  // namespace earshot::EARSHOT_BACKEND
