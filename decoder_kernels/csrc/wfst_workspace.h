// What a block works in while it walks the frames of a chunk: the keys that a frame reaches, found
// by hashing, and the ways that lead to each.
#pragma once

#include <bit>
#include <cstdint>

#include "block.h"
#include "fixed_cost.h"
#include "scratch.h"
#include "wfst_state.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NONE = -1;
inline constexpr int HISTOGRAM_BITS = 10;

struct Entry {
  Key key;
  Cost cost;      // of the cheapest candidate so far
  int candidate;  // the head of their list
  int position;   // in the hash table, or NONE where another thread was faster
  int history;
  int level;
};

// One way to an entry: from a token of the last frame, or by epsilon from another entry.
struct Candidate {
  Cost cost;
  int from;  // token, or ~entry
  int word;
  int next;
};

// Shared by the threads of a block, set up anew in each frame.
struct FrameTotals {
  Cost best;
  Cost least;  // of the tokens
  Key limit_key;
  Cost limit_cost;
  int best_token;
  int index_mask;  // one block thread starts with a table that fits into the cache
  int num_entries;
  int num_candidates;
  int num_pending;
  int num_hubs;
  int num_survivors;
  int needed_records;
  int needed_words;
  int taken;
  int overflowed;
  int status;
  int frame_seen;
  int num_marked;
};

struct Workspace {
  FrameTotals* totals;
  int* histogram;
  Cost* label_costs;
  int* index;  // of entries, by hash
  Entry* entries;
  Candidate* candidates;
  int* pending;  // entries with epsilon arcs
  int* hubs;     // tokens with so many arcs that the whole block shares them
  int* marks;    // of records
  int* marked;
  int full_index_mask;
  std::size_t bytes;

  KERNEL_HOST_FN Workspace(Carver memory, const WfstShape& shape)
      : totals(memory.take<FrameTotals>(1)),
        histogram(memory.take<int>(1 << HISTOGRAM_BITS)),
        label_costs(memory.take<Cost>(shape.vocab_size + 1)),
        index(memory.take<int>(index_size(shape))),
        entries(memory.take<Entry>(shape.entry_capacity)),
        candidates(memory.take<Candidate>(shape.candidate_capacity)),
        pending(memory.take<int>(shape.entry_capacity)),
        hubs(memory.take<int>(shape.max_tokens)),
        marks(memory.take<int>(shape.record_capacity)),
        marked(memory.take<int>(shape.record_capacity)),
        full_index_mask(index_size(shape) - 1),
        bytes(memory.used()) {}

  static KERNEL_HOST_FN int index_size(const WfstShape& shape) {
    int size = 16;
    while (size < 2 * shape.entry_capacity) size *= 2;
    return size;
  }
};

KERNEL_FN int hash_of(Key key) {
  return static_cast<int>((key * 0x9E3779B97F4A7C15ULL) >> 33);
}

}  // namespace earshot::EARSHOT_BACKEND
