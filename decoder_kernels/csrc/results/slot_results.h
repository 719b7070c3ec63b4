// What a slot's tokens come to as results, read on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "results/ranked_list.h"
#include "results/slot_boosts.h"
#include "results/word_lattice.h"
#include "wfst/wfst_search.h"

namespace earshot {

// A slot's tokens and backpointers in the host's memory, and how its results are to be read.
struct SlotRecords {
  const std::uint64_t* keys;
  const std::int64_t* costs;
  const std::int32_t* histories;
  const WfstBackpointer* backpointers;
  int num_tokens;
  int num_frames;
  std::int64_t lattice_beam;
  double graph_scale;
  bool finalize;  // at final nodes, if any token is at one
  const SlotBoosts* boosts;
  const LmRow* lm;             // null without
  const std::uint64_t* words;  // of the tokens' keys, with models
  bool has_whole_lm;           // whether it has held since the slot's reset
  std::uint64_t lm_beginning;  // its state before the first word
};

// A hypothesis of an n-best list.
struct ListedWords {
  RankedWords ranked;
  ResultCost boost;
  bool reached_final;
};

inline constexpr int LOOKED_AT_FOR_RESTS = 100;  // texts, as long lists have

// Reads slots one after the other, in memory that it keeps.
class SlotResults {
 public:
  // Final costs of the graph's nodes, infinity where none; the caller keeps them.
  explicit SlotResults(std::span<const float> finals) : finals_(finals) {}

  // Up to `count` sequences of words, cheapest first; nothing where there is too much to look at.
  // They are then given what the gain limit of the search's models took of their words: that may
  // make another one the cheapest, so that more are looked at than are asked for.
  std::optional<std::vector<ListedWords>> nbest(const SlotRecords& slot, int count,
                                                std::int64_t max_steps = MAX_STEPS);

  // All alternatives within the lattice beam.
  std::optional<DrawnLattice> lattice(const SlotRecords& slot, std::int64_t max_steps = MAX_STEPS);

  // Whether the last slot's results are at final nodes of the graph.
  bool reached_final() const { return found_.reached_final; }

 private:
  // A token as a result.
  struct Result {
    ResultCost cost;
    std::uint64_t key;
    std::uint64_t words;
    int backpointer;
  };

  static void give_rests(const SlotRecords& slot, std::vector<ListedWords>& listed);
  void find_ends(const SlotRecords& slot);
  void find_results(const SlotRecords& slot);
  bool keep_finals(const SlotRecords& slot);
  void keep_within(ResultCost limit);

  std::span<const float> finals_;
  std::vector<Result> results_;
  std::vector<Result> at_finals_;
  SlotEnds found_;
  Positions met_;
  RankedLists lists_;
  Determinizer determinizer_;
};

}  // namespace earshot
