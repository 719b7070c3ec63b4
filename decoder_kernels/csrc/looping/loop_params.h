// What the kernels of label looping are told: a head's weights, and what lanes know and find.
#pragma once

#include <cstdint>

#include "boost/boost_arena.h"
#include "head/joint_activation.h"
#include "head/memory_layout.h"

namespace earshot {

// On the device, inputs outermost, so that threads side by side read weights side by side.
//
// V labels and the blank, N durations (none of an RNN-T), J and H units, L layers. The first layer
// has its gates from the label before in a table.
struct HeadOnDevice {
  int labels;  // V, which is the blank's number
  int durations;
  int inputs;  // D: of an encoder frame
  int joint;
  int hidden;
  int layers;
  int max_symbols;
  JointActivation activation;
  const float* encoder_weight;          // (D, J)
  const float* encoder_bias;            // (J,)
  const float* answer_weight;           // (J, V + 1 + N)
  const float* answer_bias;             // (V + 1 + N,)
  const float* project_weight;          // (H, J)
  const float* project_bias;            // (J,)
  const float* table;                   // (V + 1, 4 H), biases added
  const float* recurrent;               // (H of the first layer and 2 H of each other, 4 H)
  const float* gate_bias;               // (L, 4 H), of the first layer unused
  const std::int32_t* duration_frames;  // (N,)

  constexpr int answers() const { return labels + 1 + durations; }
};

// Of each lane, in rows of integers. LENGTH: frames of its chunk. FRAME: where it stands;
// before, frames that a duration has skipped. TURN_OF_SEARCH: of the loop, in which it wants an
// answer, NO_TURN where it has no frames left. TURN_OF_LABEL: in which it found its last label,
// TOKEN. FOUND: labels. FINITE: whether all answers were.
enum LaneNumber : int {
  LENGTH,
  FRAME,
  BOOST_STATE_HERE,
  BOOST_ROW,
  BOOST_STATES,
  LABELS_IN_FRAME,
  TURN_OF_SEARCH,
  TURN_OF_LABEL,
  TOKEN,
  FOUND,
  FINITE,
  LANE_NUMBERS,
};
inline constexpr int NO_TURN = -1;

// Words that a whole grid shares. TURN: of the outer loop. LABEL_TURN: by which labels are found.
// GOES_ON: whether a lane wants an answer in this turn or a later one, LOOKS: in this one.
enum LoopWord : int { TURN, LABEL_TURN, GOES_ON, LOOKS, ARRIVED, LOOP_WORDS };

// Room for B lanes of T frames, of which the first `lanes` are in use.
struct LoopParams {
  HeadOnDevice head;
  int lanes;
  int capacity;  // B
  int frames;    // T
  MemoryLayout layout;
  BoostArena boosts;
  std::int32_t* numbers;   // (LANE_NUMBERS, B)
  std::int32_t* words;     // (LOOP_WORDS,)
  const float* encoded;    // (B, T, D)
  float* heard;            // (B, T, J): encoder frames as the joint takes them
  float* memory;           // (B, layout.size())
  float* fresh;            // (B, L, H): what layers say in this turn
  float* answers;          // (B, V + 1 + N)
  float* blank_log_probs;  // (B, T)
  std::int32_t* tokens;    // (B, T max_symbols), as the three below
  std::int32_t* frames_found;
  std::int32_t* durations;
  float* log_probs;
  unsigned long long goes_on;  // conditions of the graph's loops
  unsigned long long looks;

  constexpr int room() const { return frames * head.max_symbols; }
  constexpr std::int32_t* all(LaneNumber what) const { return numbers + what * capacity; }
  constexpr std::int32_t& of(int lane, LaneNumber what) const { return all(what)[lane]; }
};

}  // namespace earshot
