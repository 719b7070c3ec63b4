// The cost of a word after a context: the longest n-gram that is listed, and the back-offs to it
// (Katz 1987). One lookup for searches on every device and for what reads their results.
//
// All that is read of the image is held to its bounds, and all loops to the order: a damaged page
// gives a wrong number and leads nowhere.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "lm/lm_layout.h"

namespace earshot::EARSHOT_BACKEND {

struct LmFound {
  std::int32_t cost;    // LM_COST_STEPS to a nat
  std::uint32_t state;  // the longest state that context and word end with
};

class LmLookup {
 public:
  KERNEL_FN explicit LmLookup(const LmView& view) : view_(view) {}

  // A word that the image lacks is its unknown word, or costs `unknown_cost` and leaves no context.
  KERNEL_FN LmFound find(std::uint32_t state, std::uint32_t word) const {
    if (word >= view_.num_words) word = view_.unknown;
    LmFound found{0, LM_NO_STATE};
    bool priced = false;
    state = state < view_.num_states ? state : LM_ROOT;
    for (int left = view_.order; left > 0 && state != LM_ROOT; --left) {
      const LmState& at = view_.states[state];
      const std::uint64_t row = child(state, at.mask, word);
      if (row != LM_NO_ROW) {
        const std::uint32_t cost = cost_of(row);
        if (!priced && cost != LM_NO_COST) {
          found.cost += static_cast<std::int32_t>(cost);
          priced = true;
        }
        if (found.state == LM_NO_STATE) found.state = state_of(view_.num_words + row);
        if (priced && found.state != LM_NO_STATE) return found;
      }
      if (!priced) found.cost += at.back_off;
      state = at.suffix < state ? at.suffix : LM_ROOT;
    }
    return alone(found, priced, word);
  }

  // What is paid for leaving the words of a state, all of them.
  KERNEL_FN std::int32_t back_off(std::uint32_t state) const {
    std::int32_t cost = 0;
    state = state < view_.num_states ? state : LM_ROOT;
    for (int left = view_.order; left > 0 && state != LM_ROOT; --left) {
      const LmState& at = view_.states[state];
      cost += at.back_off;
      state = at.suffix < state ? at.suffix : LM_ROOT;
    }
    return cost;
  }

  // The row of a state's child by its word, or LM_NO_ROW.
  KERNEL_FN std::uint64_t child(std::uint32_t state, std::uint32_t mask, std::uint32_t word) const {
    if (!(mask & lm_mask(word))) return LM_NO_ROW;
    std::uint64_t begin = first_child(state);
    std::uint64_t end = first_child(state + 1);
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      const std::uint32_t there = word_of(middle);
      if (there == word) return middle;
      if (there < word) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return LM_NO_ROW;
  }

  KERNEL_FN std::uint64_t first_child(std::uint32_t state) const {
    const std::uint64_t row = view_.bases[state >> LM_BASE_SHIFT] + view_.states[state].first_child;
    return row < view_.num_rows ? row : view_.num_rows;
  }

  KERNEL_FN std::uint32_t word_of(std::uint64_t row) const {
    const std::uint8_t* at = view_.rows + lm_row_at(row);
    return at[0] | at[1] << 8 | at[2] << 16;
  }

  KERNEL_FN std::uint32_t cost_of(std::uint64_t row) const {
    const std::uint8_t* at = view_.rows + lm_row_at(row);
    return at[3] | at[4] << 8;
  }

  // That of a word or row, or LM_NO_STATE.
  KERNEL_FN std::uint32_t state_of(std::uint64_t item) const {
    if (item >= view_.num_items) return LM_NO_STATE;
    const LmRank& rank = view_.ranks[item / LM_RANKED_BITS];
    const std::uint32_t place = item % LM_RANKED_BITS;
    if (!(rank.bits[place / 32] >> place % 32 & 1)) return LM_NO_STATE;
    std::uint32_t state = 1 + rank.before;
    for (std::uint32_t i = 0; i < place / 32; ++i) state += count_bits(rank.bits[i]);
    state += count_bits(rank.bits[place / 32] & ((1u << place % 32) - 1));
    return state < view_.num_states ? state : LM_NO_STATE;
  }

 private:
  // At the end of all back-offs.
  KERNEL_FN LmFound alone(LmFound found, bool priced, std::uint32_t word) const {
    if (word >= view_.num_words) return LmFound{found.cost + view_.unknown_cost, LM_ROOT};
    if (!priced) found.cost += view_.costs[word];
    if (found.state == LM_NO_STATE) found.state = state_of(word);
    if (found.state == LM_NO_STATE) found.state = LM_ROOT;
    return found;
  }

  LmView view_;
};

}  // namespace earshot::EARSHOT_BACKEND
