// What a row of logits says: the blank or a label, boosted or not, and how likely it is.
#pragma once

#include <limits>

#include "boost/boost_automaton.h"
#include "dense/floats.h"
#include "dense/log_sum.h"

namespace earshot::EARSHOT_PROCESSOR {

inline constexpr float NEVER = -std::numeric_limits<float>::infinity();

// logit: without boosts.
struct LikeliestLabel {
  int token;
  float logit;
};

// The first of the largest, of a row whose padding is minus infinity. NaN may hide it.
inline LikeliestLabel likeliest(const float* row, int columns) {
  Floats most = load(row);
  for (int i = WIDTH; i < columns; i += WIDTH) most = larger(load(row + i), most);
  const float value = largest(most);
  int place = 0;
  while (place + 1 < columns && row[place] != value) ++place;
  return {place, value};
}

// A lane's boosts and its state there.
struct BoostedLane {
  cpu::BoostAutomaton automaton;
  int state;

  void hear(int token) { state = automaton.next(state, token); }
};

// The likeliest label with the bonus that each would earn; overwrites the row.
//
// A label off all arcs costs what the phrase under way has earned, the same for all of them: the
// others are compared with it, and only they are looked up.
inline LikeliestLabel likeliest_boosted(float* row, int columns, const BoostedLane& lane) {
  const cpu::BoostAutomaton& boosts = lane.automaton;
  LikeliestLabel best{0, NEVER};
  double most = static_cast<double>(NEVER);
  const auto consider = [&](const LikeliestLabel& label, double bonus) {
    const double score = label.logit + bonus;
    if (score < most || (score == most && label.token > best.token)) return;
    best = label;
    most = score;
  };
  for (int state = lane.state;; state = boosts.failure(state)) {
    for (int arc = 0; arc < boosts.num_children(state); ++arc) {
      const int target = boosts.arc_target(state, arc), token = boosts.token(target);
      if (row[token] == NEVER) continue;  // a longer phrase goes on with it
      consider({token, row[token]}, boosts.completed(target) + boosts.pending(target));
      row[token] = NEVER;
    }
    if (state == cpu::BoostAutomaton::ROOT) break;
  }
  consider(likeliest(row, columns), 0.0);
  return best;
}

// The blank of a TDT or RNN-T is number `blank`, behind all labels.
struct LabelChoice {
  int token;
  bool is_label;
  float log_prob;
};

// The blank is chosen by what the network says alone, whatever is boosted; among labels boosts
// count. Overwrites the row.
inline LabelChoice choose_label(float* row, int columns, int blank, const BoostedLane& boosts) {
  const float total = log_sum(row, columns);
  const float blank_logit = row[blank];
  row[blank] = NEVER;
  LikeliestLabel label = likeliest(row, columns);
  if (!(label.logit >= blank_logit)) return {blank, false, blank_logit - total};
  if (!boosts.automaton.empty()) label = likeliest_boosted(row, columns, boosts);
  return {label.token, true, label.logit - total};
}

}  // namespace earshot::EARSHOT_PROCESSOR
