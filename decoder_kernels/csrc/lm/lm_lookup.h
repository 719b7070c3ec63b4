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

// Rows.
struct LmRange {
  std::uint64_t begin, end;
};

// A lookup on its way.
struct LmQuery {
  std::uint32_t state;
  std::uint32_t word;
  std::int32_t left;  // states
  bool priced;        // whether the longest n-gram has been found
  bool at_children;   // whether the state has been read, and `among` may have the word
  LmRange among;
  LmFound found;
};

class LmLookup {
 public:
  KERNEL_FN explicit LmLookup(const LmView& view) : view_(view) {}

  // A word that the image lacks is its unknown word, or costs `unknown_cost` and leaves no context.
  KERNEL_FN LmFound find(std::uint32_t state, std::uint32_t word) const {
    LmQuery query = begin(state, word);
    while (step(query)) continue;
    return query.found;
  }

  // The same in steps: each reads a line that the one before has asked memory for, so that many
  // lookups can wait together. Steps are due until one returns false.
  KERNEL_FN LmQuery begin(std::uint32_t state, std::uint32_t word) const {
    LmQuery query{.state = state < view_.num_states ? state : LM_ROOT,
                  .word = word < view_.num_words ? word : view_.unknown,
                  .left = view_.order,
                  .priced = false,
                  .at_children = false,
                  .among = {0, 0},
                  .found = {0, LM_NO_STATE}};
    fetch(query);
    return query;
  }

  KERNEL_FN bool step(LmQuery& query) const {
    if (query.state == LM_ROOT || query.left == 0) {
      query.found = alone(query.found, query.priced, query.word);
      return false;
    }
    return query.at_children ? search(query) : enter(query);
  }

  // What is paid for leaving the words of a state, all of them.
  KERNEL_FN std::int32_t back_off(std::uint32_t state) const {
    std::int32_t cost = 0;
    state = state < view_.num_states ? state : LM_ROOT;
    for (int left = view_.order; left > 0 && state != LM_ROOT; --left) {
      cost += line_of(state).back_offs[state % LM_STATES_TOGETHER];
      state = suffix_of(state);
    }
    return cost;
  }

  // Most states have few children, of which 4 bits say how many: theirs begin behind those of the
  // states before them in the line. Of many the row before them says it.
  KERNEL_FN LmRange children(std::uint32_t state) const {
    const LmStateLine& line = line_of(state);
    const std::uint32_t own = state % LM_STATES_TOGETHER;
    LmRange found{0, view_.row_bases[state / LM_STATES_TOGETHER >> LM_BASE_SHIFT] + line.first_row};
    for (std::uint32_t place = 0; place <= own; ++place) {
      const std::uint32_t size = line.sizes >> 4 * place & LM_MANY;
      found.begin = at_most(found.end);
      found.end = found.begin + size;
      if (size != LM_MANY) continue;
      const std::uint64_t count = found.begin < view_.num_rows ? tally_of(found.begin) : 0;
      found.begin = at_most(found.begin + 1);
      found.end = found.begin + count;
    }
    return LmRange{found.begin, at_most(found.end)};
  }

  // The state of the words of one and a word behind them, or LM_NO_STATE.
  KERNEL_FN std::uint32_t child(std::uint32_t state, std::uint32_t word) const {
    for (LmRange among = children(state); among.begin < among.end;) {
      const std::uint64_t middle = middle_of(among);
      const std::uint32_t there = word_of(middle);
      if (there == word) return state_of_row(middle);
      (there < word ? among.begin : among.end) = there < word ? middle + 1 : middle;
    }
    return LM_NO_STATE;
  }

  KERNEL_FN std::uint32_t word_of(std::uint64_t row) const {
    const std::uint8_t* at = bytes_of(row);
    return at[0] | at[1] << 8 | at[2] << 16;
  }

  KERNEL_FN std::uint32_t cost_of(std::uint64_t row) const {
    const std::uint8_t* at = bytes_of(row);
    return at[3] | at[4] << 8;
  }

  // How many rows behind it are of one state.
  KERNEL_FN std::uint64_t tally_of(std::uint64_t row) const {
    return word_of(row) | std::uint64_t{cost_of(row)} << 24;
  }

  // LM_NO_STATE where a row is none.
  KERNEL_FN std::uint32_t state_of_row(std::uint64_t row) const {
    if (row >= view_.num_inner) return LM_NO_STATE;
    const std::uint64_t line = row / LM_ROWS_TOGETHER;
    return state_at(states_before(line), view_.rows[line].ranked, row % LM_ROWS_TOGETHER);
  }

  KERNEL_FN std::uint32_t state_of_word(std::uint32_t word) const {
    const LmWordLine& line = view_.words[word / LM_WORDS_TOGETHER];
    return state_at(line.before, line.bits, word % LM_WORDS_TOGETHER);
  }

  // The first states of two words and of three, or of no words that there are: states are in the
  // order of their lengths.
  KERNEL_FN std::uint32_t first_pair() const {
    if (view_.num_words == 0) return view_.num_states;
    const LmWordLine& last = view_.words[(view_.num_words - 1) / LM_WORDS_TOGETHER];
    return last.before + count_bits(last.bits);
  }
  KERNEL_FN std::uint32_t first_triple() const {
    const std::uint32_t pair = first_pair();
    if (pair >= view_.num_states) return view_.num_states;
    const std::uint64_t row = children(pair).begin;
    if (row >= view_.num_inner) return view_.num_states;
    return rank_of(row);
  }

 private:
  KERNEL_FN void fetch(const LmQuery& query) const {
    if (query.state != LM_ROOT) {
      prefetch(&line_of(query.state));
    } else if (query.word < view_.num_words) {
      prefetch(&view_.words[query.word / LM_WORDS_TOGETHER]);
    }
  }

  KERNEL_FN bool enter(LmQuery& query) const {
    if (!(line_of(query.state).masks[query.state % LM_STATES_TOGETHER] & lm_mask(query.word))) {
      return leave(query);
    }
    query.at_children = true;
    query.among = children(query.state);
    return narrow(query);
  }

  // By bisection.
  KERNEL_FN bool search(LmQuery& query) const {
    const std::uint64_t middle = middle_of(query.among);
    const std::uint32_t there = word_of(middle);
    if (there == query.word) return take(query, middle);
    if (there < query.word) {
      query.among.begin = middle + 1;
    } else {
      query.among.end = middle;
    }
    return narrow(query);
  }

  KERNEL_FN bool narrow(LmQuery& query) const {
    if (query.among.begin >= query.among.end) return leave(query);
    prefetch(bytes_of(middle_of(query.among)));
    return true;
  }

  KERNEL_FN bool take(LmQuery& query, std::uint64_t row) const {
    const std::uint32_t cost = cost_of(row);
    if (!query.priced && cost != LM_NO_COST) {
      query.found.cost += static_cast<std::int32_t>(cost);
      query.priced = true;
    }
    if (query.found.state == LM_NO_STATE) query.found.state = state_of_row(row);
    return !(query.priced && query.found.state != LM_NO_STATE) && leave(query);
  }

  KERNEL_FN bool leave(LmQuery& query) const {
    if (!query.priced) {
      query.found.cost += line_of(query.state).back_offs[query.state % LM_STATES_TOGETHER];
    }
    query.state = suffix_of(query.state);
    query.at_children = false;
    --query.left;
    fetch(query);
    return true;
  }

  KERNEL_FN static std::uint64_t middle_of(const LmRange& among) {
    return among.begin + (among.end - among.begin) / 2;
  }

  KERNEL_FN const LmStateLine& line_of(std::uint32_t state) const {
    return view_.states[state / LM_STATES_TOGETHER];
  }

  KERNEL_FN std::uint32_t suffix_of(std::uint32_t state) const {
    const std::uint32_t suffix = line_of(state).suffixes[state % LM_STATES_TOGETHER];
    return suffix < state ? suffix : LM_ROOT;
  }

  KERNEL_FN const std::uint8_t* bytes_of(std::uint64_t row) const {
    return view_.rows[row / LM_ROWS_TOGETHER].rows[row % LM_ROWS_TOGETHER];
  }

  KERNEL_FN std::uint64_t at_most(std::uint64_t row) const {
    return row < view_.num_rows ? row : view_.num_rows;
  }

  // The state of the first of a line's rows that is one.
  KERNEL_FN std::uint32_t states_before(std::uint64_t line) const {
    return view_.state_bases[line >> LM_BASE_SHIFT] + (view_.rows[line].ranked >> LM_ROWS_TOGETHER);
  }

  // The first state that is a row's, or that of one behind it.
  KERNEL_FN std::uint32_t rank_of(std::uint64_t row) const {
    const std::uint64_t line = row / LM_ROWS_TOGETHER;
    const std::uint32_t places = (1u << row % LM_ROWS_TOGETHER) - 1;
    return states_before(line) + count_bits(view_.rows[line].ranked & places);
  }

  KERNEL_FN std::uint32_t state_at(std::uint32_t before, std::uint32_t bits,
                                   std::uint32_t place) const {
    if (!(bits >> place & 1)) return LM_NO_STATE;
    const std::uint32_t state = before + count_bits(bits & ((1u << place) - 1));
    return state < view_.num_states ? state : LM_NO_STATE;
  }

  // At the end of all back-offs.
  KERNEL_FN LmFound alone(LmFound found, bool priced, std::uint32_t word) const {
    if (word >= view_.num_words) return LmFound{found.cost + view_.unknown_cost, LM_ROOT};
    if (!priced) {
      found.cost += view_.words[word / LM_WORDS_TOGETHER].costs[word % LM_WORDS_TOGETHER];
    }
    if (found.state == LM_NO_STATE) found.state = state_of_word(word);
    if (found.state == LM_NO_STATE) found.state = LM_ROOT;
    return found;
  }

  LmView view_;
};

}  // namespace earshot::EARSHOT_BACKEND
