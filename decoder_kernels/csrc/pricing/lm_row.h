// The language models that a slot's search adds to its graph, as the host passes them to kernels.
#pragma once

#include <cstdint>

#include "lm/lm_layout.h"

namespace earshot {

inline constexpr int LM_MOST_PARTS = 4;
inline constexpr int LM_MOST_CLASSES = 16;

// A word beyond the graph's. One that is a member of a class is that to all models.
struct LmMember {
  std::int64_t word_class;  // by the row's classes; below 0: none
  std::int64_t cost;        // beside what models say, in the search's unit
};

// A model, and its numbers of the graph's words. A number beyond its words is no word.
struct LmPart {
  LmView view;
  const std::uint32_t* numbers;  // by the graph's word ids
  std::uint32_t start;           // of a sentence
  std::uint32_t end;
  std::uint32_t pairs;    // the first state of two words
  std::uint32_t triples;  // and of three
  // Numbers of the row's classes, LM_NO_WORD where it lacks one.
  std::uint32_t classes[LM_MOST_CLASSES];
  double log_share;  // of each word's probability
};

struct LmRow {
  std::uint32_t id;        // no other row's
  std::int32_t num_large;  // 0: the slot has no models
  std::int32_t num_words;  // of the graph; classes go on where they end
  std::int32_t num_classes;
  std::int32_t num_members;  // higher ids than theirs are unknown words
  const LmMember* members;   // words beyond the graph's
  double scale;
  std::int64_t gain;          // the most that a word gains in the search
  std::int64_t history_beam;  // how much dearer than the cheapest a token at its place may be
  LmPart small;               // what the graph's arcs have paid
  LmPart large[LM_MOST_PARTS];
};

inline constexpr int LM_WORDS_KEPT = 1 << 13;
inline constexpr int LM_STATES_KEPT = 1 << 12;

// What a worker of a CPU has found last: a cache of each row's own. What it lacks is looked up.
struct LmMemo {
  struct Word {
    std::uint64_t before;
    std::uint64_t after;
    std::int64_t cost;
    std::uint32_t word;
    std::uint32_t row;  // an id; 0 is none's
  };
  struct States {
    std::uint64_t words;
    std::uint64_t cut;
    std::uint32_t row;
    std::uint32_t small;
    std::uint32_t large[LM_MOST_PARTS];
  };

  Word words[LM_WORDS_KEPT];
  States states[LM_STATES_KEPT];
};

// The same for all blocks of a device: entries of words of 64 bits (shared_prices.h).
inline constexpr int LM_PRICE_WORDS = 4;
inline constexpr int LM_STATES_WORDS = 6;
struct LmCache {
  std::uint64_t* memory;
  std::uint32_t words;   // entries for prices
  std::uint32_t states;  // entries behind them, for states
};

// Where searches keep what they have found: a memo for each worker, or a cache for all.
struct LmKeeping {
  LmMemo* memos;
  LmCache cache;
};

}  // namespace earshot
