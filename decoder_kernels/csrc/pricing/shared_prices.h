// What all blocks of a device keep of their lookups, in one direct-mapped cache (Fukunaga 2019,
// section 3.4, keeps arcs in such a one): whoever misses fills in, and nobody waits for anybody.
//
// An entry is some words of 64 bits, the last of them a check of the others and of the row's id.
// Two threads that write one entry at a time leave words of both, whose check is wrong but once in
// 2^64 times: that is a miss, as is whatever else lies there.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "pricing/lm_row.h"
#include "pricing/lm_words.h"

namespace earshot::EARSHOT_BACKEND {

class SharedPrices {
 public:
  using Word = LmMemo::Word;
  using States = LmMemo::States;

  KERNEL_FN SharedPrices() : cache_{nullptr, 0, 0} {}
  KERNEL_FN SharedPrices(const LmKeeping& all, int) : cache_(all.cache) {}

  KERNEL_FN bool empty() const { return cache_.words == 0; }

  // Whether what is kept is that price; it is then written there.
  KERNEL_FN bool find(Word& asked) const {
    std::uint64_t kept[LM_PRICE_WORDS];
    if (empty() || !read<LM_PRICE_WORDS>(price_at(asked), kept)) return false;
    const std::uint64_t length = kept[1] ^ packed(asked.row, asked.word << LENGTH_BITS);
    if (kept[0] != asked.before || length > LM_STATE_WORDS) return false;
    asked.after = lm_suffix(asked.before << LM_WORD_BITS | asked.word, static_cast<int>(length));
    asked.cost = static_cast<std::int64_t>(kept[2]);
    return true;
  }
  KERNEL_FN bool is_kept(const Word& asked) const {
    Word found = asked;
    return find(found);
  }
  KERNEL_FN void keep(const Word& found) const {
    if (empty()) return;
    const auto length = static_cast<std::uint32_t>(lm_length(found.after));
    const std::uint64_t own[LM_PRICE_WORDS] = {
        found.before, packed(found.row, found.word << LENGTH_BITS | length),
        static_cast<std::uint64_t>(found.cost)};
    write<LM_PRICE_WORDS>(price_at(found), own);
  }

  // The same of the states after some words.
  KERNEL_FN bool find(States& asked) const {
    std::uint64_t kept[LM_STATES_WORDS];
    if (empty() || !read<LM_STATES_WORDS>(states_at(asked), kept)) return false;
    if (kept[0] != asked.words || kept[1] >> 32 != asked.row) return false;
    asked.small = low(kept[1]);
    for (int i = 0; i < LM_MOST_PARTS; i += 2) {
      asked.large[i] = low(kept[2 + i / 2]);
      asked.large[i + 1] = low(kept[2 + i / 2] >> 32);
    }
    asked.cut = kept[LM_STATES_WORDS - 2];
    return true;
  }
  KERNEL_FN void keep(const States& found) const {
    if (empty()) return;
    std::uint64_t own[LM_STATES_WORDS];
    own[0] = found.words;
    own[1] = packed(found.row, found.small);
    for (int i = 0; i < LM_MOST_PARTS; i += 2) {
      own[2 + i / 2] = packed(found.large[i + 1], found.large[i]);
    }
    own[LM_STATES_WORDS - 2] = found.cut;
    write<LM_STATES_WORDS>(states_at(found), own);
  }

  // Nothing is asked for beforehand: others work while one waits.
  KERNEL_FN void fetch(const Word&) const {}

 private:
  static constexpr int LENGTH_BITS = 2;  // beside a word, of the state behind it

  static KERNEL_FN std::uint64_t packed(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }
  static KERNEL_FN std::uint32_t low(std::uint64_t both) {
    return static_cast<std::uint32_t>(both);
  }

  KERNEL_FN std::uint64_t* price_at(const Word& asked) const {
    const std::uint64_t key = mixed(mixed(asked.before, asked.word), asked.row);
    return cache_.memory + place_of(key, cache_.words) * LM_PRICE_WORDS;
  }
  KERNEL_FN std::uint64_t* states_at(const States& asked) const {
    const std::uint64_t first = std::uint64_t{cache_.words} * LM_PRICE_WORDS;
    const std::uint64_t place = place_of(mixed(asked.words, asked.row), cache_.states);
    return cache_.memory + first + place * LM_STATES_WORDS;
  }

  static KERNEL_FN std::uint64_t place_of(std::uint64_t key, std::uint32_t size) {
    return (key >> 32) * size >> 32;
  }

  template <int WORDS>
  static KERNEL_FN bool read(const std::uint64_t* entry, std::uint64_t* own) {
    for (int i = 0; i < WORDS; ++i) own[i] = load_relaxed(entry + i);
    return own[WORDS - 1] == check_of<WORDS>(own);
  }
  template <int WORDS>
  static KERNEL_FN void write(std::uint64_t* entry, const std::uint64_t* own) {
    for (int i = 0; i + 1 < WORDS; ++i) store_relaxed(entry + i, own[i]);
    store_relaxed(entry + WORDS - 1, check_of<WORDS>(own));
  }

  // Each word changes all bits of it; of zeros it is not zero.
  template <int WORDS>
  static KERNEL_FN std::uint64_t check_of(const std::uint64_t* own) {
    std::uint64_t check = 0x9E3779B97F4A7C15ULL;
    for (int i = 0; i + 1 < WORDS; ++i) check = mixed(check, own[i]);
    return check;
  }

  // The finalizer of splitmix64 (Steele 2014).
  static KERNEL_FN std::uint64_t mixed(std::uint64_t before, std::uint64_t word) {
    std::uint64_t bits = before ^ word * 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
    return bits ^ bits >> 31;
  }

  LmCache cache_;
};

}  // namespace earshot::EARSHOT_BACKEND
