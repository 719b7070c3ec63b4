// What texts cost by one model, or by several whose probabilities are mixed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "results/lm_mixture.h"

namespace earshot {

// Texts of one list begin alike: what a text shares with the one before it is not looked up again.
class LmTexts {
 public:
  explicit LmTexts(LmMixture mix) : mix_(std::move(mix)) {}

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
    states_.resize(known * mix_.size());
    for (std::size_t at = begin + known; at < end; ++at) take(at);
    before_ = begin;
    return totals_.empty() ? 0.0 : totals_.back();
  }

  // How many words a text begins with that the one before it does too.
  std::size_t shared(std::size_t begin, std::size_t end) const {
    const std::size_t most = std::min(end - begin, totals_.size());
    std::size_t known = 0;
    while (known < most && mix_.same(before_ + known, begin + known)) ++known;
    return known;
  }

  void take(std::size_t at) {
    const std::size_t size = mix_.size();
    if (totals_.empty()) {
      for (std::size_t i = 0; i < size; ++i) states_.push_back(mix_.voice(i).start);
    } else {
      states_.resize(states_.size() + size);
      std::copy_n(states_.end() - 2 * size, size, states_.end() - size);
    }
    std::uint32_t* const state = states_.data() + states_.size() - size;
    const double cost = mix_.take(state, at, state);
    totals_.push_back(totals_.empty() ? cost : totals_.back() + cost);
  }

  LmMixture mix_;
  std::size_t before_ = 0;             // where the last text begins
  std::vector<double> totals_;         // of it, after each word
  std::vector<std::uint32_t> states_;  // of each model, after each word
};

}  // namespace earshot
