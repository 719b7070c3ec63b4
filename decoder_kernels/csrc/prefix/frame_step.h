// One frame of one lane: which tokens a hypothesis tries, and what becomes of it.
//
// Reads the beam, the ranked tokens and the frame's log-probabilities; changes nothing.
// Where a path brings a new time node, `time_parent` is set to its parent.
#pragma once

#include <limits>

#include "block/block.h"
#include "block/lane_scratch.h"
#include "boost/boost_automaton.h"
#include "prefix/log_add.h"
#include "prefix/prefix_state.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NO_PARENT = -1;
inline constexpr int NO_NEW_NODE = -2;

template <class T>
KERNEL_FN T min_of(T a, T b) {
  return a < b ? a : b;
}

class FrameStep {
 public:
  KERNEL_FN FrameStep(const SearchShape& shape, const Slot& slot, const LaneScratch& lane,
                      const BoostAutomaton& automaton)
      : shape_(shape), slot_(slot), lane_(lane), automaton_(automaton) {}

  // Turns to a frame: log-probabilities (V,).
  KERNEL_FN void read(const float* row) { row_ = row; }
  KERNEL_FN const float* row() const { return row_; }

  // Whether boosted tokens are tried beyond the token beam.
  KERNEL_FN bool boosts() const { return shape_.boost_candidates && !automaton_.empty(); }

  // Whether the hypothesis' extension by the token is a hypothesis of the beam already.
  KERNEL_FN bool is_in_beam(int rank, int token) const {
    for (int i = 0; i < *lane_.num_hypotheses; ++i) {
      if (lane_.parent_rank[i] == rank && lane_.beam[i].token == token) return true;
    }
    return false;
  }

  KERNEL_FN bool in_token_beam(int token) const {
    const Candidate& last = lane_.tokens[lane_.tokens.size() - 1];
    return row_[token] > last.score || (row_[token] == last.score && token <= last.token);
  }

  // Whether the hypothesis tries the token in this frame. A token that a boost brought in may be
  // repeated in the frames that follow.
  KERNEL_FN bool tries(const Hypothesis& from, int token) const {
    if (in_token_beam(token)) return true;
    if (!boosts()) return false;
    const bool in_phrase = from.boost_state != BoostAutomaton::ROOT;
    return (in_phrase && token == from.token) || automaton_.has_arc(from.boost_state, token);
  }

  // Equal totals are ordered by the first path that led to the prefix: its token's rank in the
  // frame, then the rank of the hypothesis that it came from, repeats before extensions.
  KERNEL_FN long long touch(int token, int rank, int is_extension) const {
    long long token_rank = shape_.token_beam + token;
    for (int i = 0; i < lane_.tokens.size(); ++i) {
      if (lane_.tokens[i].token == token) token_rank = i;
    }
    return (token_rank * shape_.beam_size + rank) * 2 + is_extension;
  }

  KERNEL_FN long long first_touch(int rank) const {
    const Hypothesis& own = lane_.beam[rank];
    const int parent = lane_.parent_rank[rank];
    long long first = std::numeric_limits<long long>::max();
    if (in_token_beam(shape_.blank_id)) first = touch(shape_.blank_id, rank, 0);
    if (own.length > 0 && tries(own, own.token)) {
      first = min_of(first, touch(own.token, rank, 0));
    }
    if (parent != NO_PARENT && tries(lane_.beam[parent], own.token)) {
      first = min_of(first, touch(own.token, parent, 1));
    }
    return first;
  }

  // The same prefix one frame later: by a blank, by a repeat of its last token, or again by the
  // extension of its parent, in the order of their ranks.
  KERNEL_FN Hypothesis itself(int rank, int* time_parent) const {
    const Hypothesis& own = lane_.beam[rank];
    Hypothesis kept = own;
    kept.blank_score = kept.token_score = MINUS_INFINITY;
    kept.blank_viterbi = kept.token_viterbi = MINUS_INFINITY;
    kept.blank_times = kept.token_times = NO_NODE;
    *time_parent = NO_NEW_NODE;
    if (in_token_beam(shape_.blank_id)) {
      const double log_prob = row_[shape_.blank_id];
      kept.blank_score = lane_.score[rank] + log_prob;
      kept.blank_viterbi = own.viterbi() + log_prob;
      kept.blank_times = own.times();
    }
    const int parent = lane_.parent_rank[rank];
    if (parent != NO_PARENT && parent < rank) extend_into(kept, parent, time_parent);
    if (own.length > 0 && tries(own, own.token)) repeat_into(kept, own, time_parent);
    if (parent > rank) extend_into(kept, parent, time_parent);
    return kept;
  }

  // A new prefix. Its `prefix` is still the parent's node.
  KERNEL_FN Hypothesis extension(int rank, int token, int* time_parent) const {
    const Hypothesis& from = lane_.beam[rank];
    Hypothesis extended;
    extended.blank_score = extended.token_score = MINUS_INFINITY;
    extended.blank_viterbi = extended.token_viterbi = MINUS_INFINITY;
    extended.blank_times = extended.token_times = NO_NODE;
    extended.rest_hash = from.hash;
    extended.hash = hash_of(from.hash, token);
    extended.prefix = from.prefix;
    extended.token = token;
    extended.length = from.length + 1;
    extended.boost_state = automaton_.next(from.boost_state, token);
    extended.completed = from.completed + automaton_.completed(extended.boost_state);
    *time_parent = NO_NEW_NODE;
    extend_into(extended, rank, time_parent);
    return extended;
  }

 private:
  // Times follow WeNet: a repeat moves the token's time to the present frame unless an extension
  // by the same token has set the time in this frame.
  KERNEL_FN void repeat_into(Hypothesis& kept, const Hypothesis& own, int* time_parent) const {
    const double log_prob = row_[own.token];
    kept.token_score = log_add(kept.token_score, own.token_score + log_prob);
    const double viterbi = own.token_viterbi + log_prob;
    if (kept.token_viterbi < viterbi) {
      kept.token_viterbi = viterbi;
      if (*time_parent == NO_NEW_NODE) *time_parent = slot_.times.parent[own.token_times];
    }
  }

  KERNEL_FN void extend_into(Hypothesis& kept, int parent, int* time_parent) const {
    const Hypothesis& from = lane_.beam[parent];
    if (!tries(from, kept.token)) return;
    const bool doubled = from.token == kept.token;  // only a blank parts a token from its double
    const double log_prob = row_[kept.token];
    const double score = doubled ? from.blank_score : lane_.score[parent];
    kept.token_score = log_add(kept.token_score, score + log_prob);
    const double viterbi = (doubled ? from.blank_viterbi : from.viterbi()) + log_prob;
    if (kept.token_viterbi < viterbi) {
      kept.token_viterbi = viterbi;
      *time_parent = doubled ? from.blank_times : from.times();
    }
  }

  const SearchShape& shape_;
  const Slot& slot_;
  const LaneScratch& lane_;
  const BoostAutomaton& automaton_;
  const float* row_ = nullptr;
};

}  // namespace earshot::EARSHOT_BACKEND
