// What texts cost by one model, or by several whose probabilities are mixed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lm/lm_lookup.h"
#include "prefix/log_add.h"

namespace earshot {

// One of the models of a mix. `words`: of all texts, one after the other, by its own numbers.
struct LmVoice {
  cpu::LmLookup lookup;
  double log_share;
  std::uint32_t start;  // the state that every text begins in
  const std::uint32_t* words;
};

// Texts of one list begin alike: what a text shares with the one before it is not looked up again.
class LmTexts {
 public:
  explicit LmTexts(std::vector<LmVoice> voices) : voices_(std::move(voices)) {}

  // Into `costs`, in nats, those of the texts that end at `ends` of `num_words` words.
  // Throws std::invalid_argument for ends that do not ascend, or lie outside.
  void price(const std::int64_t* ends, std::size_t num_texts, std::size_t num_words,
             double* costs) {
    std::size_t begin = 0;
    for (std::size_t text = 0; text < num_texts; ++text) {
      const auto end = static_cast<std::size_t>(ends[text]);
      if (ends[text] < 0 || end < begin || end > num_words) {
        throw std::invalid_argument("the ends of texts do not ascend within the words");
      }
      costs[text] = price_one(begin, end);
      begin = end;
    }
  }

 private:
  double price_one(std::size_t begin, std::size_t end) {
    const std::size_t known = shared(begin, end);
    totals_.resize(known);
    states_.resize(known * voices_.size());
    for (std::size_t at = begin + known; at < end; ++at) take(at);
    before_ = begin;
    return totals_.empty() ? 0.0 : totals_.back();
  }

  // How many words a text begins with that the one before it does too.
  std::size_t shared(std::size_t begin, std::size_t end) const {
    const std::size_t most = std::min(end - begin, totals_.size());
    std::size_t known = 0;
    while (known < most && same(before_ + known, begin + known)) ++known;
    return known;
  }

  bool same(std::size_t one, std::size_t other) const {
    return std::all_of(voices_.begin(), voices_.end(), [&](const LmVoice& voice) {
      return voice.words[one] == voice.words[other];
    });
  }

  void take(std::size_t at) {
    const std::size_t stride = voices_.size();
    const bool first = totals_.empty();
    const double total = first ? 0.0 : totals_.back();
    double log_prob = cpu::MINUS_INFINITY;
    for (std::size_t i = 0; i < stride; ++i) {
      const LmVoice& voice = voices_[i];
      const std::uint32_t state = first ? voice.start : states_[states_.size() - stride];
      const cpu::LmFound found = voice.lookup.find(state, voice.words[at]);
      states_.push_back(found.state);
      log_prob = cpu::log_add(log_prob, voice.log_share - found.cost / STEPS);
    }
    totals_.push_back(total - log_prob);
  }

  static constexpr double STEPS = cpu::LM_COST_STEPS;

  std::vector<LmVoice> voices_;
  std::size_t before_ = 0;             // where the last text begins
  std::vector<double> totals_;         // of it, after each word
  std::vector<std::uint32_t> states_;  // of each voice, after each word
};

}  // namespace earshot
