// One lane's hypotheses on their way through a chunk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "transducer/beam_chunk.h"
#include "transducer/beam_steps.h"
#include "transducer/said_pool.h"

namespace earshot::EARSHOT_PROCESSOR {

// said: its place in the lane's SaidPool. step: the last of its steps in this chunk. passing: the
// blank's log-probability that made its last advance. row: of the joint in this turn, if any.
struct BeamHypothesis {
  double score;
  std::uint64_t hash;
  std::int64_t labels;
  int frame;
  int in_frame;
  int boost_state;
  int lm_state;
  int said;
  int step;
  int parent;
  float passing;
  int row;

  bool says_the_same(const BeamHypothesis& other) const {
    return hash == other.hash && labels == other.labels && frame == other.frame;
  }
};

// A step that was taken, and the one before it.
struct TakenStep {
  int before;
  int token;
  int frame;
  int advance;
  int duration;
  float log_prob;
};

inline std::uint64_t hash_after(std::uint64_t hash, int label) {
  hash += 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(label + 1);  // splitmix64 (Steele 2014)
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBU;
  return hash ^ (hash >> 31);
}

inline double log_add(double one, double other) {
  const double most = std::max(one, other), least = std::min(one, other);
  return most + std::log1p(std::exp(least - most));
}

class BeamLane {
 public:
  static constexpr int NO_STEP = -1;
  static constexpr int NOT_ASKED = -1;

  BeamLane(const BeamRules& rules, cpu::BoostAutomaton boosts, float lm_weight, int length,
           int blank, int max_symbols, int memory_size)
      : rules_(&rules),
        boosts_(boosts),
        lm_weight_(lm_weight),
        length_(length),
        blank_(blank),
        max_symbols_(max_symbols),
        pool_(memory_size),
        best_(rules.most_steps()) {}

  // A hypothesis as it was before the chunk. num_states: of the lane's boosts.
  void add(const float* memory, const std::int64_t* carried, double score, std::int64_t num_states,
           float passing) {
    const int parent = static_cast<int>(beam_.size());
    const std::int64_t boost_state = carried[BEAM_BOOST_STATE];
    beam_.push_back({
        .score = score,
        .hash = static_cast<std::uint64_t>(carried[BEAM_HASH]),
        .labels = carried[BEAM_LABELS],
        .frame = static_cast<int>(carried[BEAM_AHEAD]),
        .in_frame = 0,
        .boost_state = boost_state < num_states ? static_cast<int>(boost_state) : 0,
        .lm_state = static_cast<int>(carried[BEAM_LM_STATE]),
        .said = pool_.add(memory),
        .step = NO_STEP,
        .parent = parent,
        .passing = passing,
        .row = NOT_ASKED,
    });
    passing_before_.push_back(passing);
    ahead_before_.push_back(beam_.back().frame);
  }

  // The hypotheses that are to say something in this turn.
  template <class Ask>
  void ask(Ask ask) {
    const int until = this->until();
    for (BeamHypothesis& each : beam_) {
      each.row = finite_ && each.frame < until ? ask(each) : NOT_ASKED;
    }
  }

  // What one hypothesis may say; overwrites the row.
  void hear(const BeamHypothesis& said, BeamRow row, LikelyDurations& durations,
            BeamScratch& room) {
    // Of no weight it is as if there were none: what it says of nobody may cost nothing.
    const bool has_lm = rules_->lm != nullptr && lm_weight_ > 0;
    const bool fused = has_lm || !boosts_.empty();
    const float* raw = row.logits;
    if (fused) raw = room.keep(row.logits, row.columns);
    if (has_lm) row.fuse(*rules_->lm, said.lm_state, lm_weight_, room.scores());
    if (!boosts_.empty()) row.boost({boosts_, said.boost_state}, room.seen);
    const auto place = static_cast<int>(&said - beam_.data());
    StepOffers offers(row, raw, durations, said.score, place, best_);
    if (said.in_frame < max_symbols_) {
      offers.all();
    } else if (rules_->in_frames) {
      offers.leave();
    } else {
      offers.blank_alone();
    }
  }

  // Takes the best steps that make `width` hypotheses. `answer(hypothesis)` hears each that was
  // asked; false where its outputs are not finite.
  template <class Answer>
  void move(Answer answer) {
    best_.clear();
    bool moves = false;
    for (std::size_t i = 0; i < beam_.size(); ++i) {
      if (beam_[i].row == NOT_ASKED) {
        best_.offer({.score = beam_[i].score, .hypothesis = static_cast<int>(i)});
        continue;
      }
      moves = true;
      finite_ = finite_ && answer(beam_[i]);
    }
    finite_ = finite_ && !best_.steps().empty();
    if (!moves || !finite_) return;
    best_.drop_below(best_.steps().front().score - rules_->narrow);
    after_.clear();
    for (const BeamStep& step : best_.steps()) take(step);
    std::swap(beam_, after_);
    if (pool_.full()) forget();
  }

  bool finite() const { return finite_; }
  std::vector<BeamHypothesis>& beam() { return beam_; }
  SaidPool& pool() { return pool_; }

  // Writes what a hypothesis carries into the next chunk.
  void carry(const BeamHypothesis& said, std::int64_t* carried) const {
    carried[BEAM_AHEAD] = said.frame - length_;
    carried[BEAM_BOOST_STATE] = said.boost_state;
    carried[BEAM_LM_STATE] = said.lm_state;
    carried[BEAM_LABELS] = said.labels;
    carried[BEAM_HASH] = static_cast<std::int64_t>(said.hash);
  }

  FoundHypothesis found(const BeamHypothesis& said) const {
    FoundHypothesis all;
    all.parent = said.parent;
    all.blank_log_probs.assign(length_, NEVER);
    std::fill_n(all.blank_log_probs.begin(), std::min(ahead_before_[said.parent], length_),
                passing_before_[said.parent]);
    std::vector<int> labels;
    for (int step = said.step; step != NO_STEP; step = steps_[step].before) {
      const TakenStep& each = steps_[step];
      if (each.token != blank_) {
        labels.push_back(step);
        continue;
      }
      const int passed = std::min(each.advance, length_ - each.frame);
      std::fill_n(all.blank_log_probs.begin() + each.frame, passed, each.log_prob);
    }
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
      const TakenStep& each = steps_[*label];
      all.tokens.push_back(each.token);
      all.frames.push_back(each.frame);
      all.durations.push_back(each.duration);
      all.log_probs.push_back(each.log_prob);
    }
    return all;
  }

 private:
  // The frame that hypotheses wait at.
  int until() const {
    if (!rules_->in_frames) return length_;
    const auto earlier = [](const BeamHypothesis& one, const BeamHypothesis& other) {
      return one.frame < other.frame;
    };
    return std::min(length_, std::ranges::min_element(beam_, earlier)->frame + 1);
  }

  // Of steps that say the same the likeliest, which comes first, is taken, with the sum of all.
  void take(const BeamStep& step) {
    const BeamHypothesis told = told_by(step);
    for (BeamHypothesis& other : after_) {
      if (!other.says_the_same(told)) continue;
      other.score = log_add(other.score, step.score);
      return;
    }
    if (static_cast<int>(after_.size()) < rules_->width) after_.push_back(taken(step, told));
  }

  // What a step leads to, as far as `says_the_same` asks.
  BeamHypothesis told_by(const BeamStep& step) const {
    BeamHypothesis said = beam_[step.hypothesis];
    if (step.token == BeamStep::WAITING) return said;
    said.frame += step.advance;
    if (step.token != blank_) {
      said.hash = hash_after(said.hash, step.token);
      ++said.labels;
    }
    return said;
  }

  BeamHypothesis taken(const BeamStep& step, BeamHypothesis said) {
    if (step.token == BeamStep::WAITING) return said;
    const int frame = beam_[step.hypothesis].frame;
    steps_.push_back({said.step, step.token, frame, step.advance, step.duration, step.log_prob});
    said.step = static_cast<int>(steps_.size()) - 1;
    said.score = step.score;
    const bool is_label = step.token != blank_;
    if (step.advance > 0) said.passing = is_label ? NEVER : step.log_prob;
    if (is_label) say(said, step.token);
    said.in_frame = step.advance > 0 ? 0 : said.in_frame + static_cast<int>(is_label);
    return said;
  }

  void say(BeamHypothesis& said, int label) {
    said.said = pool_.after(said.said, label);
    said.boost_state = boosts_.next(said.boost_state, label);
    if (rules_->lm != nullptr) said.lm_state = rules_->lm->next(said.lm_state, label);
  }

  void forget() {
    std::vector<int> used;
    for (const BeamHypothesis& each : beam_) used.push_back(each.said);
    pool_.keep(used);
  }

  const BeamRules* rules_;
  cpu::BoostAutomaton boosts_;
  float lm_weight_;
  int length_;
  int blank_;
  int max_symbols_;
  bool finite_ = true;
  SaidPool pool_;
  BestSteps best_;
  std::vector<BeamHypothesis> beam_;
  std::vector<BeamHypothesis> after_;
  std::vector<TakenStep> steps_;
  std::vector<float> passing_before_;
  std::vector<int> ahead_before_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
