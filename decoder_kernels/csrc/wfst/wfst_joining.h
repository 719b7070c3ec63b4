// Joins the histories of all ways that lead to an entry, once the frame's cut is known.
#pragma once

#include "block/block.h"
#include "wfst/wfst_expansion.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_records.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

enum RecordRoom { NO_ROOM, ROOM_FOR_WORDS, ROOM_FOR_ALL };

class Joining {
 public:
  KERNEL_FN Joining(const Block& block, const WfstState& state, const WfstOptionRow& options,
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
        records_(block, slot, work, state.shape.record_capacity) {}

  // Whether the records of this frame fit: all, or without merges, or not even those of words.
  KERNEL_FN RecordRoom make_room() const {
    const FrameTotals& totals = frontier_.totals();
    const int most = totals.num_words + totals.num_ways;
    if (has_room(most)) return ROOM_FOR_ALL;
    records_.collect();
    if (has_room(most)) return ROOM_FOR_ALL;
    count_records();
    if (has_room(totals.needed_records)) return ROOM_FOR_ALL;
    return has_room(totals.needed_words) ? ROOM_FOR_WORDS : NO_ROOM;
  }

  // Of all entries that matter; those that epsilon arcs lead to after those they come from.
  KERNEL_FN void join(bool merges) const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < totals.num_touched; i += block_.threads) {
      const int place = work_.touched[i];
      if (level_of(entries_.kinds[place]) == 0) {
        join(place, merges);
      } else {
        work_.raised[block_.fetch_add(&totals.num_raised, 1)] = place;
      }
    }
    block_.sync();
    for (int level = 1; level < num_levels_; ++level) {
      for (int i = block_.thread; i < totals.num_raised; i += block_.threads) {
        const int place = work_.raised[i];
        if (level_of(entries_.kinds[place]) == level) join(place, merges);
      }
      block_.sync();
    }
    if (block_.thread == 0) *slot_.num_free -= totals.taken;
    block_.sync();
  }

 private:
  KERNEL_FN bool has_room(int records) const { return records_.num_free() >= records; }

  // At most so many records are made: counted so that the order of threads does not matter, and
  // never more than the ways and words that were found in whatever order.
  KERNEL_FN void count_records() const {
    FrameTotals& totals = frontier_.totals();
    block_.sync();
    if (block_.thread == 0) totals.needed_records = totals.needed_words = 0;
    block_.sync();
    for (int i = block_.thread; i < totals.num_touched; i += block_.threads) {
      if (is_needed(work_.touched[i])) count_records_of(work_.touched[i]);
    }
    block_.sync();
  }

  KERNEL_FN void count_records_of(int place) const {
    int near = stays(place) && is_kept(place, expansion_.cost_to_stay(place)) ? 1 : 0;
    int words = 0;
    for (int way = entries_.ways[place]; way != NONE; way = work_.candidates[way].next) {
      if (!is_kept(place, work_.candidates[way].cost)) continue;
      near += 1;
      words += work_.candidates[way].word != 0 ? 1 : 0;
    }
    const int merges = near - 1;
    FrameTotals& totals = frontier_.totals();
    block_.fetch_add(&totals.needed_records, words + merges);
    block_.fetch_add(&totals.needed_words, words != 0 ? 1 : 0);
  }

  // Survivors, and entries from which an epsilon path may lead to one.
  KERNEL_FN bool is_needed(int place) const {
    return entries_.nexts[place] - expansion_.prices().slack(entries_.kinds[place]) <=
           frontier_.totals().limit_cost;
  }

  // An alternative to the best way: it survives and lies within lattice_beam.
  KERNEL_FN bool is_near(int place, Cost cost) const {
    return cost <= frontier_.totals().limit_cost &&
           cost - entries_.nexts[place] <= options_.lattice_beam;
  }

  KERNEL_FN bool is_kept(int place, Cost cost) const {
    return cost == entries_.nexts[place] || is_near(place, cost);
  }

  KERNEL_FN bool stays(int place) const {
    return frontier_.totals().has_stays != 0 && frontier_.is_token(place);
  }

  KERNEL_FN void join(int place, bool merges) const {
    entries_.next_histories[place] = NO_RECORD;
    if (!is_needed(place)) return;
    if (stays(place)) list_stay(place);
    const int frame = static_cast<int>(*slot_.num_frames);
    if (work_.candidates[entries_.ways[place]].next != NONE) sort_ways(place);
    const Candidate& best = work_.candidates[entries_.ways[place]];
    int history = records_.store(history_of(best), frame);
    for (int way = best.next; merges && way != NONE; way = work_.candidates[way].next) {
      const Candidate& other = work_.candidates[way];
      if (!is_near(place, other.cost)) break;
      history = records_.merge(history, history_of(other), other.cost - entries_.nexts[place],
                               options_.lattice_beam, frame);
    }
    entries_.next_histories[place] = history;
  }

  // The way to stay, beside the others.
  KERNEL_FN void list_stay(int place) const {
    const Cost cost = expansion_.cost_to_stay(place);
    if (!is_kept(place, cost)) return;
    work_.candidates[place] = Candidate{cost, place, 0, entries_.ways[place], OPEN};
    entries_.ways[place] = place;
  }

  KERNEL_FN History history_of(const Candidate& way) const {
    const int from = way.from < 0 ? ~way.from : way.from;
    const bool is_joined = way.from < 0 && entries_.ways[from] != NONE;
    const int history = is_joined ? entries_.next_histories[from] : entries_.histories[from];
    return History{history, way.word};
  }

  // Leaves the best way and those near it, in order: a merge sort of the list.
  KERNEL_FN void sort_ways(int place) const {
    int rest = kept_ways(place);
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
    entries_.ways[place] = rest;
  }

  KERNEL_FN int kept_ways(int place) const {
    int kept = NONE;
    for (int way = entries_.ways[place]; way != NONE;) {
      Candidate& own = work_.candidates[way];
      const int next = own.next;
      if (is_kept(place, own.cost)) {
        own.next = kept;
        kept = way;
      }
      way = next;
    }
    return kept;
  }

  // Ends a list after so many ways; returns the rest.
  KERNEL_FN int cut_after(int way, int length) const {
    for (; way != NONE && length > 1; --length) way = work_.candidates[way].next;
    if (way == NONE) return NONE;
    const int rest = work_.candidates[way].next;
    work_.candidates[way].next = NONE;
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
  RecordPool records_;
};

}  // namespace earshot::EARSHOT_BACKEND
