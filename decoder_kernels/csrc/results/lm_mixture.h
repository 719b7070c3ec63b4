// Language models whose probabilities are mixed word by word (linear interpolation, Jelinek 1980).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lm/lm_lookup.h"
#include "prefix/log_add.h"

namespace earshot {

// In place of a number: of a class that this model lacks, and says nothing of.
inline constexpr std::uint32_t LM_NO_CLASS = LM_NO_WORD - 1;

// One of the models. `words`: of all that it is asked about, by its own numbers.
struct LmVoice {
  cpu::LmLookup lookup;
  double log_share;
  std::uint32_t start;  // the state that every text begins in
  const std::uint32_t* words;
};

class LmMixture {
 public:
  // `added`: what each word costs beside what models say, in nats.
  LmMixture(std::vector<LmVoice> voices, const double* added)
      : voices_(std::move(voices)), added_(added) {}

  // How many numbers a state has: one for each model.
  std::size_t size() const { return voices_.size(); }
  const LmVoice& voice(std::size_t i) const { return voices_[i]; }

  // Whether two words are one to all models, and cost the same.
  bool same(std::size_t one, std::size_t other) const {
    for (const LmVoice& voice : voices_) {
      if (voice.words[one] != voice.words[other]) return false;
    }
    return added_[one] == added_[other];
  }

  // In nats, what the word `at` costs in the state `before`; the state behind it goes to `after`,
  // which may be the same memory.
  double take(const std::uint32_t* before, std::size_t at, std::uint32_t* after) const {
    double log_prob = cpu::MINUS_INFINITY;
    for (std::size_t i = 0; i < voices_.size(); ++i) {
      const LmVoice& voice = voices_[i];
      const cpu::LmFound found = voice.lookup.find(before[i], voice.words[at]);
      after[i] = found.state;
      if (voice.words[at] == LM_NO_CLASS) continue;
      log_prob = cpu::log_add(log_prob, voice.log_share - found.cost / STEPS);
    }
    return added_[at] - log_prob;
  }

 private:
  static constexpr double STEPS = LM_COST_STEPS;

  std::vector<LmVoice> voices_;
  const double* added_;
};

}  // namespace earshot
