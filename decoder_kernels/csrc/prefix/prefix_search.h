// CTC prefix beam search over many slots: what the host passes to the kernels, for either target.
// All memory is the caller's; all pointers are to memory of the target's device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block/chunk.h"
#include "block/input_status.h"
#include "block/launch.h"
#include "boost/boost_arena.h"

namespace earshot {

struct SearchShape {
  int beam_size;   // hypotheses kept after each frame
  int token_beam;  // tokens tried per frame
  int blank_id;
  int vocab_size;
  int node_capacity;      // per slot, of prefix nodes and of time nodes
  bool boost_candidates;  // whether boosted tokens are tried beyond token_beam
};

struct SearchState {
  SearchShape shape;
  std::byte* memory;  // num_slots * slot_bytes
  std::int64_t slot_bytes;
  BoostArena boosts;
  const std::int64_t* boost_rows;  // per slot: first row of its table, -1 for none
};

using ResetParams = SlotParams<SearchState>;
using AdvanceParams = ChunkParams<SearchState>;

struct SummaryParams {
  SearchState state;
  const std::int64_t* slots;  // (B,)
  std::int64_t* summary;      // (B, 4) out: hypotheses, frames, tokens of the longest, overflows
};

struct ResultParams {
  SearchState state;
  const std::int64_t* slots;  // (B,)
  int num_results;            // N
  int max_tokens;             // L
  bool finalize;              // give the bonus of unfinished phrases back and sort again
  std::int32_t* tokens;       // (B, N, L) out
  std::int32_t* frames;       // (B, N, L) out: emission frame of each token since the reset
  float* log_probs;           // (B, N, L) out: log-probability at the emission frame
  std::int32_t* lengths;      // (B, N) out: tokens, -1 where there is no such hypothesis
  double* scores;             // (B, N, 2) out: CTC score, boost score
  std::int32_t* stable;       // (B,) out: tokens that all hypotheses begin with
};

#define EARSHOT_DECLARE_PREFIX_SEARCH                        \
  std::size_t slot_bytes(const SearchShape& shape);          \
  std::size_t scratch_bytes(const SearchShape& shape);       \
  void reset(Launch how, const ResetParams& params);         \
  void forget_boosts(Launch how, const ResetParams& params); \
  void advance(Launch how, const AdvanceParams& params);     \
  void summarize(Launch how, const SummaryParams& params);   \
  void read_results(Launch how, const ResultParams& params);

namespace cpu {
EARSHOT_DECLARE_PREFIX_SEARCH
}
namespace cpu_teams {
EARSHOT_DECLARE_PREFIX_SEARCH
}
namespace cuda {
EARSHOT_DECLARE_PREFIX_SEARCH
}

}  // namespace earshot
