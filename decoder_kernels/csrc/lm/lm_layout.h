// The parts of a language model's image, as they lie in the mapped file: lm_image.py opens it,
// lm_writer.cpp fills it in, docs/decisions/0165-mapped-language-models.md says why it is so.
//
// N-grams are a forward trie. Those of one word have no rows: their costs lie by the word. The
// others are rows in the order of their words, order after order, so that what follows one context
// lies side by side. A context is a *state*: the empty one, then the items (words, then rows below
// the highest order) that others follow or that have a back-off. Words, rows and states lie in
// lines of 64 bytes, each with all that is asked of its own: a look is one line.
#pragma once

#include <cstdint>

#include "block/block.h"

namespace earshot {

inline constexpr int LM_COST_STEPS = 1024;  // to a nat
inline constexpr int LM_MAX_ORDER = 6;
inline constexpr std::uint32_t LM_NO_COST = 65535;     // of a row that is only a context
inline constexpr std::uint32_t LM_NO_WORD = 16777215;  // 2^24 - 1
inline constexpr std::uint32_t LM_ROOT = 0;            // the state of no words
inline constexpr std::uint32_t LM_NO_STATE = 4294967295;
inline constexpr std::uint64_t LM_NO_ROW = UINT64_MAX;
inline constexpr int LM_LINE_BYTES = 64;
inline constexpr int LM_WORDS_TOGETHER = 28;
inline constexpr int LM_ROWS_TOGETHER = 12;
inline constexpr int LM_STATES_TOGETHER = 8;
inline constexpr int LM_BASE_SHIFT = 16;      // lines that share a base
inline constexpr std::uint32_t LM_MANY = 15;  // children, of which the first row says how many

// Costs of words alone, and which of them are states.
struct LmWordLine {
  std::uint32_t before;  // the state of the first that is one
  std::uint32_t bits;
  std::uint16_t costs[LM_WORDS_TOGETHER];
};
static_assert(sizeof(LmWordLine) == LM_LINE_BYTES);

// Words and costs after contexts, and which of these n-grams are states.
struct LmRowLine {
  std::uint32_t ranked;  // a bit for each row; above them the state of the first, from the base on
  std::uint8_t rows[LM_ROWS_TOGETHER][5];  // a word's number of 24 bits, its cost of 16
};
static_assert(sizeof(LmRowLine) == LM_LINE_BYTES);

struct LmStateLine {
  std::uint32_t first_row;                     // of the first's children, from the base on
  std::uint32_t sizes;                         // of each 4 bits: its children, or LM_MANY
  std::uint32_t suffixes[LM_STATES_TOGETHER];  // the longest other state that its words end with
  std::int16_t back_offs[LM_STATES_TOGETHER];  // costs of going there
  std::uint8_t masks[LM_STATES_TOGETHER];      // a bit is set where a child's word has it
};
static_assert(sizeof(LmStateLine) == LM_LINE_BYTES);

struct LmView {
  const LmWordLine* words;
  const LmRowLine* rows;
  const LmStateLine* states;
  const std::uint32_t* state_bases;  // of rows' lines
  const std::uint64_t* row_bases;    // of states' lines
  std::uint64_t num_rows;
  std::uint64_t num_inner;  // rows below the highest order
  std::uint32_t num_words;
  std::uint32_t num_states;
  std::uint32_t unknown;      // the word that stands for others, or LM_NO_WORD
  std::int32_t unknown_cost;  // where it is LM_NO_WORD
  std::int32_t order;
};

namespace EARSHOT_BACKEND {

KERNEL_FN std::uint32_t lm_mask(std::uint32_t word) {
  return 1u << (word * 0x9E3779B1u >> 29);
}

// Of 28 bits at most.
KERNEL_FN std::uint32_t count_bits(std::uint32_t bits) {
  bits -= bits >> 1 & 0x55555555u;
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  return ((bits + (bits >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

}  // namespace EARSHOT_BACKEND

}  // namespace earshot
