// The steps of a loop, for any number of blocks: each reads what the one before has written, and
// no two blocks write the same.
#pragma once

#include "looping/joint_work.h"
#include "looping/lane_progress.h"
#include "looping/predictor_work.h"

namespace earshot::cuda {

// A block's shared memory.
struct LoopScratch {
  ScoredLabel* labels;  // REDUCTION_PARTS
  float* totals;        // REDUCTION_PARTS
  float* staged;        // rows of a tile
  unsigned* marks;      // LaneList::words_of(params.lanes)
  int* lanes;           // params.lanes

  static KERNEL_HOST_FN int staged_floats(const HeadOnDevice& head) {
    const int answers = ROWS_OF_ANSWERS * head.joint, said = ROWS_OF_SAID * head.hidden;
    const int gates = ROWS_OF_GATES * head.hidden * (head.layers > 1 ? 2 : 1);
    const int frames = ROWS_OF_FRAMES * head.inputs;
    const int most = answers > said ? answers : said, more = gates > frames ? gates : frames;
    return most > more ? most : more;
  }
  static KERNEL_HOST_FN std::size_t bytes(const HeadOnDevice& head, int lanes) {
    return REDUCTION_PARTS * (sizeof(ScoredLabel) + sizeof(float)) +
           staged_floats(head) * sizeof(float) + (LaneList::words_of(lanes) + lanes) * sizeof(int);
  }

  KERNEL_FN LoopScratch(std::byte* shared, const LoopParams& params)
      : labels(reinterpret_cast<ScoredLabel*>(shared)),
        totals(reinterpret_cast<float*>(labels + REDUCTION_PARTS)),
        staged(totals + REDUCTION_PARTS),
        marks(reinterpret_cast<unsigned*>(staged + staged_floats(params.head))),
        lanes(reinterpret_cast<int*>(marks + LaneList::words_of(params.lanes))) {}
  KERNEL_FN LaneList list() const { return {marks, lanes}; }
};

// Of one thread block in one step.
struct LoopBlock {
  GridPlace place;
  LoopScratch scratch;

  KERNEL_FN int list(const LoopParams& params, LaneNumber number, int turn) const {
    return scratch.list().fill(place, params, number, turn);
  }
};

template <class Order>
KERNEL_FN void begin_lanes(const GridPlace& place, const LoopParams& params) {
  const int first = place.block * place.threads + place.thread;
  for (int lane = first; lane < params.lanes; lane += place.blocks * place.threads) {
    LaneProgress(params, lane).begin<Order>();
  }
}

// Answers to the lanes that look in this turn; returns how many there are.
KERNEL_FN int answer_lanes(const LoopBlock& block, const LoopParams& params, int turn) {
  const int count = block.list(params, TURN_OF_SEARCH, turn);
  answer(block.place, params, block.scratch.lanes, count, block.scratch.staged);
  return count;
}

// Labels and blanks of these lanes, each by a block.
template <class Order>
KERNEL_FN void choose_labels(const LoopBlock& block, const LoopParams& params, int turn,
                             int label_turn) {
  const GridPlace& place = block.place;
  for (int lane = place.block; lane < params.lanes; lane += place.blocks) {
    if (params.of(lane, TURN_OF_SEARCH) != turn) continue;
    float* logits = params.answers + static_cast<long long>(lane) * params.head.answers();
    const AnswerRow row{logits, block.scratch.labels, block.scratch.totals};
    const LabelSaid said = label_said(place, params, lane, row);
    place.sync();  // all threads have seen what the lane was
    if (place.thread == 0) LaneProgress(params, lane).take<Order>(said, turn, label_turn);
  }
}

// One layer of the lanes that have found a label; returns how many have.
KERNEL_FN int hear_labels(const LoopBlock& block, const LoopParams& params, int label_turn,
                          int layer) {
  const int count = block.list(params, TURN_OF_LABEL, label_turn);
  hear_label(block.place, params, block.scratch.lanes, count, layer, block.scratch.staged);
  return count;
}

KERNEL_FN void say_labels(const LoopBlock& block, const LoopParams& params, int label_turn) {
  const int count = block.list(params, TURN_OF_LABEL, label_turn);
  say(block.place, params, block.scratch.lanes, count, block.scratch.staged);
}

}  // namespace earshot::cuda
