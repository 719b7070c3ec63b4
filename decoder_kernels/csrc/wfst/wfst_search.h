// WFST search over many slots: what the host passes to the kernels, for either target. All memory
// is the caller's; all pointers are to memory of the target's device. Costs are fixed_cost.h's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block/chunk.h"
#include "block/input_status.h"
#include "block/launch.h"
#include "boost/boost_arena.h"
#include "pricing/lm_row.h"

namespace earshot {

// COMPACT and NORMAL graphs are LG, with the CTC topology in the decoder; EXPLICIT ones are TLG.
enum WfstTopology : std::int32_t { WFST_COMPACT = 0, WFST_NORMAL = 1, WFST_EXPLICIT = 2 };

struct WfstShape {
  int topology;
  int num_nodes;
  int start;
  int loop_node;  // where dynamic OOV words enter, or -1
  int vocab_size;
  int blank_id;
  int num_levels;            // of epsilon paths, one more than arcs on the longest
  int max_tokens;            // that survive a frame
  int backpointer_capacity;  // per slot
  int entry_capacity;        // keys reached in one frame, per workspace
  int candidate_capacity;    // for these keys
};

struct WfstNode {
  std::int32_t first_arc;    // with epsilon
  std::int32_t first_label;  // the first without
  float min_weight;          // of the arcs without epsilon and what then can be gained
  std::int32_t kind;         // see wfst_state.h
  std::uint64_t labels;      // label % 64 of these arcs, as bits
};

struct WfstArc {
  float weight;
  std::int32_t target;
  std::int32_t word;
  std::int32_t target_kind;
};

// One row more than nodes, for where the last one's arcs end. Labels are the arcs' own, with two
// bits for how many words may come with them, and how far their cost lies above the node's
// min_weight in the upper 16 bits (see wfst_state.h).
struct WfstArcs {
  const WfstNode* nodes;
  const std::uint32_t* labels;
  const WfstArc* arcs;
};

// Python writes them as columns of 32 bits (wfst_tables.py).
static_assert(sizeof(WfstNode) == 6 * sizeof(std::int32_t));
static_assert(sizeof(WfstArc) == 4 * sizeof(std::int32_t));

inline constexpr int NO_BACKPOINTER = -1;

// A word that left the graph, or the recombination (merge) of two histories at one key. A merge's
// second history costs `value` more than its first.
struct WfstBackpointer {
  int first;  // the backpointer before, or NO_BACKPOINTER
  int other;  // of a word its frame, of a merge the second history
  int word;   // 0 for a merge
  int depth;  // twice the number of words on the first history, plus 1 if no merge lies behind
  std::int64_t value;  // of a word the hash of the words so far, of a merge the extra cost
};
static_assert(sizeof(WfstBackpointer) == 24);

struct WfstOptionRow {
  std::int64_t beam;
  std::int64_t lattice_beam;
  std::int64_t max_active;
  std::int64_t boost_step;    // the most that one word can earn
  std::int64_t lm_beginning;  // the state of its models before the first word (lm_words.h)
};

struct WfstScaleRow {
  double acoustic;
  double graph;
  double skip_log_prob;  // frames with a more probable blank follow no other arc
};

struct WfstState {
  WfstShape shape;
  WfstArcs graph;
  double min_weight;  // the least of all nodes
  double max_weight;  // what an arc costs or gains at most
  int max_eps_words;  // on one path of epsilon arcs
  int max_arc_words;  // on an arc with a label and one path of epsilon arcs behind it
  std::byte* memory;  // num_slots * slot_bytes
  std::int64_t slot_bytes;
  std::byte* workspace;  // one per block at a time
  std::int64_t workspace_bytes;
  const WfstOptionRow* options;  // per slot
  const WfstScaleRow* scales;    // per slot
  BoostArena boosts;
  const std::int64_t* boost_rows;  // per slot: first row of its table, -1 for none
  WfstArcs oov_arcs;               // of all slots; targets from num_nodes on are the slot's own
  const std::int64_t* oov_rows;    // (num_slots, 2): first node and first arc, -1 for none
  const LmRow* lms;                // per slot
  LmKeeping lm_kept;
};

using WfstSlotParams = SlotParams<WfstState>;
using WfstAdvanceParams = ChunkParams<WfstState>;

struct WfstBestParams {
  WfstState state;
  const std::int64_t* slots;  // (B,)
  const float* finals;        // (num_nodes,)
  bool finalize;
  std::int64_t* summary;  // (B, 5) out: cost, words, stable words, reached final, backpointer
};

struct WfstWordsParams {
  WfstState state;
  const std::int64_t* slots;    // (B,)
  const std::int64_t* summary;  // (B, 5) as above
  int max_words;                // L
  std::int32_t* words;          // (B, L) out
  std::int32_t* frames;         // (B, L) out
};

struct WfstCountParams {
  WfstState state;
  const std::int64_t* slots;  // (B,)
  std::int64_t* counts;  // (B, 5) out: frames, tokens, backpointers in use, overflows, dead ends
};

// What the slots' tokens reach, side by side, for a host that cannot look into the device's memory.
struct WfstGatherParams {
  WfstState state;
  const std::int64_t* slots;      // (B,)
  const std::int64_t* firsts;     // (B, 2): row of the lane's first token and backpointer
  std::int32_t* marks;            // (B, backpointer_capacity) zeros
  std::int32_t* marked;           // rows as of backpointers, to work in
  std::uint64_t* keys;            // out, a row for each token, as costs, words and histories
  std::int64_t* costs;            // out
  std::uint64_t* words;           // out, where slots have language models
  std::int32_t* histories;        // out
  WfstBackpointer* backpointers;  // out; for each lane as many rows as are in use
  std::int64_t* reached;          // (B,) out: how many rows of backpointers are written
};

// Where the parts of a slot begin, for the host that reads its tokens and backpointers.
struct WfstLayout {
  std::int64_t keys;
  std::int64_t costs;
  std::int64_t histories;
  std::int64_t backpointers;
  std::int64_t words;
};

#define EARSHOT_DECLARE_WFST_SEARCH                                  \
  std::size_t wfst_slot_bytes(const WfstShape& shape);               \
  WfstLayout wfst_layout(const WfstState& state);                    \
  std::size_t wfst_workspace_bytes(const WfstShape& shape);          \
  void wfst_reset(Launch how, const WfstSlotParams& params);         \
  void wfst_forget_boosts(Launch how, const WfstSlotParams& params); \
  void wfst_advance(Launch how, const WfstAdvanceParams& params);    \
  void wfst_count(Launch how, const WfstCountParams& params);        \
  void wfst_best(Launch how, const WfstBestParams& params);          \
  void wfst_words(Launch how, const WfstWordsParams& params);        \
  void wfst_gather(Launch how, const WfstGatherParams& params);

namespace cpu {
EARSHOT_DECLARE_WFST_SEARCH
}
namespace cpu_teams {
EARSHOT_DECLARE_WFST_SEARCH
}
// The same for slots that have language models of their own (EARSHOT_LM, see wfst_state.h).
namespace cpu_lm {
EARSHOT_DECLARE_WFST_SEARCH
void wfst_change_lm(Launch how, const WfstSlotParams& params);
}  // namespace cpu_lm
namespace cpu_teams_lm {
EARSHOT_DECLARE_WFST_SEARCH
void wfst_change_lm(Launch how, const WfstSlotParams& params);
}  // namespace cpu_teams_lm
namespace cuda {
EARSHOT_DECLARE_WFST_SEARCH
}
namespace cuda_lm {
EARSHOT_DECLARE_WFST_SEARCH
void wfst_change_lm(Launch how, const WfstSlotParams& params);
}  // namespace cuda_lm

}  // namespace earshot
