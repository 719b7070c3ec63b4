// Where the parts of an image begin: all follows from the counts in its header, so that there are
// no offsets to distrust (decoder_kernels/lm/lm_header.py says the same).
#pragma once

#include <array>
#include <cstdint>

#include "lm/lm_layout.h"

namespace earshot {

struct LmCounts {
  std::int32_t order;
  std::uint64_t words;
  std::uint64_t text_bytes;
  std::array<std::uint64_t, LM_MAX_ORDER> rows;  // of each order; of the first none
  std::uint64_t tallies;                         // rows that count others
  std::uint64_t states;

  std::uint64_t all_rows() const {
    std::uint64_t all = tallies;
    for (const std::uint64_t of_order : rows) all += of_order;
    return all;
  }
  // Rows below the highest order, which may be states (and as many more as it has tallies).
  std::uint64_t inner_rows() const { return all_rows() - rows[order - 1]; }
  // The most states that there can be: a word is none where there are no longer n-grams.
  std::uint64_t most_states() const {
    return 1 + (order == 1 ? 0 : words) + inner_rows() - tallies;
  }
};

struct LmParts {
  static constexpr std::uint64_t HEADER_BYTES = 4096;
  static constexpr std::uint64_t ALIGNMENT = 64;

  std::uint64_t ends, text, by_text, words, rows, states, state_bases, row_bases, end;

  explicit LmParts(const LmCounts& counts) {
    std::uint64_t at = HEADER_BYTES;
    const auto place = [&](std::uint64_t length, std::uint64_t bytes) {
      const std::uint64_t begin = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      at = begin + length * bytes;
      return begin;
    };
    ends = place(counts.words, sizeof(std::uint64_t));
    text = place(counts.text_bytes, 1);
    by_text = place(counts.words, sizeof(std::uint32_t));
    words = place(pieces(counts.words, LM_WORDS_TOGETHER), LM_LINE_BYTES);
    const std::uint64_t row_lines = pieces(counts.all_rows(), LM_ROWS_TOGETHER);
    rows = place(row_lines, LM_LINE_BYTES);
    const std::uint64_t state_lines = pieces(counts.states, LM_STATES_TOGETHER);
    states = place(state_lines, LM_LINE_BYTES);
    state_bases = place(bases_of(row_lines), sizeof(std::uint32_t));
    row_bases = place(bases_of(state_lines), sizeof(std::uint64_t));
    end = at;
  }

  static std::uint64_t bases_of(std::uint64_t lines) {
    return pieces(lines, std::uint64_t{1} << LM_BASE_SHIFT);
  }
  static std::uint64_t pieces(std::uint64_t whole, std::uint64_t piece) {
    return (whole + piece - 1) / piece;
  }
};

// A view of an image's bytes, unknown words apart.
inline LmView lm_view(const std::uint8_t* content, const LmCounts& counts) {
  const LmParts at(counts);
  return LmView{
      .words = reinterpret_cast<const LmWordLine*>(content + at.words),
      .rows = reinterpret_cast<const LmRowLine*>(content + at.rows),
      .states = reinterpret_cast<const LmStateLine*>(content + at.states),
      .state_bases = reinterpret_cast<const std::uint32_t*>(content + at.state_bases),
      .row_bases = reinterpret_cast<const std::uint64_t*>(content + at.row_bases),
      .num_rows = counts.all_rows(),
      .num_inner = counts.inner_rows(),
      .num_words = static_cast<std::uint32_t>(counts.words),
      .num_states = static_cast<std::uint32_t>(counts.states),
      .unknown = LM_NO_WORD,
      .unknown_cost = static_cast<std::int32_t>(LM_NO_COST - 1),
      .order = counts.order,
  };
}

}  // namespace earshot
