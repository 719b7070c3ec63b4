// What the host wants to know of slots: their counters, the cheapest history of each, and all that
// lists and lattices are made of.
#include <limits>

#include "block/block.h"
#include "boost/boost_automaton.h"
#include "wfst/fixed_cost.h"
#include "wfst/wfst_backpointers.h"
#include "wfst/wfst_search.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

namespace {

struct WfstReset {
  KERNEL_FN void operator()(const Block& block, const WfstSlotParams& params) const {
    const WfstShape& shape = params.state.shape;
    const WfstSlot slot = wfst_slot(params.state, params.slots[block.index]);
    for (int i = block.thread; i < shape.backpointer_capacity; i += block.threads) {
      slot.free_backpointers[i] = i;
    }
    if (block.thread != 0) return;
    slot.places[0] = make_place(shape.start, 0, BoostAutomaton::ROOT);
    slot.costs[0] = 0;
    slot.histories[0] = NO_BACKPOINTER;
    slot.kinds[0] = params.state.graph.nodes[shape.start].kind;
    slot.closure_bounds[0] = fresh_closure_bound(slot.kinds[0]);
    *slot.num_tokens = 1;
    *slot.num_free = shape.backpointer_capacity;
    *slot.num_frames = *slot.overflows = *slot.dead_ends = 0;
    *slot.has_words = 0;
  }
};

struct WfstCount {
  KERNEL_FN void operator()(const Block& block, const WfstCountParams& params) const {
    if (block.thread != 0) return;
    const WfstSlot slot = wfst_slot(params.state, params.slots[block.index]);
    std::int64_t* counts = params.counts + 5 * static_cast<std::int64_t>(block.index);
    counts[0] = *slot.num_frames;
    counts[1] = *slot.num_tokens;
    counts[2] = params.state.shape.backpointer_capacity - *slot.num_free;
    counts[3] = *slot.overflows;
    counts[4] = *slot.dead_ends;
  }
};

struct BestTotals {
  Cost least;
  Place place;
  LmWords words;  // of that place's
  int at_finals;
};

class BestOfLane {
 public:
  KERNEL_FN BestOfLane(const Block& block, const WfstBestParams& params)
      : block_(block),
        params_(params),
        lane_(params.slots[block.index]),
        slot_(wfst_slot(params.state, lane_)),
        automaton_(params.state.boosts, params.state.boost_rows[lane_]),
        lm_(HAS_LM ? params.state.lms + lane_ : nullptr,
            HAS_LM ? LmKept(params.state.lm_kept, block.worker) : LmKept()),
        totals_(*reinterpret_cast<BestTotals*>(block.scratch)),
        stable_(reinterpret_cast<int*>(block.scratch + sizeof(BestTotals))),
        backpointers_(slot_) {}

  KERNEL_FN void run() {
    if (block_.thread == 0) totals_ = BestTotals{NO_COST, ~Place{0}, ~LmWords{0}, 0};
    block_.sync();
    if (params_.finalize) note_finals();
    block_.sync();
    find();
    fold_histories();
    block_.sync();
    write();
  }

 private:
  KERNEL_FN float final_cost(int i) const {
    const int node = node_of_place(slot_.places[i]);
    return node < params_.state.shape.num_nodes ? params_.finals[node] : INFINITE;
  }

  KERNEL_FN void note_finals() {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      if (final_cost(i) < INFINITE) block_.exchange(&totals_.at_finals, 1);
    }
  }

  // What the token costs as a result: a phrase under way is given back.
  KERNEL_FN Cost cost_of(int i) const {
    const Cost cost =
        slot_.costs[i] + fixed_cost(automaton_.pending(context_of_place(slot_.places[i])));
    if (totals_.at_finals == 0) return cost;
    const float end = final_cost(i);
    const double scale = params_.state.scales[lane_].graph;
    if (!(end < INFINITE)) return NO_COST;
    return cost + fixed_cost(static_cast<double>(end) * scale) + end_price(i);
  }

  KERNEL_FN Cost end_price(int i) const {
    return !HAS_LM || lm_.empty() ? 0 : lm_.end_price(words(i));
  }

  KERNEL_FN LmWords words(int i) const {
    return !HAS_LM || lm_.empty() ? 0 : words_in_slot(slot_, params_.state.options[lane_], i);
  }

  KERNEL_FN void find() {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      block_.lower(&totals_.least, cost_of(i));
    }
    block_.sync();
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      if (cost_of(i) == totals_.least) block_.lower(&totals_.place, slot_.places[i]);
    }
    block_.sync();
    if (HAS_LM) find_words();
  }

  KERNEL_FN void find_words() {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      if (is_cheapest_place(i)) block_.lower(&totals_.words, words(i));
    }
    block_.sync();
  }

  KERNEL_FN bool is_cheapest_place(int i) const {
    return cost_of(i) == totals_.least && slot_.places[i] == totals_.place;
  }

  // Each thread for its own tokens; write() joins what they found.
  KERNEL_FN void fold_histories() {
    const int size = *slot_.num_tokens;
    if (block_.thread >= size) return;
    int shared = slot_.histories[block_.thread];
    for (int i = block_.thread; i < size; i += block_.threads) {
      shared = backpointers_.common(shared, slot_.histories[i]);
    }
    stable_[block_.thread] = shared;
  }

  KERNEL_FN void write() {
    const int size = *slot_.num_tokens;
    std::int64_t* summary = params_.summary + 5 * static_cast<std::int64_t>(block_.index);
    for (int i = block_.thread; i < size; i += block_.threads) {
      if (!is_cheapest_place(i) || (HAS_LM && words(i) != totals_.words)) continue;
      summary[0] = totals_.least;
      summary[1] = backpointers_.num_words(slot_.histories[i]);
      summary[3] = totals_.at_finals;
      summary[4] = slot_.histories[i];
    }
    if (block_.thread != 0) return;
    int shared = stable_[0];
    for (int i = 1; i < block_.threads && i < size; ++i) {
      shared = backpointers_.common(shared, stable_[i]);
    }
    summary[2] = backpointers_.num_words(shared);
  }

  static constexpr float INFINITE = std::numeric_limits<float>::infinity();

  const Block& block_;
  const WfstBestParams& params_;
  std::int64_t lane_;
  WfstSlot slot_;
  BoostAutomaton automaton_;
  LmPrices lm_;
  BestTotals& totals_;
  int* stable_;
  Backpointers backpointers_;
};

struct WfstBest {
  KERNEL_FN void operator()(const Block& block, const WfstBestParams& params) const {
    BestOfLane(block, params).run();
  }
};

struct WfstWords {
  KERNEL_FN void operator()(const Block& block, const WfstWordsParams& params) const {
    if (block.thread != 0) return;
    const std::int64_t lane = block.index;
    const WfstSlot slot = wfst_slot(params.state, params.slots[lane]);
    int backpointer = static_cast<int>(params.summary[5 * lane + 4]);
    for (std::int64_t i = params.summary[5 * lane + 1]; backpointer != NO_BACKPOINTER;) {
      const WfstBackpointer& own = slot.backpointers[backpointer];
      if (own.word != 0) {
        --i;
        params.words[lane * params.max_words + i] = own.word;
        params.frames[lane * params.max_words + i] = own.other;
      }
      backpointer = own.first;
    }
  }
};

// Copies a lane's tokens and the backpointers that they reach, which get numbers of their own.
class GatheredLane {
 public:
  KERNEL_FN GatheredLane(const Block& block, const WfstGatherParams& params)
      : block_(block),
        params_(params),
        slot_(wfst_slot(params.state, params.slots[block.index])),
        first_token_(params.firsts[2 * block.index]),
        first_backpointer_(params.firsts[2 * block.index + 1]),
        marks_(params.marks +
               static_cast<std::int64_t>(block.index) * params.state.shape.backpointer_capacity),
        marked_(params.marked + first_backpointer_),
        num_marked_(*reinterpret_cast<int*>(block.scratch)) {}

  KERNEL_FN void run() {
    if (block_.thread == 0) num_marked_ = 0;
    block_.sync();
    mark_reached();
    for (int i = block_.thread; i < num_marked_; i += block_.threads) marks_[marked_[i]] = i;
    block_.sync();
    write();
  }

 private:
  // Those of the tokens' histories, then, wave by wave, those that marked ones lead to.
  KERNEL_FN void mark_reached() {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      mark(slot_.histories[i]);
    }
    block_.sync();
    for (int start = 0, end = num_marked_; start < end;) {
      block_.sync();
      for (int i = start + block_.thread; i < end; i += block_.threads) {
        const WfstBackpointer& own = slot_.backpointers[marked_[i]];
        if (own.word == 0) mark(own.other);
      }
      block_.sync();
      start = end;
      end = num_marked_;
    }
  }

  // Follows first histories.
  KERNEL_FN void mark(int backpointer) {
    while (backpointer != NO_BACKPOINTER && block_.exchange(&marks_[backpointer], 1) == 0) {
      marked_[block_.fetch_add(&num_marked_, 1)] = backpointer;
      backpointer = slot_.backpointers[backpointer].first;
    }
  }

  KERNEL_FN int number_of(int backpointer) const {
    return backpointer == NO_BACKPOINTER ? NO_BACKPOINTER : marks_[backpointer];
  }

  KERNEL_FN void write() const {
    for (int i = block_.thread; i < *slot_.num_tokens; i += block_.threads) {
      params_.keys[first_token_ + i] = slot_.places[i];
      params_.costs[first_token_ + i] = slot_.costs[i];
      if constexpr (HAS_LM) params_.words[first_token_ + i] = slot_.words[i];
      params_.histories[first_token_ + i] = number_of(slot_.histories[i]);
    }
    for (int i = block_.thread; i < num_marked_; i += block_.threads) {
      WfstBackpointer own = slot_.backpointers[marked_[i]];
      own.first = number_of(own.first);
      if (own.word == 0) own.other = number_of(own.other);
      params_.backpointers[first_backpointer_ + i] = own;
    }
    if (block_.thread == 0) params_.reached[block_.index] = num_marked_;
  }

  const Block& block_;
  const WfstGatherParams& params_;
  WfstSlot slot_;
  std::int64_t first_token_;
  std::int64_t first_backpointer_;
  int* marks_;
  int* marked_;
  int& num_marked_;
};

struct WfstGather {
  KERNEL_FN void operator()(const Block& block, const WfstGatherParams& params) const {
    GatheredLane(block, params).run();
  }
};

}  // namespace

std::size_t wfst_slot_bytes(const WfstShape& shape) {
  return WfstSlot(Carver(nullptr), shape).bytes;
}

WfstLayout wfst_layout(const WfstState& state) {
  const WfstSlot slot(Carver(state.memory), state.shape);
  const auto offset = [&](const void* part) {
    return static_cast<std::int64_t>(static_cast<const std::byte*>(part) - state.memory);
  };
  return WfstLayout{offset(slot.places), offset(slot.costs), offset(slot.histories),
                    offset(slot.backpointers), offset(slot.words)};
}

void wfst_reset(Launch how, const WfstSlotParams& params) {
  launch<WfstReset>(how, params);
}

void wfst_count(Launch how, const WfstCountParams& params) {
  launch<WfstCount>(how, params);
}

void wfst_best(Launch how, const WfstBestParams& params) {
  how.scratch_bytes = sizeof(BestTotals) + sizeof(int) * static_cast<std::size_t>(how.threads);
  launch<WfstBest>(how, params);
}

void wfst_words(Launch how, const WfstWordsParams& params) {
  launch<WfstWords>(how, params);
}

void wfst_gather(Launch how, const WfstGatherParams& params) {
  how.scratch_bytes = sizeof(int);
  launch<WfstGather>(how, params);
}

}  // namespace earshot::EARSHOT_BACKEND
