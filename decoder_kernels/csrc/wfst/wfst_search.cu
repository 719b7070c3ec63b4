// CTC WFST beam search, one block per lane: a single launch walks all frames of the chunk. The
// rules are those of wfst_oracle.py (tests), which the kernels equal exactly; see
// docs/decisions/0034-backpointers.md.
//
// A token is a partial hypothesis: its key (node u, last label, boost state; with language models
// its last words too, see search_lm_oracle.py) and the cheapest cost.
// One frame, of which `WfstLane::run` has the calls:
//
//   for all labels y: cost(y) = -scale * log_prob(y), and bin y by its cost
//   best_bound = cost of the best token's cheapest transition    # adaptive cutoff, which only
//   cutoff = best_bound + beam                                   # falls as candidates are found
//   if the graph is LG:                                          # CTC topology in the decoder
//     for all tokens (u, y): offer the self-loop (u, y), and the blank transition (u, blank)
//   affordable = tokens whose cost + cheapest label + cheapest arc lies below the cutoff
//   for all cost buckets of affordable tokens, cheapest first:
//     expandable = tokens at whose node some label is affordable      # high degree: all threads
//                                                                     # share the arcs
//     for all expandable tokens (u, y): for all arcs a(u -> v) with an affordable label y':
//       offer (v, y') at cost + cost(y') + weight(a) - boost(word(a))
//     if keys > max_active: lower the cutoff to the max_active-th best   # histogram pruning, early
//   for all levels of epsilon arcs: for all keys (u, y) that are open:   # epsilon closure
//     for all arcs a(u -> v) without a label: offer (v, y) at cost + weight(a) - boost(word(a))
//   limit = min(best + beam, cost of the max_active-th best key)         # histogram pruning, exact
//   for all keys that survive: sort their candidates by cost; the best one's history is the key's
//     if it has a word: make a backpointer
//     for all others within lattice_beam: recombine, one backpointer to both histories
//   the survivors are the next frame's tokens; if the hash table is full of dead keys: rehash
//
// To offer is to add an arc candidate to a key's list, unless it is above the cutoff or more than
// lattice_beam above the key's best. If the hash table is outgrown, the frame starts
// over in a larger one.
#include "block/block.h"
#include "block/input_check.h"
#include "block/walk_chunk.h"
#include "wfst/wfst_backpointers.h"
#include "wfst/wfst_expansion.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_recombination.h"
#include "wfst/wfst_search.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

namespace {

KERNEL_FN Workspace workspace_of(const Block& block, const WfstState& state) {
  return Workspace(Carver(state.workspace + block.worker * state.workspace_bytes),
                   Carver(block.scratch), state.shape);
}

class WfstLane {
 public:
  KERNEL_FN WfstLane(const Block& block, const WfstState& state, std::int64_t slot)
      : block_(block),
        shape_(state.shape),
        options_(state.options[slot]),
        graph_scale_(state.scales[slot].graph),
        slot_(wfst_slot(state, slot)),
        work_(workspace_of(block, state)),
        lm_(HAS_LM ? state.lms + slot : nullptr,
            HAS_LM ? LmKept(state.lm_kept, block.worker) : LmKept()),
        frontier_(block, state, slot_, work_, options_, lm_),
        expansion_(block, state, slot, work_, frontier_, lm_),
        recombination_(block, state, options_, slot_, work_, frontier_, expansion_) {}

  KERNEL_FN int run(const float* log_probs, int frames) {
    FrameTotals& totals = frontier_.totals();
    const int status = check_input(block_, log_probs, frames, shape_.vocab_size, &totals.status,
                                   &totals.frame_seen);
    if (status != INPUT_OK || frames == 0) return status;
    reopen_closures();
    frontier_.load(LEAST_INDEX_MASK);
    if (*slot_.num_frames == 0) start();
    for (int frame = 0; frame < frames; ++frame) {
      frontier_.rehash();
      expansion_.read_labels(log_probs + static_cast<std::int64_t>(frame) * shape_.vocab_size);
      do {
        expansion_.bound_best();
        expansion_.follow_ctc_topology();
        expansion_.follow_labels();
        expansion_.follow_epsilons();
      } while (frontier_.outgrown());
      keep_the_best();
      count_frame();
    }
    frontier_.store();
    return status;
  }

  KERNEL_FN void forget_boosts() {
    reopen_all_closures();  // words on epsilon arcs may earn something else
    frontier_.load(LEAST_INDEX_MASK);
    do {
      expansion_.forget_boosts();
    } while (frontier_.outgrown());
    keep_the_best();
    frontier_.store();
  }

#ifdef EARSHOT_LM
  // Tokens stay, their words as the slot's models tell them apart.
  KERNEL_FN void change_lm() {
    reopen_all_closures();  // words on epsilon arcs may cost something else
    frontier_.load(LEAST_INDEX_MASK);
    do {
      expansion_.keep_tokens(*slot_.num_frames > 0);
    } while (frontier_.outgrown());
    keep_the_best();
    frontier_.store();
  }
#endif

 private:
  // The start node and what epsilon arcs lead to from there.
  KERNEL_FN void start() {
    do {
      expansion_.keep_tokens(false);
      expansion_.follow_epsilons();
    } while (frontier_.outgrown());
    keep_the_best();
  }

  // Epsilon arcs are followed anew if options have changed that say what comes of that.
  KERNEL_FN void reopen_closures() {
    ClosureOptions& closure = *slot_.closure;
    const bool is_same =
        closure.graph_scale == graph_scale_ && closure.lattice_beam == options_.lattice_beam;
    block_.sync();
    if (block_.thread == 0) closure = ClosureOptions{graph_scale_, options_.lattice_beam};
    if (!is_same) reopen_all_closures();
  }

  KERNEL_FN void reopen_all_closures() {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      slot_.closure_bounds[i] = fresh_closure_bound(slot_.kinds[i]);
    }
  }

  // Prunes, joins histories and makes the survivors the tokens. A frame that nothing survives, or
  // for which there are too few backpointers, is left out.
  KERNEL_FN void keep_the_best() {
    const FrameTotals& totals = frontier_.totals();
    frontier_.drop_far_histories();
    expansion_.pruning().limit();
    const bool survived = totals.best < NO_COST;
    const BackpointerRoom room = survived ? recombination_.make_room() : NO_ROOM;
    if (room != NO_ROOM) recombination_.recombine(room == ROOM_FOR_ALL);
    block_.sync();
    if (block_.thread == 0) {
      *slot_.overflows += totals.overflowed != 0 || (survived && room != ROOM_FOR_ALL) ? 1 : 0;
      *slot_.dead_ends += survived ? 0 : 1;
    }
    if (room != NO_ROOM) {
      frontier_.keep();
      work_.entries.swap_costs();
    } else {
      frontier_.forget();
    }
  }

  KERNEL_FN void count_frame() {
    if (block_.thread == 0) *slot_.num_frames += 1;
    block_.sync();
  }

  const Block& block_;
  const WfstShape& shape_;
  const WfstOptionRow& options_;
  double graph_scale_;
  WfstSlot slot_;
  Workspace work_;
  LmPrices lm_;
  Frontier frontier_;
  Expansion expansion_;
  Recombination recombination_;
};

struct WfstForgetBoosts {
  KERNEL_FN void operator()(const Block& block, const WfstSlotParams& params) const {
    WfstLane(block, params.state, params.slots[block.index]).forget_boosts();
  }
};

#ifdef EARSHOT_LM
struct WfstChangeLm {
  KERNEL_FN void operator()(const Block& block, const WfstSlotParams& params) const {
    WfstLane(block, params.state, params.slots[block.index]).change_lm();
  }
};
#endif

std::size_t scratch_bytes_of(const WfstShape& shape) {
  return Workspace(Carver(nullptr), Carver(nullptr), shape).scratch_bytes;
}

}  // namespace

std::size_t wfst_workspace_bytes(const WfstShape& shape) {
  return Workspace(Carver(nullptr), Carver(nullptr), shape).bytes;
}

void wfst_advance(Launch how, const WfstAdvanceParams& params) {
  how.scratch_bytes = scratch_bytes_of(params.state.shape);
  launch<WalkChunk<WfstLane, WfstState>>(how, params);
}

#ifdef EARSHOT_LM
void wfst_change_lm(Launch how, const WfstSlotParams& params) {
  how.scratch_bytes = scratch_bytes_of(params.state.shape);
  launch<WfstChangeLm>(how, params);
}
#endif

void wfst_forget_boosts(Launch how, const WfstSlotParams& params) {
  how.scratch_bytes = scratch_bytes_of(params.state.shape);
  launch<WfstForgetBoosts>(how, params);
}

}  // namespace earshot::EARSHOT_BACKEND
