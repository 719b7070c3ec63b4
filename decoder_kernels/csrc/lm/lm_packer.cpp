#include "lm/lm_packer.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "lm/lm_writer.h"

namespace earshot {

namespace {

constexpr double NEVER = -99.0;  // how ARPA files write it
constexpr double MOST_COST = LM_NO_COST - 1;
constexpr double MOST_BACK_OFF = 32767.0;

}  // namespace

LmPacker::LmPacker(std::string folder, std::size_t memory)
    : folder_(std::move(folder)), memory_(memory), parser_(*this, LM_MAX_ORDER) {}

void LmPacker::begin(int order) {
  if (order > 1) runs_ = std::make_unique<NGramRuns>(order, folder_, memory_);
}

void LmPacker::take(const std::vector<std::string_view>& words, double prob, double back_off) {
  if (words.size() == 1) {
    take_word(words[0], prob, back_off);
    return;
  }
  std::array<std::uint32_t, LM_MAX_ORDER> numbers{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    numbers[i] = words_.find(words[i]);
    if (numbers[i] == Vocabulary::MISSING) {
      throw std::invalid_argument(shown(words[i]) + " is not among the 1-grams");
    }
  }
  runs_->add(numbers.data(), steps(prob, MOST_COST), steps(back_off, MOST_BACK_OFF));
}

void LmPacker::take_word(std::string_view word, double prob, double back_off) {
  if (!words_.add(word)) throw std::invalid_argument(shown(word) + " was there before");
  if (words_.size() == LM_NO_WORD) throw std::invalid_argument("more than 2^24 - 2 words");
  word_probs_.push_back(prob);
  word_back_offs_.push_back(back_off);
}

void LmPacker::end(int order) {
  if (order == 1) {
    number_words();
    return;
  }
  std::optional<std::vector<std::uint32_t>> twice;
  levels_.push_back(runs_->merged(twice));
  runs_.reset();
  if (!twice) return;
  std::string told;
  for (int i = 0; i < order; ++i) {
    if (i > 0) told.push_back(' ');
    told.append(words_.text_of((*twice)[i]));
  }
  throw std::invalid_argument("the " + std::to_string(order) + "-gram " + shown(told) +
                              " is there twice");
}

void LmPacker::number_words() {
  const std::vector<std::uint32_t> numbers = words_.sort(word_probs_);
  std::vector<double> costs(numbers.size()), back_offs(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    costs[numbers[i]] = steps(word_probs_[i], MOST_COST);
    back_offs[numbers[i]] = steps(word_back_offs_[i], MOST_BACK_OFF);
  }
  word_probs_ = std::move(costs);
  word_back_offs_ = std::move(back_offs);
}

// Costs are limited to what an image can say; "never" is no fault of the file's.
float LmPacker::steps(double log10, double most) {
  const double exact = -log10 * std::numbers::ln10 * LM_COST_STEPS;
  if (std::abs(exact) <= most) return static_cast<float>(exact);
  if (log10 != NEVER) ++packed_.clamped;
  return static_cast<float>(std::copysign(most, exact));
}

// From the longest on, since a context that is added has one of its own.
void LmPacker::add_missing_contexts() {
  for (int order = parser_.order(); order > 2; --order) {
    std::uint64_t missing = 0;
    NGramFile file = contexts_missing(order, missing);
    if (missing == 0) continue;
    packed_.holes += missing;
    NGramRuns both(order - 1, folder_, 0);
    both.add(std::move(levels_[order - 3]));
    both.add(std::move(file));
    std::optional<std::vector<std::uint32_t>> twice;
    levels_[order - 3] = both.merged(twice);
  }
}

NGramFile LmPacker::contexts_missing(int order, std::uint64_t& missing) {
  NGramFile& level = levels_[order - 2];
  NGramFile& below = levels_[order - 3];
  NGramFile found(order - 1, folder_);
  const int length = order - 1;
  std::vector<std::uint32_t> context;
  level.rewind();
  below.rewind();
  bool any = below.next();
  while (level.next()) {
    if (!context.empty() && compare_words(context.data(), level.words(), length) == 0) continue;
    context.assign(level.words(), level.words() + length);
    while (any && compare_words(below.words(), context.data(), length) < 0) any = below.next();
    if (any && compare_words(below.words(), context.data(), length) == 0) continue;
    context.push_back(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity()));
    context.push_back(0);
    found.append(context.data(), 1);
    ++missing;
  }
  return found;
}

// Contexts with many children have a row more.
std::uint64_t LmPacker::tallies_of(NGramFile& level) {
  const int length = level.order() - 1;
  std::vector<std::uint32_t> context;
  std::uint64_t tallies = 0, children = 0;
  level.rewind();
  while (level.next()) {
    if (context.empty() || compare_words(context.data(), level.words(), length) != 0) {
      context.assign(level.words(), level.words() + length);
      children = 0;
    }
    tallies += ++children == LM_MANY;
  }
  return tallies;
}

LmPacked LmPacker::finish(const std::string& path) {
  parser_.finish();
  add_missing_contexts();
  LmCounts& counts = packed_.counts;
  counts.order = parser_.order();
  counts.words = words_.size();
  counts.text_bytes = words_.text_bytes();
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    counts.rows[i + 1] = levels_[i].size();
    counts.tallies += tallies_of(levels_[i]);
  }
  LmWriter(path, counts).write(words_, word_probs_, word_back_offs_, levels_);
  return packed_;
}

}  // namespace earshot
