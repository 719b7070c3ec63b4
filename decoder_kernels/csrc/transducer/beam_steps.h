// What a hypothesis may say next, and the best of all that a lane's hypotheses may.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "transducer/label_choice.h"
#include "transducer/token_lm.h"

namespace earshot::EARSHOT_PROCESSOR {

// token: WAITING where nothing is said. advance: in frames; duration: as a TDT said, 1 of an RNN-T.
// log_prob: of the token, by the network alone.
struct BeamStep {
  static constexpr int WAITING = -1;

  double score;
  int hypothesis;
  int token = WAITING;
  int advance = 0;
  int duration = 0;
  float log_prob = 0.0F;
};

// The `most` best steps, best first; of those that are as good the one that was offered first.
class BestSteps {
 public:
  explicit BestSteps(int most) : most_(most) {}

  // The score that a step has to beat.
  double least() const {
    return static_cast<int>(steps_.size()) < most_ ? NOTHING : steps_.back().score;
  }

  void offer(const BeamStep& step) {
    if (!(step.score > least())) return;
    if (static_cast<int>(steps_.size()) == most_) steps_.pop_back();
    const auto worse = [](const BeamStep& one, const BeamStep& other) {
      return one.score > other.score;
    };
    steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step, worse), step);
  }

  void drop_below(double score) {
    while (!steps_.empty() && steps_.back().score < score) steps_.pop_back();
  }

  void clear() { steps_.clear(); }
  const std::vector<BeamStep>& steps() const { return steps_; }

 private:
  static constexpr double NOTHING = -std::numeric_limits<double>::infinity();
  int most_;
  std::vector<BeamStep> steps_;
};

// The row of a joint's logits, of labels and then the blank, as language model and boosts see it.
struct BeamRow {
  float* logits;
  int columns;  // with padding, minus infinity
  int blank;
  float total;  // log of the sum of exponentials, before anything was added

  // As NeMo does by default (Bataev 2025): the blank keeps its odds, since a language model knows
  // none.
  void fuse(const TokenLm& lm, int state, float weight, float* scores) const {
    constexpr double MOST_BLANK = 0.99;
    const float said = logits[blank] - total;
    const double spoken = std::log1p(-std::min(std::exp(static_cast<double>(said)), MOST_BLANK));
    lm.score(state, weight, scores);
    const auto lost = static_cast<float>(weight * spoken);
    for (int label = 0; label < blank; ++label) logits[label] += lost + scores[label];
    logits[blank] = total + said * (1.0F + weight);
  }

  // Boosts choose among labels alone: the one that they like best has what the favourite has
  // without them, so that a blank is as likely as it was.
  void boost(const BoostedLane& lane, std::vector<char>& seen) const {
    const float blank_logit = logits[blank];
    logits[blank] = NEVER;
    const float favourite = likeliest(logits, columns).logit;
    seen.assign(blank, 0);
    const cpu::BoostAutomaton& boosts = lane.automaton;
    for (int state = lane.state;; state = boosts.failure(state)) {
      for (int arc = 0; arc < boosts.num_children(state); ++arc) {
        const int target = boosts.arc_target(state, arc), token = boosts.token(target);
        if (seen[token]) continue;  // a longer phrase goes on with it
        seen[token] = 1;
        logits[token] += static_cast<float>(boosts.completed(target) + boosts.pending(target));
      }
      if (state == cpu::BoostAutomaton::ROOT) break;
    }
    const float moved = favourite - likeliest(logits, columns).logit;
    if (moved != 0.0F) {
      for (int label = 0; label < blank; ++label) logits[label] += moved;
    }
    logits[blank] = blank_logit;
  }
};

// Where one row is fused.
struct BeamScratch {
  std::vector<float> raw;
  std::vector<float> of_lm;
  std::vector<char> seen;

  const float* keep(const float* row, int columns) {
    raw.assign(row, row + columns);
    return raw.data();
  }

  float* scores() {
    of_lm.resize(raw.size());
    return of_lm.data();
  }
};

// How long each of a TDT's durations lasts, and how likely each is in a row.
struct LikelyDurations {
  const std::vector<int>* frames;
  std::vector<float> log_probs;
  int favourite = 0;

  bool empty() const { return frames->empty(); }
  float most() const { return empty() ? 0.0F : log_probs[favourite]; }

  // False where they are not finite.
  bool read(const float* row, int columns) {
    if (empty()) return true;
    const float total = log_sum(row, columns);
    favourite = likeliest(row, columns).token;
    log_probs.resize(frames->size());
    for (std::size_t i = 0; i < frames->size(); ++i) log_probs[i] = row[i] - total;
    return std::isfinite(total);
  }
};

// Offers the steps of one hypothesis with its score so far. raw: the logits as the joint gave them.
class StepOffers {
 public:
  StepOffers(const BeamRow& row, const float* raw, const LikelyDurations& durations, double score,
             int hypothesis, BestSteps& best)
      : row_(row),
        raw_(raw),
        durations_(durations),
        score_(score),
        hypothesis_(hypothesis),
        best_(best) {}

  // As NeMo does: with the likeliest duration.
  void blank_alone() { offer(row_.blank, durations_.favourite); }

  // As greedy decoding does: to the next frame, whatever durations would be likely.
  void leave() {
    const float logit = row_.logits[row_.blank];
    if (!(logit > NEVER)) return;
    best_.offer({
        .score = score_of(logit, 0.0F),
        .hypothesis = hypothesis_,
        .token = row_.blank,
        .advance = 1,
        .duration = 1,
        .log_prob = raw_[row_.blank] - row_.total,
    });
  }

  // Sixteen columns at a time: few hold anything that is good enough.
  void all() {
    for (int first = 0; first < row_.columns; first += WIDTH) {
      if (!may_do(largest(load(row_.logits + first)))) continue;
      const int last = std::min(first + WIDTH, row_.blank + 1);
      for (int token = first; token < last; ++token) {
        if (may_do(row_.logits[token])) offer(token);
      }
    }
  }

 private:
  bool may_do(float logit) const {
    return logit > NEVER && score_of(logit, durations_.most()) > best_.least();
  }

  double score_of(float logit, float lasting) const {
    return score_ + static_cast<double>(logit - row_.total) + static_cast<double>(lasting);
  }

  void offer(int token) {
    const int count = durations_.empty() ? 1 : static_cast<int>(durations_.log_probs.size());
    for (int place = 0; place < count; ++place) offer(token, place);
  }

  void offer(int token, int place) {
    const bool is_blank = token == row_.blank;
    const float lasting = durations_.empty() ? 0.0F : durations_.log_probs[place];
    if (!(row_.logits[token] > NEVER && lasting > NEVER)) return;
    const int duration =
        durations_.empty() ? static_cast<int>(is_blank) : (*durations_.frames)[place];
    best_.offer({
        .score = score_of(row_.logits[token], lasting),
        .hypothesis = hypothesis_,
        .token = token,
        .advance = is_blank ? std::max(duration, 1) : duration,
        .duration = durations_.empty() ? 1 : duration,
        .log_prob = raw_[token] - row_.total,
    });
  }

  const BeamRow& row_;
  const float* raw_;
  const LikelyDurations& durations_;
  double score_;
  int hypothesis_;
  BestSteps& best_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
