// The state of a search with language models: a token's last words, packed, the newest lowest. It
// is the same whatever models there are and however images number theirs.
#pragma once

#include <cstdint>

#include "block/block.h"

namespace earshot::EARSHOT_BACKEND {

// Whether slots may have models of their own: sources of searches are compiled for both.
#ifdef EARSHOT_LM
inline constexpr bool HAS_LM = true;
#else
inline constexpr bool HAS_LM = false;
#endif

using LmWords = std::uint64_t;

inline constexpr int LM_WORD_BITS = 21;
inline constexpr int LM_STATE_WORDS = 3;
inline constexpr LmWords LM_START = (LmWords{1} << LM_WORD_BITS) - 1;  // of a sentence
inline constexpr LmWords LM_UNKNOWN = LM_START - 1;  // a word that is spelled, not in the graph
inline constexpr LmWords LM_END = 0;                 // of a sentence; in no state

KERNEL_FN LmWords lm_suffix(LmWords words, int length) {
  return words & ((LmWords{1} << (LM_WORD_BITS * length)) - 1);
}
KERNEL_FN LmWords lm_word(LmWords words, int place) {
  return words >> (LM_WORD_BITS * place) & LM_START;
}
KERNEL_FN int lm_length(LmWords words) {
  return (bit_width(words) + LM_WORD_BITS - 1) / LM_WORD_BITS;
}

}  // namespace earshot::EARSHOT_BACKEND
