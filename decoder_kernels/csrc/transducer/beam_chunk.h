// What a beam search over a chunk is given, and what it leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "boost/boost_arena.h"
#include "transducer/token_lm.h"

namespace earshot {

// How a beam is searched. width: hypotheses kept. in_frames: whether a hypothesis that goes ahead
// waits for the others in every frame, or at the chunk's end alone. narrow: what costs more than
// the best by this is dropped. lm: a language model, or none.
struct BeamRules {
  // Steps that lead to the same labels in the same frame, at most, where hypotheses wait in every
  // frame: a label, blanks of no duration and of one, and waiting.
  static constexpr int COPIES = 4;

  int width;
  bool in_frames;
  double narrow;
  const TokenLm* lm;

  // So many of the best steps make `width` hypotheses; where a chunk's end is waited for it are
  // fewer if some say the same, as in NeMo.
  int most_steps() const { return in_frames ? COPIES * width : width; }
};

// What a hypothesis remembers besides what the predictor does: frames of the next chunk that it has
// passed already; its states in the lane's boost table and in the language model; how many labels
// it has, and their hash.
enum BeamCarried : int {
  BEAM_AHEAD,
  BEAM_BOOST_STATE,
  BEAM_LM_STATE,
  BEAM_LABELS,
  BEAM_HASH,
  BEAM_CARRIED
};

// Hypotheses as rows: of the predictor (N, S), of what else is carried (N, BEAM_CARRIED), scores.
template <class Number, class Integer, class Score>
struct BeamRows {
  Number* memory;
  Integer* carried;
  Score* scores;
};

// Lanes as in LoopChunk. before: `counts[lane]` rows of each lane, one lane after the other. after:
// room for `width` rows of each lane, of which the first are filled in. lm_weights: the power of
// the language model's probabilities in each lane.
struct BeamChunk {
  int lanes;
  const std::int64_t* lengths;
  const float* encoded;
  const std::int64_t* counts;
  BeamRows<const float, const std::int64_t, const double> before;
  BeamRows<float, std::int64_t, double> after;
  BoostArena boosts;
  const std::int64_t* tables;
  const float* lm_weights;
};

// What a hypothesis has said in a chunk, see FoundLabels and LoopChunk. parent: the hypothesis that
// it was before the chunk.
struct FoundHypothesis {
  int parent;
  std::vector<int> tokens;
  std::vector<int> frames;
  std::vector<int> durations;
  std::vector<float> log_probs;
  std::vector<float> blank_log_probs;
};

// finite: whether all outputs of the network were; where not, nothing else is of use.
struct FoundBeam {
  std::vector<FoundHypothesis> hypotheses;
  bool finite = true;
};

}  // namespace earshot
