// What a slot keeps between chunks, and the key by which tokens are told apart.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "block/scratch.h"
#include "pricing/lm_prices.h"
#include "wfst/fixed_cost.h"
#include "wfst/wfst_search.h"

namespace earshot::EARSHOT_BACKEND {

// Node, last label, context: in this order places compare as the oracle's do. The context is the
// boost automaton's state.
using Place = std::uint64_t;

inline constexpr int LABEL_BITS = 14;
inline constexpr int CONTEXT_BITS = 24;

KERNEL_FN Place make_place(int node, int label, int context) {
  return (static_cast<Place>(node) << (LABEL_BITS + CONTEXT_BITS)) |
         (static_cast<Place>(label) << CONTEXT_BITS) | static_cast<Place>(context);
}
KERNEL_FN int node_of_place(Place place) {
  return static_cast<int>(place >> (LABEL_BITS + CONTEXT_BITS));
}
KERNEL_FN int context_of_place(Place place) {
  return static_cast<int>(place & ((1 << CONTEXT_BITS) - 1));
}

// Where slots may have language models, a key has a token's last words beside its place. Elsewhere
// it is the place alone: these sources are compiled for both.
#ifdef EARSHOT_LM
struct Key {
  Place place;
  LmWords words;

  KERNEL_FN bool operator==(const Key& other) const {
    return place == other.place && words == other.words;
  }
  KERNEL_FN bool operator<(const Key& other) const {
    return place != other.place ? place < other.place : words < other.words;
  }
  KERNEL_FN bool operator<=(const Key& other) const { return !(other < *this); }
};

KERNEL_FN Key make_key(Place place, LmWords words) {
  return Key{place, words};
}
KERNEL_FN Place place_of(const Key& key) {
  return key.place;
}
KERNEL_FN LmWords words_of(const Key& key) {
  return key.words;
}
#else
using Key = Place;

KERNEL_FN Key make_key(Place place, LmWords) {
  return place;
}
KERNEL_FN Place place_of(Key key) {
  return key;
}
KERNEL_FN LmWords words_of(Key) {
  return 0;
}
#endif

// No key is higher.
KERNEL_FN Key highest_key() {
  return make_key(~Place{0}, ~LmWords{0});
}
KERNEL_FN Key make_key(int node, int label, int context, LmWords words) {
  return make_key(make_place(node, label, context), words);
}
KERNEL_FN int node_of(const Key& key) {
  return node_of_place(place_of(key));
}
KERNEL_FN int label_of(const Key& key) {
  return static_cast<int>(place_of(key) >> CONTEXT_BITS) & ((1 << LABEL_BITS) - 1);
}
KERNEL_FN int context_of(const Key& key) {
  return context_of_place(place_of(key));
}

// Options that epsilon arcs were followed with.
struct ClosureOptions {
  double graph_scale;
  std::int64_t lattice_beam;
};

inline constexpr int OPEN = INT32_MAX;  // a closure bound: epsilon arcs are still to be followed
inline constexpr int NO_EPSILONS = INT32_MIN;  // there are none

struct WfstSlot {
  Place* places;
  Cost* costs;
  int* histories;       // backpointers
  int* kinds;           // of the node, as in WfstArc
  int* closure_bounds;  // what the dearest epsilon arc costs, where all lead to tokens; OPEN or
                        // NO_EPSILONS
  WfstBackpointer* backpointers;
  int* free_backpointers;  // a stack
  int* num_free;
  int* num_tokens;
  std::int64_t* num_frames;
  std::int64_t* overflows;  // frames in which something did not fit
  std::int64_t* dead_ends;  // frames left out, as nothing survived them
  ClosureOptions* closure;  // for which the closure bounds hold
  LmWords* words;           // of the tokens' keys
  int* has_words;           // whether they are known: since the last chunk there have been models
  std::size_t bytes;

  KERNEL_HOST_FN WfstSlot(Carver state, const WfstShape& shape)
      : places(state.take<Place>(shape.max_tokens)),
        costs(state.take<Cost>(shape.max_tokens)),
        histories(state.take<int>(shape.max_tokens)),
        kinds(state.take<int>(shape.max_tokens)),
        closure_bounds(state.take<int>(shape.max_tokens)),
        backpointers(state.take<WfstBackpointer>(shape.backpointer_capacity)),
        free_backpointers(state.take<int>(shape.backpointer_capacity)),
        num_free(state.take<int>(1)),
        num_tokens(state.take<int>(1)),
        num_frames(state.take<std::int64_t>(1)),
        overflows(state.take<std::int64_t>(1)),
        dead_ends(state.take<std::int64_t>(1)),
        closure(state.take<ClosureOptions>(1)),
        words(state.take<LmWords>(shape.max_tokens)),
        has_words(state.take<int>(1)),
        bytes(state.used()) {}
};

// What WfstNode and WfstArc say of a node's epsilon arcs: bit 0 whether there are some, 8 bits for
// its level, bit WORDS_SHIFT whether there are words on them, and above these what they can gain,
// in steps of GAIN_STEP nats.
inline constexpr int WORDS_SHIFT = 9;
inline constexpr int GAIN_SHIFT = 10;
inline constexpr int MAX_GAIN_STEPS = (1 << 21) - 1;  // and more
inline constexpr double GAIN_STEP = 1.0 / 16;

// What is beside a label in WfstArcs, in steps of EXCESS_STEP nats, rounded down.
inline constexpr double EXCESS_STEP = 1.0 / 512;

KERNEL_FN int label_in(std::uint32_t packed) {
  return static_cast<int>(packed & ((1 << LABEL_BITS) - 1));
}
// How many words there are at most on the arc and on epsilon arcs behind it; MANY_WORDS and more.
inline constexpr int MANY_WORDS = 3;
KERNEL_FN int words_in(std::uint32_t packed) {
  return static_cast<int>(packed >> LABEL_BITS & MANY_WORDS);
}
KERNEL_FN int excess_in(std::uint32_t packed) {
  return static_cast<int>(packed >> 16);
}

KERNEL_FN bool has_epsilons(int kind) {
  return (kind & 1) != 0;
}
KERNEL_FN int fresh_closure_bound(int kind) {
  return has_epsilons(kind) ? OPEN : NO_EPSILONS;
}
KERNEL_FN bool has_epsilon_words(int kind) {
  return (kind >> WORDS_SHIFT & 1) != 0;
}
KERNEL_FN int level_of(int kind) {
  return (kind >> 1) & 255;
}
KERNEL_FN int gain_of(int kind) {
  return kind >> GAIN_SHIFT;
}

// The last words of a slot's token, which its search has models for: nothing is said yet, or the
// words before there were models are not known.
KERNEL_FN LmWords words_in_slot(const WfstSlot& slot, const WfstOptionRow& options, int token) {
  if (*slot.num_frames == 0) return static_cast<LmWords>(options.lm_beginning);
  return *slot.has_words != 0 ? slot.words[token] : 0;
}

KERNEL_FN WfstSlot wfst_slot(const WfstState& state, std::int64_t slot) {
  return WfstSlot(Carver(state.memory + slot * state.slot_bytes), state.shape);
}

}  // namespace earshot::EARSHOT_BACKEND
