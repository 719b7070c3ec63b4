// What a block works in while it walks the frames of a chunk: the keys that tokens have or may get,
// found by hashing, and the candidates for each in the frame at hand.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "block/scratch.h"
#include "wfst/fixed_cost.h"
#include "wfst/wfst_state.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NONE = -1;
inline constexpr int CLAIMED = -2;  // an index, by a thread at work there
inline constexpr int HISTOGRAM_BITS = 10;
inline constexpr int COST_BINS = 64;
inline constexpr int MOST_BUCKETS = 8;

// What a WfstNode says, and where its arcs end: memory is far away.
struct NodeArcs {
  std::int32_t first_arc;
  std::int32_t first_label;
  std::int32_t end;
  float min_weight;
  std::uint64_t labels;

  KERNEL_FN int num_labels() const { return end - first_label; }
};

// Whether epsilon arcs are to be followed: a candidate came to the node by an arc just now, which
// may turn out too dear to matter, or they have not all been followed although the token stays.
enum Opening : int { CLOSED, BY_ARC, BY_SELF_LOOP };

// The keys that tokens have or a frame reaches, a column for each thing known of them: most walks
// need few. Entries stay where they are until the table is made anew, so that a token that stays in
// its node is not looked up again.
struct Entries {
  Key* keys;
  Cost* costs;  // of the tokens, NO_COST without one
  Cost* nexts;  // in the frame at hand: of the cheapest candidate so far, NO_COST without any
  int* histories;
  int* next_histories;  // of entries with candidates
  int* candidates;      // the head of the list, NONE if there is none but the self-loop
  int* kinds;           // of the nodes, as in WfstArc
  int* closure_bounds;  // see WfstSlot; NO_EPSILONS for nodes without epsilon arcs
  int* opens;           // see Opening
  int* blanks;          // the entry of this node in blank, or NONE if not yet known
  NodeArcs* arcs;
  int* heads;   // the first entry of the same place; only where there are models
  Cost* bests;  // of such entries: what the cheapest candidate for the place costs so far

  KERNEL_HOST_FN Entries(Carver& memory, int size)
      : keys(memory.take<Key>(size)),
        costs(memory.take<Cost>(size)),
        nexts(memory.take<Cost>(size)),
        histories(memory.take<int>(size)),
        next_histories(memory.take<int>(size)),
        candidates(memory.take<int>(size)),
        kinds(memory.take<int>(size)),
        closure_bounds(memory.take<int>(size)),
        opens(memory.take<int>(size)),
        blanks(memory.take<int>(size)),
        arcs(memory.take<NodeArcs>(size)),
        heads(memory.take<int>(HAS_LM ? size : 0)),
        bests(memory.take<Cost>(HAS_LM ? size : 0)) {}

  KERNEL_FN void swap_costs() {
    Cost* const before = costs;
    costs = nexts;
    nexts = before;
  }
};

// An arc candidate for an entry: from the token of an entry, or by epsilon from another
// candidate's entry.
struct Candidate {
  Cost cost;
  int from;  // entry of a token, or ~entry
  int word;
  int next;
  int closure_bound;  // see Frontier::offer
};

// Shared by the threads of a block. Frontier::clear sets up anew what belongs to one frame.
struct FrameTotals {
  Cost least;       // of the tokens
  Cost last_limit;  // limit_cost of the frame before; below all costs if not all up to it survived
  int best_token;
  int index_mask;
  int num_entries;
  int num_known;  // entries with their arcs
  int num_alive;
  int status;
  int frame_seen;
  int has_self_loops;  // whether each token has a self-loop, which is in no list
  int num_candidates;
  int candidates_counted;  // when last the histogram was made
  int num_touched;
  int num_words;
  int num_pending;
  int num_raised;
  int num_to_blank;
  int num_affordable;
  int num_buckets;  // of the affordable
  int bucket_ends[MOST_BUCKETS];
  int num_expandable;
  int num_high_degree;
  Cost high_degree_cutoff;  // one for all threads, which share the arcs of a node by it
  int num_survivors;
  int needed_backpointers;
  int needed_words;
  int taken;
  int num_marked;
  int overflowed;
  int outgrown;
  Cost best;        // of the candidates
  Cost best_bound;  // what some candidate costs or will cost; the cutoff is the beam above it
  Cost least_label;
  int num_near;  // labels
  Cost limit_cost;
  Key limit_key;
};

struct Workspace {
  FrameTotals* totals;
  int* histogram;
  Cost* label_costs;
  int* near_labels;           // of all bins but the last; one more for Block::Appender
  int* label_order;           // the same, from the cheapest bin to the dearest
  std::uint64_t* bin_labels;  // of the labels up to a bin
  int* bin_ends;              // in label_order
  int* index;                 // of entries, by hash
  int* place_index;           // of the first entries of places, by hash
  Entries entries;
  Candidate* candidates;  // room for the self-loop of each entry, then all others
  int* alive;             // entries with tokens; one more as above, and below
  int* touched;           // entries with candidates in lists
  int* pending;           // entries whose epsilon arcs are to be followed
  int* raised;            // entries that epsilon arcs lead to
  int* to_blank;          // entries whose tokens may take the blank transition
  int* affordable;        // entries whose tokens can afford the cheapest label
  int* sorted;            // the same, in buckets from cheap to dear
  int* expandable;        // of these, those whose nodes have a label that they can afford
  int* high_degree;       // of these, those with so many arcs that the whole block shares them
  int* marks;             // of backpointers
  int* marked;
  int num_entries;
  int full_index_mask;
  std::size_t bytes;
  std::size_t scratch_bytes;

  // What all threads count in lies in the block's scratch: shared memory on CUDA.
  KERNEL_HOST_FN Workspace(Carver memory, Carver scratch, const WfstShape& shape)
      : totals(scratch.take<FrameTotals>(1)),
        histogram(scratch.take<int>(1 << HISTOGRAM_BITS)),
        label_costs(memory.take<Cost>(shape.vocab_size + 1)),
        near_labels(memory.take<int>(shape.vocab_size + 1)),
        label_order(memory.take<int>(shape.vocab_size)),
        bin_labels(scratch.take<std::uint64_t>(COST_BINS)),
        bin_ends(scratch.take<int>(COST_BINS)),
        index(memory.take<int>(index_size(shape))),
        place_index(memory.take<int>(HAS_LM ? index_size(shape) : 0)),
        entries(memory, entries_of(shape)),
        candidates(memory.take<Candidate>(entries_of(shape) + shape.candidate_capacity)),
        alive(memory.take<int>(shape.max_tokens + 1)),
        touched(memory.take<int>(entries_of(shape))),
        pending(memory.take<int>(entries_of(shape))),
        raised(memory.take<int>(entries_of(shape))),
        to_blank(memory.take<int>(shape.max_tokens + 1)),
        affordable(memory.take<int>(shape.max_tokens + 1)),
        sorted(memory.take<int>(shape.max_tokens)),
        expandable(memory.take<int>(shape.max_tokens + 1)),
        high_degree(memory.take<int>(shape.max_tokens)),
        marks(memory.take<int>(shape.backpointer_capacity)),
        marked(memory.take<int>(shape.backpointer_capacity)),
        num_entries(entries_of(shape)),
        full_index_mask(index_size(shape) - 1),
        bytes(memory.used()),
        scratch_bytes(scratch.used()) {}

  // Those of the tokens, and those that a frame reaches.
  static KERNEL_HOST_FN int entries_of(const WfstShape& shape) {
    return shape.max_tokens + shape.entry_capacity;
  }

  static KERNEL_HOST_FN int index_size(const WfstShape& shape) {
    int size = 16;
    while (size < 2 * entries_of(shape)) size *= 2;
    return size;
  }
};

// Of a table with room for so many tokens and those that a frame adds.
KERNEL_FN int index_mask_for(const Workspace& work, int tokens, int least) {
  int mask = least;
  while (mask < 6 * tokens) mask = 2 * mask + 1;
  return mask < work.full_index_mask ? mask : work.full_index_mask;
}

// The highest bits of the product depend on all of the key's; a table's position is its lowest.
KERNEL_FN int hash_of_place(Place place) {
  const std::uint64_t product = place * 0x9E3779B97F4A7C15ULL;
  return static_cast<int>((product ^ (product >> 44)) & INT32_MAX);
}
KERNEL_FN int hash_of(const Key& key) {
  const LmWords words = words_of(key) * 0xD6E8FEB86659FD93ULL;  // 0 without words
  return hash_of_place(place_of(key) ^ words ^ (words >> 32));
}

// The first entry of a place, or less than 0 if none is known yet.
KERNEL_FN int known_head_of(const Block& block, const Workspace& work, Place own) {
  const int mask = work.totals->index_mask;
  for (int position = hash_of_place(own) & mask;; position = (position + 1) & mask) {
    const int found = block.load_published(&work.place_index[position]);
    if (found < 0 || place_of(work.entries.keys[found]) == own) return found;
  }
}

// The first entry of a place; an entry whose key is written down becomes it if there is none.
KERNEL_FN int head_of(const Block& block, const Workspace& work, int entry) {
  const Place own = place_of(work.entries.keys[entry]);
  const int mask = work.totals->index_mask;
  for (int position = hash_of_place(own) & mask;;) {
    int* const at = &work.place_index[position];
    const int found = block.load_published(at);
    if (found == NONE) {
      if (!block.claim(at, NONE, CLAIMED)) continue;
      block.publish(at, entry);
      return entry;
    }
    if (block.threads > 1 && found == CLAIMED) continue;  // it may become this place's
    if (place_of(work.entries.keys[found]) == own) return found;
    position = (position + 1) & mask;
  }
}

}  // namespace earshot::EARSHOT_BACKEND
