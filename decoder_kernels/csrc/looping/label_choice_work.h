// What a lane's answer says: the blank or a label, boosted or not, and how likely it is.
#pragma once

#include "boost/boost_automaton.h"
#include "looping/block_reduction.h"
#include "looping/loop_math.h"
#include "looping/loop_params.h"

namespace earshot::cuda {

KERNEL_FN float never() {
  return __int_as_float(static_cast<int>(0xFF800000U));  // minus infinity
}

// score: with the bonus that the label would earn; of two equal ones the first label is taken.
struct ScoredLabel {
  double score;
  float logit;
  int token;

  static KERNEL_FN ScoredLabel none() { return {static_cast<double>(never()), never(), 0}; }
  KERNEL_FN ScoredLabel better(const ScoredLabel& other) const {
    if (other.score > score) return other;
    return other.score == score && other.token < token ? other : *this;
  }
};

struct LabelSaid {
  int token;
  bool is_label;
  float log_prob;
  int duration;
  bool finite;
};

// A lane's row of answers, and shared memory for PARTS of each kind.
struct AnswerRow {
  float* logits;
  ScoredLabel* labels;
  float* totals;
};

KERNEL_FN ScoredLabel likeliest(const GridPlace& place, const AnswerRow& row, int labels) {
  return reduced(
      place, row.labels,
      [&](int j) {
        ScoredLabel best = ScoredLabel::none();
        for (int i = j; i < labels; i += REDUCTION_PARTS) {
          best = best.better({static_cast<double>(row.logits[i]), row.logits[i], i});
        }
        return best;
      },
      [](const ScoredLabel& one, const ScoredLabel& other) { return one.better(other); });
}

KERNEL_FN float log_sum(const GridPlace& place, const AnswerRow& row, int columns, float most) {
  const float total = reduced(
      place, row.totals,
      [&](int j) {
        float sum = 0.0F;
        for (int i = j; i < columns; i += REDUCTION_PARTS) sum += exponential(row.logits[i] - most);
        return sum;
      },
      [](float one, float other) { return one + other; });
  return most + logf(total);
}

// The likeliest label with the bonus that each would earn; overwrites the row.
//
// A label off all arcs costs what the phrase under way has earned, the same for all of them: the
// others are compared with it, and only they are looked up.
KERNEL_FN ScoredLabel likeliest_boosted(const GridPlace& place, const AnswerRow& row, int labels,
                                        const BoostAutomaton& boosts, int state) {
  ScoredLabel own = ScoredLabel::none();
  for (;; state = boosts.failure(state)) {
    for (int arc = place.thread; arc < boosts.num_children(state); arc += place.threads) {
      const int target = boosts.arc_target(state, arc), token = boosts.token(target);
      const float logit = row.logits[token];
      if (logit == never()) continue;  // a longer phrase goes on with it
      own = own.better({logit + (boosts.completed(target) + boosts.pending(target)), logit, token});
      row.logits[token] = never();
    }
    place.sync();  // the next, shorter phrases see what is taken
    if (state == BoostAutomaton::ROOT) break;
  }
  const ScoredLabel others = likeliest(place, row, labels);
  const ScoredLabel boosted = reduced(
      place, row.labels, [&](int j) { return j == place.thread ? own : ScoredLabel::none(); },
      [](const ScoredLabel& one, const ScoredLabel& other) { return one.better(other); });
  return others.better(boosted);
}

// In frames; NO_DURATION where an answer is not a number, or none is finite.
inline constexpr int NO_DURATION = -1;
KERNEL_FN int duration_of(const HeadOnDevice& head, const float* logits, bool is_label) {
  if (head.durations == 0) return is_label ? 0 : 1;
  int best = 0;
  for (int i = 0; i < head.durations; ++i) {
    if (isnan(logits[i])) return NO_DURATION;
    if (logits[i] > logits[best]) best = i;
  }
  if (!isfinite(logits[best])) return NO_DURATION;
  return head.duration_frames[best];
}

// The blank is chosen by what the network says alone, whatever is boosted; among labels boosts
// count. Told to all threads of the block; overwrites the row.
KERNEL_FN LabelSaid label_said(const GridPlace& place, const LoopParams& params, int lane,
                               const AnswerRow& row) {
  const HeadOnDevice& head = params.head;
  const float blank = row.logits[head.labels];
  ScoredLabel label = likeliest(place, row, head.labels);
  const float most = label.logit > blank ? label.logit : blank;
  const float total = log_sum(place, row, head.labels + 1, most);
  const bool is_label = label.logit >= blank;
  const BoostAutomaton boosts(params.boosts, params.of(lane, BOOST_ROW));
  if (is_label && !boosts.empty()) {
    label = likeliest_boosted(place, row, head.labels, boosts, params.of(lane, BOOST_STATE_HERE));
  }
  const float log_prob = (is_label ? label.logit : blank) - total;
  const int duration = duration_of(head, row.logits + head.labels + 1, is_label);
  const bool finite = isfinite(log_prob) && duration != NO_DURATION;
  return {is_label ? label.token : head.labels, is_label, log_prob, duration, finite};
}

}  // namespace earshot::cuda
