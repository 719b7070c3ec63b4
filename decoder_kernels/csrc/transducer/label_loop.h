// Greedy decoding of many lanes by a transducer's head (RNN-T, TDT), each lane at its own frame.
//
// Label looping (Bataev 2024, Algorithm 3) without lock step: nobody waits for anybody's label or
// blank. In each turn the lanes that have frames left put (lane, frame) rows into one list for the
// joint, and those that found a label put one into another for the predictor; what is in a list is
// multiplied at once, so that weights are read once a turn for all lanes. Rows are never padded nor
// masked.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boost/boost_arena.h"
#include "transducer/beam_chunk.h"
#include "transducer/loop_weights.h"

namespace earshot {

// The labels that a lane's chunk holds. durations: frames that each advances by, of a TDT as it
// said; 1 of an RNN-T. finite: whether all outputs of the network were; where not, what the lane
// remembers is not to be used.
struct FoundLabels {
  std::vector<int> tokens;
  std::vector<int> frames;
  std::vector<int> durations;
  std::vector<float> log_probs;
  bool finite = true;
};

// Lanes with `lengths[lane]` frames each, one after the other in encoded (N, D). All arrays are the
// caller's.
//
// memory (lanes, S): what the predictor remembers, see `LabelLoop::memory_size`, and carried
// (lanes, CARRIED) what else a lane does; both are overwritten. blank_log_probs (N,): of each
// frame, the blank's that has passed it, minus infinity where none has. tables (lanes, 2): first
// row of a lane's boosts in the arena, -1 for none, and how many states they have.
struct LoopChunk {
  int lanes;
  const std::int64_t* lengths;
  const float* encoded;
  float* memory;
  std::int64_t* carried;
  float* blank_log_probs;
  BoostArena boosts;
  const std::int64_t* tables;
};

// Of a lane between two chunks: frames of the next that a duration has skipped already; its state
// in its boost table.
enum Carried : int { AHEAD, BOOST_STATE, CARRIED };

class LabelLoop {
 public:
  virtual ~LabelLoop() = default;

  // Floats that a lane remembers: the projection of what was said last, hidden and cell of each
  // layer, and the log-probability of the blank that made the last step.
  virtual int memory_size() const = 0;

  // Writes what is remembered before the first label.
  virtual void begin(float* memory) const = 0;

  // Walks over a chunk of each lane; `workers` threads share the lanes. A lane's bits depend on
  // nothing but itself.
  virtual std::vector<FoundLabels> run(const LoopChunk& chunk, int workers) const = 0;

  // Searches a beam over a chunk of each lane, likewise.
  virtual std::vector<FoundBeam> search(const BeamChunk& chunk, const BeamRules& rules,
                                        int workers) const = 0;
};

namespace portable {
std::unique_ptr<LabelLoop> build(const LoopWeights& weights);
}
namespace avx2 {
std::unique_ptr<LabelLoop> build(const LoopWeights& weights);
}
namespace avx512 {
std::unique_ptr<LabelLoop> build(const LoopWeights& weights);
}
namespace avx512_bf16 {
std::unique_ptr<LabelLoop> build(const LoopWeights& weights);
}

}  // namespace earshot
