// CTC WFST beam search, one block per lane: a single launch walks all frames of the chunk. The
// rules are those of wfst_oracle.py, which the kernels equal exactly; see docs/decisions/0034.
#include "block.h"
#include "input_check.h"
#include "wfst_expansion.h"
#include "wfst_frontier.h"
#include "wfst_records.h"
#include "wfst_search.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

namespace {

KERNEL_FN Workspace workspace_of(const Block& block, const WfstState& state) {
  return Workspace(Carver(state.workspace + block.worker * state.workspace_bytes), state.shape);
}

class WfstLane {
 public:
  KERNEL_FN WfstLane(const Block& block, const WfstState& state, std::int64_t slot)
      : block_(block),
        shape_(state.shape),
        options_(state.options[slot]),
        slot_(wfst_slot(state, slot)),
        work_(workspace_of(block, state)),
        frontier_(block, state, work_, options_),
        expansion_(block, state, slot, slot_, work_, frontier_),
        records_(block, slot_, work_, state.shape.record_capacity) {}

  KERNEL_FN int run(const float* log_probs, int frames) {
    FrameTotals& totals = frontier_.totals();
    const int status = check_input(block_, log_probs, frames, shape_.vocab_size, &totals.status,
                                   &totals.frame_seen);
    if (status != INPUT_OK || frames == 0) return status;
    prepare();
    if (*slot_.num_frames == 0) start();
    for (int frame = 0; frame < frames; ++frame) {
      expansion_.read_labels(log_probs + static_cast<std::int64_t>(frame) * shape_.vocab_size);
      block_.sync();
      expansion_.bound();
      expansion_.follow_labels();
      expansion_.follow_epsilons();
      keep_the_best();
    }
    return status;
  }

  KERNEL_FN void forget_boosts() {
    prepare();
    expansion_.forget_boosts();
    keep_the_best();
    if (block_.thread == 0) *slot_.num_frames -= 1;
    block_.sync();
  }

 private:
  // Each frame leaves the hash table empty, and its owner fills it with NONE at the beginning.
  KERNEL_FN void prepare() {
    block_.sync();
    if (block_.thread == 0) frontier_.totals().num_entries = 0;
    frontier_.clear();
  }

  KERNEL_FN void start() {
    expansion_.keep_tokens();
    expansion_.follow_epsilons();
    keep_the_best();
    if (block_.thread == 0) *slot_.num_frames = 0;
    block_.sync();
  }

  // Prunes, joins histories and makes the survivors the slot's tokens. A frame that nothing
  // survives, or for which there are too few records, is left out.
  KERNEL_FN void keep_the_best() {
    FrameTotals& totals = frontier_.totals();
    frontier_.limit(static_cast<int>(options_.max_active));
    const bool survived = totals.num_survivors > 0;
    const int room = survived ? make_room() : 0;
    if (room != 0) {
      for (int level = 0; level < shape_.num_levels; ++level) {
        join_histories(level, room == ROOM_FOR_ALL);
      }
      store_tokens();
    }
    block_.sync();
    if (block_.thread == 0) {
      *slot_.num_frames += 1;
      *slot_.num_free -= room != 0 ? totals.taken : 0;
      *slot_.overflows += totals.overflowed != 0 || (survived && room != ROOM_FOR_ALL) ? 1 : 0;
      *slot_.dead_ends += survived ? 0 : 1;
    }
    frontier_.clear();
  }

  static constexpr int ROOM_FOR_WORDS = 1;
  static constexpr int ROOM_FOR_ALL = 2;

  // Whether the records of this frame fit: all, or without merges, or (0) not even those of words.
  KERNEL_FN int make_room() {
    const FrameTotals& totals = frontier_.totals();
    if (has_room(2 * totals.num_candidates)) return ROOM_FOR_ALL;
    records_.collect();
    if (has_room(2 * totals.num_candidates)) return ROOM_FOR_ALL;
    count_records();
    if (has_room(totals.needed_records)) return ROOM_FOR_ALL;
    return has_room(totals.needed_words) ? ROOM_FOR_WORDS : 0;
  }

  KERNEL_FN bool has_room(int records) const { return records_.num_free() >= records; }

  // At most so many records are made: counted so that the order of threads does not matter.
  KERNEL_FN void count_records() {
    FrameTotals& totals = frontier_.totals();
    block_.sync();
    if (block_.thread == 0) totals.needed_records = totals.needed_words = 0;
    block_.sync();
    for (int i = block_.thread; i < frontier_.num_entries(); i += block_.threads) {
      const Entry& entry = frontier_.entry(i);
      if (!is_needed(entry)) continue;
      int near = 0;
      int words = 0;
      for (int c = entry.candidate; c != NONE; c = work_.candidates[c].next) {
        if (!is_near(entry, work_.candidates[c]) && work_.candidates[c].cost != entry.cost)
          continue;
        near += 1;
        words |= work_.candidates[c].word;
      }
      block_.fetch_add(&totals.needed_records, (words != 0 ? 2 : 1) * near);
      block_.fetch_add(&totals.needed_words, words != 0 ? 1 : 0);
    }
    block_.sync();
  }

  // Survivors, and entries from which an epsilon path may lead to one.
  KERNEL_FN bool is_needed(const Entry& entry) const {
    return entry.candidate != NONE &&
           entry.cost - expansion_.slack(node_of(entry.key)) <= frontier_.totals().limit_cost;
  }

  KERNEL_FN bool is_near(const Entry& entry, const Candidate& candidate) const {
    return candidate.cost <= frontier_.totals().limit_cost &&
           candidate.cost - entry.cost <= options_.lattice_beam;
  }

  KERNEL_FN void join_histories(int level, bool merges) {
    for (int i = block_.thread; i < frontier_.num_entries(); i += block_.threads) {
      Entry& entry = frontier_.entry(i);
      if (entry.level == level && is_needed(entry)) entry.history = joined(entry, merges);
    }
    block_.sync();
  }

  KERNEL_FN int joined(const Entry& entry, bool merges) {
    const int frame = static_cast<int>(*slot_.num_frames);
    int last = cheapest_after(entry, NONE);
    int history = records_.store(history_of(work_.candidates[last]), frame);
    if (!merges || work_.candidates[entry.candidate].next == NONE) return history;
    for (;;) {
      last = cheapest_after(entry, last);
      if (last == NONE || !is_near(entry, work_.candidates[last])) return history;
      const Candidate& other = work_.candidates[last];
      history = records_.merge(history, history_of(other), other.cost - entry.cost,
                               options_.lattice_beam, frame);
    }
  }

  // The next in the order of cost, kind of source, key of source, word; NONE after the last.
  KERNEL_FN int cheapest_after(const Entry& entry, int last) const {
    int found = NONE;
    for (int c = entry.candidate; c != NONE; c = work_.candidates[c].next) {
      if ((last == NONE || precedes(last, c)) && (found == NONE || precedes(c, found))) found = c;
    }
    return found;
  }

  KERNEL_FN bool precedes(int a, int b) const {
    const Candidate& one = work_.candidates[a];
    const Candidate& other = work_.candidates[b];
    if (one.cost != other.cost) return one.cost < other.cost;
    if ((one.from < 0) != (other.from < 0)) return other.from < 0;
    const Key key = source_key(one.from);
    const Key other_key = source_key(other.from);
    return key != other_key ? key < other_key : one.word < other.word;
  }

  KERNEL_FN Key source_key(int from) const {
    return from < 0 ? frontier_.entry(~from).key : slot_.keys[from];
  }

  KERNEL_FN History history_of(const Candidate& candidate) const {
    const int from = candidate.from;
    return History{from < 0 ? frontier_.entry(~from).history : slot_.histories[from],
                   candidate.word};
  }

  KERNEL_FN void store_tokens() {
    block_.sync();
    if (block_.thread == 0) *slot_.num_tokens = 0;
    block_.sync();
    for (int i = block_.thread; i < frontier_.num_entries(); i += block_.threads) {
      const Entry& entry = frontier_.entry(i);
      if (!frontier_.survives(entry)) continue;
      const int token = block_.fetch_add(slot_.num_tokens, 1);
      slot_.keys[token] = entry.key;
      slot_.costs[token] = entry.cost;
      slot_.histories[token] = entry.history;
    }
  }

  const Block& block_;
  const WfstShape& shape_;
  const WfstOptionRow& options_;
  WfstSlot slot_;
  Workspace work_;
  Frontier frontier_;
  Expansion expansion_;
  RecordPool records_;
};

struct WfstAdvance {
  KERNEL_FN void operator()(const Block& block, const WfstAdvanceParams& params) const {
    const std::int64_t lane = block.index;
    const float* log_probs =
        params.log_probs + lane * params.max_frames * params.state.shape.vocab_size;
    WfstLane search(block, params.state, params.slots[lane]);
    const int status = search.run(log_probs, static_cast<int>(params.lengths[lane]));
    if (block.thread == 0) params.status[lane] = status;
  }
};

struct WfstForgetBoosts {
  KERNEL_FN void operator()(const Block& block, const WfstSlotParams& params) const {
    WfstLane(block, params.state, params.slots[block.index]).forget_boosts();
  }
};

}  // namespace

std::size_t wfst_workspace_bytes(const WfstShape& shape) {
  return Workspace(Carver(nullptr), shape).bytes;
}

void wfst_advance(Launch how, const WfstAdvanceParams& params) {
  how.scratch_bytes = 0;
  launch<WfstAdvance>(how, params);
}

void wfst_forget_boosts(Launch how, const WfstSlotParams& params) {
  how.scratch_bytes = 0;
  launch<WfstForgetBoosts>(how, params);
}

}  // namespace earshot::EARSHOT_BACKEND
