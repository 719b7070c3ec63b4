// The language models that a slot's search adds to its graph, as the host passes them to kernels.
#pragma once

#include <cstdint>

#include "lm/lm_layout.h"

namespace earshot {

inline constexpr int LM_MOST_PARTS = 4;

// A model, and its numbers of the graph's words. A number beyond its words is no word.
struct LmPart {
  LmView view;
  const std::uint32_t* numbers;  // by the graph's word ids
  std::uint32_t start;           // of a sentence
  std::uint32_t end;
  double log_share;  // of each word's probability
};

struct LmRow {
  std::int32_t num_large;  // 0: the slot has no models
  std::int32_t num_words;  // of the graph; higher ids are unknown words
  double scale;
  std::int64_t gain;          // the most that a word gains in the search
  std::int64_t history_beam;  // how much dearer than the cheapest a token at its place may be
  LmPart small;               // what the graph's arcs have paid
  LmPart large[LM_MOST_PARTS];
};

}  // namespace earshot
