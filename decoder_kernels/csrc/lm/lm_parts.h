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
  std::array<std::uint64_t, cpu::LM_MAX_ORDER> rows;  // of each order; of the first none
  std::uint64_t states;

  std::uint64_t all_rows() const {
    std::uint64_t all = 0;
    for (const std::uint64_t of_order : rows) all += of_order;
    return all;
  }
  // Words and rows that may be states.
  std::uint64_t items() const { return order == 1 ? 0 : words + all_rows() - rows[order - 1]; }
};

struct LmParts {
  static constexpr std::uint64_t HEADER_BYTES = 4096;
  static constexpr std::uint64_t ALIGNMENT = 64;

  std::uint64_t ends, text, by_text, costs, ranks, rows, states, bases, end;

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
    costs = place(counts.words, sizeof(std::uint16_t));
    ranks = place(pieces(counts.items(), cpu::LM_RANKED_BITS), sizeof(cpu::LmRank));
    rows = place(pieces(counts.all_rows(), cpu::LM_ROWS_TOGETHER), cpu::LM_LINE_BYTES);
    states = place(counts.states + 1, sizeof(cpu::LmState));
    bases = place(bases_of(counts.states), sizeof(std::uint64_t));
    end = at;
  }

  static std::uint64_t bases_of(std::uint64_t states) {
    return pieces(states + 1, std::uint64_t{1} << cpu::LM_BASE_SHIFT);
  }
  static std::uint64_t pieces(std::uint64_t whole, std::uint64_t piece) {
    return (whole + piece - 1) / piece;
  }
};

// A view of an image's bytes, unknown words apart.
inline cpu::LmView lm_view(const std::uint8_t* content, const LmCounts& counts) {
  const LmParts at(counts);
  return cpu::LmView{
      .costs = reinterpret_cast<const std::uint16_t*>(content + at.costs),
      .ranks = reinterpret_cast<const cpu::LmRank*>(content + at.ranks),
      .rows = content + at.rows,
      .states = reinterpret_cast<const cpu::LmState*>(content + at.states),
      .bases = reinterpret_cast<const std::uint64_t*>(content + at.bases),
      .num_rows = counts.all_rows(),
      .num_items = counts.items(),
      .num_words = static_cast<std::uint32_t>(counts.words),
      .num_states = static_cast<std::uint32_t>(counts.states),
      .unknown = cpu::LM_NO_WORD,
      .unknown_cost = static_cast<std::int32_t>(cpu::LM_NO_COST - 1),
      .order = counts.order,
  };
}

}  // namespace earshot
