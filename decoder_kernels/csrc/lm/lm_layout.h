// The parts of a language model's image, as they lie in the mapped file: lm_image.py opens it,
// lm_writer.cpp fills it in, docs/decisions/0165-mapped-language-models.md says why it is so.
//
// N-grams are a forward trie. Those of one word have no rows: their costs lie by the word. The
// others are rows in the order of their words, order after order, so that what follows one context
// lies side by side. A context is a *state*: the empty one, then the items (words, then rows below
// the highest order) that others follow or that have a back-off.
#pragma once

#include <cstdint>

#include "block/block.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int LM_COST_STEPS = 1024;  // to a nat
inline constexpr int LM_MAX_ORDER = 6;
inline constexpr std::uint32_t LM_NO_COST = 65535;     // of a row that is only a context
inline constexpr std::uint32_t LM_NO_WORD = 16777215;  // 2^24 - 1
inline constexpr std::uint32_t LM_ROOT = 0;            // the state of no words
inline constexpr std::uint32_t LM_NO_STATE = 4294967295;
inline constexpr std::uint64_t LM_NO_ROW = UINT64_MAX;
inline constexpr int LM_ROW_BYTES = 5;  // a word's number of 24 bits, its cost of 16
inline constexpr int LM_ROWS_TOGETHER = 6;
inline constexpr int LM_LINE_BYTES = 32;  // no row lies across two of them
inline constexpr int LM_BASE_SHIFT = 16;  // states that share a base
inline constexpr int LM_RANKED_BITS = 224;

struct LmState {
  std::uint32_t
      first_child;        // row, from the base on; the children end where the next state's begin
  std::uint32_t suffix;   // the longest other state that its words end with
  std::int16_t back_off;  // cost of going there
  std::uint16_t mask;     // a bit is set where a child's word has it: `lm_mask`
};
static_assert(sizeof(LmState) == 12);

// Which items are states, and how many are before them.
struct LmRank {
  std::uint32_t before;
  std::uint32_t bits[LM_RANKED_BITS / 32];
};
static_assert(sizeof(LmRank) == LM_LINE_BYTES);

struct LmView {
  const std::uint16_t* costs;
  const LmRank* ranks;
  const std::uint8_t* rows;
  const LmState* states;  // and one more, with which the last one's children end
  const std::uint64_t* bases;
  std::uint64_t num_rows;
  std::uint64_t num_items;
  std::uint32_t num_words;
  std::uint32_t num_states;
  std::uint32_t unknown;      // the word that stands for others, or LM_NO_WORD
  std::int32_t unknown_cost;  // where it is LM_NO_WORD
  std::int32_t order;
};

KERNEL_FN std::uint32_t lm_mask(std::uint32_t word) {
  return 1u << (word * 0x9E3779B1u >> 28);
}

KERNEL_FN std::uint32_t count_bits(std::uint32_t bits) {
  bits -= bits >> 1 & 0x55555555u;
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  return ((bits + (bits >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

// Where a row's bytes begin.
KERNEL_FN std::uint64_t lm_row_at(std::uint64_t row) {
  return row / LM_ROWS_TOGETHER * LM_LINE_BYTES + row % LM_ROWS_TOGETHER * LM_ROW_BYTES;
}

}  // namespace earshot::EARSHOT_BACKEND
