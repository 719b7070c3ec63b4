// What a worker of a CPU keeps of its lookups, beside nobody: LmMemo.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "pricing/lm_row.h"
#include "pricing/lm_words.h"

namespace earshot::EARSHOT_BACKEND {

class OwnPrices {
 public:
  using Word = LmMemo::Word;
  using States = LmMemo::States;

  explicit KERNEL_FN OwnPrices(LmMemo* memo = nullptr) : memo_(memo) {}
  KERNEL_FN OwnPrices(const LmKeeping& all, int worker)
      : memo_(all.memos == nullptr ? nullptr : all.memos + worker) {}

  KERNEL_FN bool empty() const { return memo_ == nullptr; }

  // Whether what is kept is that price; it is then written there.
  KERNEL_FN bool find(Word& asked) const {
    if (empty() || !is_kept(asked)) return false;
    asked = word_at(asked);
    return true;
  }
  KERNEL_FN bool is_kept(const Word& asked) const {
    const Word& kept = word_at(asked);
    return kept.row == asked.row && kept.before == asked.before && kept.word == asked.word;
  }
  KERNEL_FN void keep(const Word& found) const {
    if (!empty()) word_at(found) = found;
  }

  // The same of the states after some words.
  KERNEL_FN bool find(States& asked) const {
    if (empty()) return false;
    const States& kept = states_at(asked.words);
    if (kept.row != asked.row || kept.words != asked.words) return false;
    asked = kept;
    return true;
  }
  KERNEL_FN void keep(const States& found) const {
    if (!empty()) states_at(found.words) = found;
  }

  // Asks memory for both.
  KERNEL_FN void fetch(const Word& asked) const {
    prefetch(&word_at(asked));
    prefetch(&states_at(asked.before));
  }

 private:
  KERNEL_FN Word& word_at(const Word& asked) const {
    const std::uint64_t word = asked.word;
    return memo_->words[place_of(asked.before ^ word << (64 - LM_WORD_BITS), LM_WORDS_KEPT)];
  }
  KERNEL_FN States& states_at(std::uint64_t words) const {
    return memo_->states[place_of(words, LM_STATES_KEPT)];
  }

  // The highest bits of the product depend on all.
  static KERNEL_FN int place_of(std::uint64_t words, int size) {
    return static_cast<int>((words * 0x9E3779B97F4A7C15ULL) >> 40) & (size - 1);
  }

  LmMemo* memo_;
};

}  // namespace earshot::EARSHOT_BACKEND
