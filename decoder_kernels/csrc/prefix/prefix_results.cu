// Slots outside the search: starting over, and reading out what was found.
#include <limits>

#include "block/block.h"
#include "block/scratch.h"
#include "boost/boost_automaton.h"
#include "prefix/log_add.h"
#include "prefix/prefix_search.h"
#include "prefix/prefix_state.h"

namespace earshot::EARSHOT_BACKEND {

namespace {

// One hypothesis: the empty prefix. Its Viterbi scores are both 0, as WeNet has them.
struct Reset {
  KERNEL_FN void operator()(const Block& block, const ResetParams& params) const {
    const Slot slot = slot_at(params.state, params.slots[block.index]);
    slot.prefixes.free_all(block);
    slot.times.free_all(block);
    if (block.thread != 0) return;
    *slot.num_hypotheses = 1;
    *slot.num_frames = 0;
    *slot.overflows = 0;
    Hypothesis root{};
    root.token_score = -std::numeric_limits<double>::infinity();
    root.blank_times = root.token_times = root.prefix = NO_NODE;
    root.token = NO_TOKEN;
    slot.beam[0] = root;
  }
};

// Another boost table: no phrase is under way any more; complete ones keep their bonus.
struct ForgetBoosts {
  KERNEL_FN void operator()(const Block& block, const ResetParams& params) const {
    const Slot slot = slot_at(params.state, params.slots[block.index]);
    for (int i = block.thread; i < *slot.num_hypotheses; i += block.threads) {
      slot.beam[i].boost_state = 0;
    }
  }
};

struct Summarize {
  KERNEL_FN void operator()(const Block& block, const SummaryParams& params) const {
    if (block.thread != 0) return;
    const Slot slot = slot_at(params.state, params.slots[block.index]);
    std::int64_t* summary = params.summary + static_cast<std::int64_t>(block.index) * 4;
    summary[0] = *slot.num_hypotheses;
    summary[1] = *slot.num_frames;
    summary[2] = 0;
    summary[3] = *slot.overflows;
    for (int i = 0; i < *slot.num_hypotheses; ++i) {
      if (slot.beam[i].length > summary[2]) summary[2] = slot.beam[i].length;
    }
  }
};

struct ResultScratch {
  double* ctc_score;
  double* boost_score;
  int* common;  // tokens shared with the best hypothesis
  std::size_t bytes;

  KERNEL_HOST_FN ResultScratch(Carver scratch, const SearchShape& shape)
      : ctc_score(scratch.take<double>(shape.beam_size)),
        boost_score(scratch.take<double>(shape.beam_size)),
        common(scratch.take<int>(shape.beam_size)),
        bytes(scratch.used()) {}
};

class ResultReader {
 public:
  KERNEL_FN ResultReader(const Block& block, const ResultParams& params)
      : block_(block),
        params_(params),
        slot_(slot_at(params.state, params.slots[block.index])),
        automaton_(params.state.boosts, params.state.boost_rows[params.slots[block.index]]),
        scratch_(Carver(block.scratch), params.state.shape),
        size_(*slot_.num_hypotheses) {}

  KERNEL_FN void run() {
    for (int i = block_.thread; i < size_; i += block_.threads) rate(i);
    block_.sync();
    for (int i = block_.thread; i < size_; i += block_.threads) {
      const int rank = rank_of(i);
      if (rank < params_.num_results) write(i, first_row() + rank);
    }
    for (int rank = size_ + block_.thread; rank < params_.num_results; rank += block_.threads) {
      params_.lengths[first_row() + rank] = -1;
    }
    if (block_.thread == 0) params_.stable[block_.index] = stable_length();
  }

 private:
  KERNEL_FN void rate(int i) {
    const Hypothesis& own = slot_.beam[i];
    const double pending = params_.finalize ? 0.0 : automaton_.pending(own.boost_state);
    scratch_.ctc_score[i] = log_add(own.blank_score, own.token_score);
    scratch_.boost_score[i] = own.completed + pending;
    scratch_.common[i] = common_length(own, slot_.beam[0]);
  }

  KERNEL_FN double total(int i) const { return scratch_.ctc_score[i] + scratch_.boost_score[i]; }

  // By total; equal ones, and all when the search is still under way, as in the beam.
  KERNEL_FN int rank_of(int i) const {
    if (!params_.finalize) return i;
    int rank = 0;
    for (int j = 0; j < size_; ++j) {
      if (total(j) > total(i) || (total(j) == total(i) && j < i)) ++rank;
    }
    return rank;
  }

  KERNEL_FN void write(int i, std::int64_t row) {
    const Hypothesis& own = slot_.beam[i];
    params_.lengths[row] = own.length;
    params_.scores[row * 2] = scratch_.ctc_score[i];
    params_.scores[row * 2 + 1] = scratch_.boost_score[i];
    int prefix = own.prefix;
    int time = own.times();
    for (int position = own.length - 1; position >= 0; --position) {
      const std::int64_t cell = row * params_.max_tokens + position;
      params_.tokens[cell] = slot_.prefixes.value[prefix];
      params_.frames[cell] = slot_.times.value[time];
      params_.log_probs[cell] = slot_.times.log_prob[time];
      prefix = slot_.prefixes.parent[prefix];
      time = slot_.times.parent[time];
    }
  }

  KERNEL_FN int stable_length() const {
    int stable = slot_.beam[0].length;
    for (int i = 1; i < size_; ++i) {
      if (scratch_.common[i] < stable) stable = scratch_.common[i];
    }
    return stable;
  }

  KERNEL_FN int common_length(const Hypothesis& a, const Hypothesis& b) const {
    const NodePool& prefixes = slot_.prefixes;
    const int shorter = a.length < b.length ? a.length : b.length;
    int left = ancestor(a.prefix, a.length - shorter);
    int right = ancestor(b.prefix, b.length - shorter);
    int common = shorter;
    for (int length = shorter; left != right; --length) {
      if (prefixes.value[left] != prefixes.value[right]) common = length - 1;
      left = prefixes.parent[left];
      right = prefixes.parent[right];
    }
    return common;
  }

  KERNEL_FN int ancestor(int prefix, int steps) const {
    for (; steps > 0; --steps) prefix = slot_.prefixes.parent[prefix];
    return prefix;
  }

  KERNEL_FN std::int64_t first_row() const {
    return static_cast<std::int64_t>(block_.index) * params_.num_results;
  }

  const Block& block_;
  const ResultParams& params_;
  Slot slot_;
  BoostAutomaton automaton_;
  ResultScratch scratch_;
  int size_;
};

struct ReadResults {
  KERNEL_FN void operator()(const Block& block, const ResultParams& params) const {
    ResultReader(block, params).run();
  }
};

}  // namespace

std::size_t slot_bytes(const SearchShape& shape) {
  return Slot(nullptr, shape).bytes;
}

void reset(Launch how, const ResetParams& params) {
  how.scratch_bytes = 0;
  launch<Reset>(how, params);
}

void forget_boosts(Launch how, const ResetParams& params) {
  how.scratch_bytes = 0;
  launch<ForgetBoosts>(how, params);
}

void summarize(Launch how, const SummaryParams& params) {
  how.scratch_bytes = 0;
  launch<Summarize>(how, params);
}

void read_results(Launch how, const ResultParams& params) {
  how.scratch_bytes = ResultScratch(Carver(nullptr), params.state.shape).bytes;
  launch<ReadResults>(how, params);
}

}  // namespace earshot::EARSHOT_BACKEND
