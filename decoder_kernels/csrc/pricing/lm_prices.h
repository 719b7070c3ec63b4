// What words cost that large models say less what the graph's small one has said of them. The rules
// are search_lm_oracle.py's (tests). A state is the last words that some model can tell from
// others, LM_STATE_WORDS at most.
#pragma once

#include <cstdint>
#include <type_traits>

#include "block/block.h"
#include "lm/lm_lookup.h"
#include "prefix/log_add.h"
#include "pricing/lm_row.h"
#include "pricing/lm_words.h"
#include "pricing/own_prices.h"
#include "pricing/shared_prices.h"
#include "wfst/fixed_cost.h"

namespace earshot::EARSHOT_BACKEND {

// What lookups find is kept by a worker for itself, or by all threads for each other.
using LmKept = std::conditional_t<HAS_OWN_WORKER || !HAS_LM, OwnPrices, SharedPrices>;

class LmPrices {
 public:
  // Whether whoever has many words to look up says so first: elsewhere other warps work meanwhile.
  static constexpr bool FINDS_TOGETHER = HAS_OWN_WORKER;

  struct Word {
    Cost cost;
    LmWords after;
  };

  explicit KERNEL_FN LmPrices(const LmRow* row, LmKept kept = LmKept()) : row_(row), kept_(kept) {}

  KERNEL_FN bool empty() const { return row_ == nullptr || row_->num_large == 0; }
  KERNEL_FN Cost gain() const { return empty() ? 0 : row_->gain; }
  KERNEL_FN Cost history_beam() const { return row_->history_beam; }

  // What a word costs in full, and the state after it.
  KERNEL_FN Word price(LmWords words, int word) const {
    Word priced = price_of(words, own_number(word));
    if (is_member(word)) priced.cost += row_->members[word - row_->num_words].cost;
    return priced;
  }

  // Asks memory for what is kept of a price.
  KERNEL_FN void fetch(LmWords words, int word) const {
    if (!FINDS_TOGETHER || kept_.empty()) return;
    kept_.fetch(asked_for(words, own_number(word)));
    if (word >= row_->num_words) return;
    prefetch(&row_->small.numbers[word]);
    for (int i = 0; i < row_->num_large; ++i) prefetch(&row_->large[i].numbers[word]);
  }

  // A word whose price will be asked for.
  struct Asked {
    LmWords words;
    int word;
  };

  // Finds the prices that are not kept, all together: each waits for memory often.
  KERNEL_FN void find(const Asked* asked, int count) const {
    if (!FINDS_TOGETHER || kept_.empty()) return;
    Sought sought[FETCHED_TOGETHER];
    int missing = 0;
    for (int i = 0; i < count; ++i) {
      const LmWords own = own_number(asked[i].word);
      if (!kept_.is_kept(asked_for(asked[i].words, own))) {
        sought[missing++] = Sought{asked[i].words, own, {}};
      }
    }
    if (missing > 0) find_sought(sought, missing);
  }

  // The same as a search pays it.
  KERNEL_FN Word limited_price(LmWords words, int word) const {
    Word priced = price(words, word);
    if (priced.cost < -row_->gain) priced.cost = -row_->gain;
    return priced;
  }

  KERNEL_FN Cost end_price(LmWords words) const { return price_of(words, LM_END).cost; }

  // The longest end of a state that is a context of some model.
  KERNEL_FN LmWords cut(LmWords words) const { return states_of(words).cut; }

  // The same of another row's state, whose classes are unknown words here.
  KERNEL_FN LmWords cut_anew(LmWords words) const {
    LmWords known = 0;
    for (int place = LM_STATE_WORDS - 1; place >= 0; --place) {
      const LmWords word = lm_word(words, place);
      const bool is_class = word >= static_cast<LmWords>(row_->num_words) && word < LM_UNKNOWN;
      known = known << LM_WORD_BITS | (is_class ? LM_UNKNOWN : word);
    }
    return cut(known);
  }

 private:
  struct State {
    int length;
    std::uint32_t state;
  };
  // A word behind others, and what each model says of it, the small one first.
  struct Sought {
    LmWords words;
    LmWords own;
    LmFound found[1 + LM_MOST_PARTS];
  };
  struct Flight {
    LmQuery query;
    int sought;
    int part;
  };

  KERNEL_FN bool is_member(int word) const {
    return word >= row_->num_words && word - row_->num_words < row_->num_members;
  }

  KERNEL_FN LmWords own_number(int word) const {
    if (word < row_->num_words) return static_cast<LmWords>(word);
    if (!is_member(word)) return LM_UNKNOWN;
    const std::int64_t own = row_->members[word - row_->num_words].word_class;
    return own < 0 ? LM_UNKNOWN : static_cast<LmWords>(row_->num_words + own);
  }

  KERNEL_FN bool is_class(LmWords word) const {
    const auto first = static_cast<LmWords>(row_->num_words);
    return word >= first && word < first + static_cast<LmWords>(row_->num_classes);
  }

  // Whether it is a class that this model lacks, and so says nothing of.
  KERNEL_FN bool lacks(const LmPart& part, LmWords word) const {
    return is_class(word) &&
           part.classes[word - static_cast<LmWords>(row_->num_words)] == LM_NO_WORD;
  }

  KERNEL_FN LmMemo::Word asked_for(LmWords words, LmWords own) const {
    return LmMemo::Word{words, 0, 0, static_cast<std::uint32_t>(own), row_->id};
  }

  KERNEL_FN Word price_of(LmWords words, LmWords own) const {
    LmMemo::Word kept = asked_for(words, own);
    return kept_.find(kept) ? Word{kept.cost, kept.after} : found(words, own);
  }

  KERNEL_FN const LmPart& part_of(int part) const {
    return part == 0 ? row_->small : row_->large[part - 1];
  }

  // Steps of all lookups in turn.
  KERNEL_CALL void find_sought(Sought* sought, int count) const {
    Flight flights[FETCHED_TOGETHER * (1 + LM_MOST_PARTS)];
    int flying = 0;
    for (int i = 0; i < count; ++i) {
      const LmMemo::States before = states_of(sought[i].words);
      for (int part = 0; part <= row_->num_large; ++part) {
        const std::uint32_t state = part == 0 ? before.small : before.large[part - 1];
        const LmPart& own = part_of(part);
        flights[flying++] =
            Flight{LmLookup(own.view).begin(state, number_of(own, sought[i].own)), i, part};
      }
    }
    while (flying > 0) {
      for (int i = flying - 1; i >= 0; --i) {
        Flight& flight = flights[i];
        if (LmLookup(part_of(flight.part).view).step(flight.query)) continue;
        sought[flight.sought].found[flight.part] = flight.query.found;
        flight = flights[--flying];
      }
    }
    for (int i = 0; i < count; ++i) keep(sought[i]);
  }

  KERNEL_CALL Word found(LmWords words, LmWords own) const { return keep(looked_up(words, own)); }

  KERNEL_FN Sought looked_up(LmWords words, LmWords own) const {
    const LmMemo::States before = states_of(words);
    Sought sought{words, own, {look_up(row_->small, before.small, own)}};
    for (int i = 0; i < row_->num_large; ++i) {
      sought.found[1 + i] = look_up(row_->large[i], before.large[i], own);
    }
    return sought;
  }

  // A word's price, and how all models go on: their states behind it were found on the way.
  KERNEL_FN Word keep(const Sought& sought) const {
    LmMemo::States after{0, 0, row_->id, sought.found[0].state, {}};
    int longest = longer(0, row_->small, after.small);
    for (int i = 0; i < row_->num_large; ++i) {
      after.large[i] = sought.found[1 + i].state;
      longest = longer(longest, row_->large[i], after.large[i]);
    }
    after.words = after.cut = lm_suffix(sought.words << LM_WORD_BITS | sought.own, longest);
    const Word priced{cost_of(sought), after.cut};
    // Behind a sentence's end nothing is asked; its states would be taken for those of no words.
    if (sought.own != LM_END) kept_.keep(after);
    kept_.keep(LmMemo::Word{sought.words, priced.after, priced.cost,
                            static_cast<std::uint32_t>(sought.own), row_->id});
    return priced;
  }

  // The cost of L less that of S, each a whole number.
  KERNEL_FN Cost cost_of(const Sought& sought) const {
    double log_prob = MINUS_INFINITY;
    for (int i = 0; i < row_->num_large; ++i) {
      if (lacks(row_->large[i], sought.own)) continue;
      log_prob = log_add(log_prob, row_->large[i].log_share - nats(sought.found[1 + i]));
    }
    const double small = nats(sought.found[0]);
    return fixed_cost(-log_prob * row_->scale) - fixed_cost(small * row_->scale);
  }

  KERNEL_FN LmFound look_up(const LmPart& part, std::uint32_t state, LmWords word) const {
    return LmLookup(part.view).find(state, number_of(part, word));
  }

  static KERNEL_FN double nats(const LmFound& found) {
    return found.cost / static_cast<double>(LM_COST_STEPS);
  }

  // How many words the states of a model stand for, if more than so many.
  static KERNEL_FN int longer(int length, const LmPart& part, std::uint32_t state) {
    const int own = state == LM_ROOT ? 0 : 1 + (state >= part.pairs) + (state >= part.triples);
    return own > length ? own : length;
  }

  // The models' states after some words, and how many of these they can tell from others.
  KERNEL_FN LmMemo::States states_of(LmWords words) const {
    LmMemo::States found{words, 0, row_->id, 0, {}};
    if (kept_.find(found)) return found;
    found = found_states(words);
    kept_.keep(found);
    if (found.cut == words) return found;
    LmMemo::States cut = found;
    cut.words = cut.cut;  // whose states are the same: they are asked for next
    kept_.keep(cut);
    return found;
  }

  KERNEL_FN LmMemo::States found_states(LmWords words) const {
    LmMemo::States found{words, 0, row_->id, 0, {}};
    const State small = state_of(row_->small, words);
    found.small = small.state;
    int longest = small.length;
    for (int i = 0; i < row_->num_large; ++i) {
      const State large = state_of(row_->large[i], words);
      found.large[i] = large.state;
      longest = large.length > longest ? large.length : longest;
    }
    found.cut = lm_suffix(words, longest);
    return found;
  }

  // The model's state for the longest end of these words that it has one for.
  KERNEL_FN State state_of(const LmPart& part, LmWords words) const {
    int length = lm_length(words);
    if (length >= part.view.order) length = part.view.order - 1;
    for (; length > 0; --length) {
      const std::uint32_t state = state_of_all(part, words, length);
      if (state != LM_NO_STATE) return State{length, state};
    }
    return State{0, LM_ROOT};
  }

  // The state of just so many words, or LM_NO_STATE.
  KERNEL_FN std::uint32_t state_of_all(const LmPart& part, LmWords words, int length) const {
    const LmLookup lookup(part.view);
    const std::uint32_t oldest = number_of(part, lm_word(words, length - 1));
    if (oldest >= part.view.num_words) return LM_NO_STATE;
    std::uint32_t state = lookup.state_of_word(oldest);
    for (int place = length - 2; place >= 0 && state != LM_NO_STATE; --place) {
      state = lookup.child(state, number_of(part, lm_word(words, place)));
    }
    return state;
  }

  KERNEL_FN std::uint32_t number_of(const LmPart& part, LmWords word) const {
    if (word == LM_START) return part.start;
    std::uint32_t number = LM_NO_WORD;
    if (word == LM_END) {
      number = part.end;
    } else if (word < static_cast<LmWords>(row_->num_words)) {
      number = part.numbers[word];
    } else if (is_class(word)) {
      number = part.classes[word - static_cast<LmWords>(row_->num_words)];
    }
    return number < part.view.num_words ? number : part.view.unknown;
  }

  const LmRow* row_;
  LmKept kept_;
};

}  // namespace earshot::EARSHOT_BACKEND
