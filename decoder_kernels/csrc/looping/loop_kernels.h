// The steps as kernels of their own, whose turns lie in memory, and all of them as one kernel whose
// blocks stay.
#pragma once

#include "looping/loop_steps.h"

namespace earshot::cuda {

// --- steps, whose order the host or a graph knows

template <class Order>
struct BeginStep {
  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    begin_lanes<Order>(block.place, params);
    if (block.place.block > 0) return;
    for (int i = block.place.thread; i < LOOP_WORDS; i += block.place.threads) params.words[i] = 0;
  }
};

struct FramesStep {
  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    hear_frames(block.place, params, block.scratch.staged);
  }
};

struct AnswerStep {
  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    answer_lanes(block, params, params.words[TURN]);
  }
};

template <class Order>
struct ChooseStep {
  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    choose_labels<Order>(block, params, params.words[TURN], params.words[LABEL_TURN]);
  }
};

struct HearStep {
  int layer;

  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    hear_labels(block, params, params.words[LABEL_TURN], layer);
  }
};

struct SayStep {
  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    say_labels(block, params, params.words[LABEL_TURN]);
  }
};

// Sets, by one block, whether the loops go on: for the host and, where it has conditions, for the
// graph.
//
// The inner condition is 0 since its loop has ended: who lets the outer one go on sets both.
struct ConditionStep {
  int turns;  // that have passed by this step
  int label_turns;
  bool of_outer_loop;
  bool has_conditions;

  KERNEL_FN void operator()(const LoopBlock& block, const LoopParams& params) const {
    const int turn = params.words[TURN] + turns;
    const bool looks = block.list(params, TURN_OF_SEARCH, turn) > 0;
    const bool goes_on = block.list(params, TURN_OF_SEARCH, NO_TURN) < params.lanes;
    if (block.place.thread > 0) return;
    params.words[TURN] = turn;
    params.words[LABEL_TURN] += label_turns;
    params.words[LOOKS] = looks ? 1 : 0;
    params.words[GOES_ON] = goes_on ? 1 : 0;
    if (!has_conditions) return;
    cudaGraphSetConditional(params.looks, looks ? 1 : 0);
    if (of_outer_loop) cudaGraphSetConditional(params.goes_on, goes_on ? 1 : 0);
  }
};

// Kernels take one parameter.
template <class Step>
struct StepParams {
  LoopParams loop;
  Step step;
};

template <class Step>
__global__ void __launch_bounds__(MAX_BLOCK_THREADS)
    run_step(const __grid_constant__ StepParams<Step> params) {
  extern __shared__ __align__(16) std::byte shared[];
  params.step(LoopBlock{GridPlace::here(), LoopScratch(shared, params.loop)}, params.loop);
}

// --- one launch

// Blocks that are resident together, and wait for each other behind each step.
class ResidentLoop {
 public:
  KERNEL_FN ResidentLoop(const LoopBlock& block, const LoopParams& params)
      : block_(block), params_(params), barrier_(params.words + ARRIVED) {}

  template <class Order>
  KERNEL_FN void run() {
    int label_turn = 0;
    for (int turn = 0; goes_on(); ++turn) {
      while (answer_lanes(block_, params_, turn) > 0) {
        sync_grid();
        choose_labels<Order>(block_, params_, turn, label_turn);
        sync_grid();
        if (Order::SAYS_AT_ONCE) say(label_turn++);
      }
      if (!Order::SAYS_AT_ONCE) say(label_turn++);
    }
  }

 private:
  KERNEL_FN void sync_grid() { barrier_.wait(block_.place); }
  KERNEL_FN bool goes_on() const {
    return block_.list(params_, TURN_OF_SEARCH, NO_TURN) < params_.lanes;
  }
  KERNEL_FN void say(int label_turn) {
    for (int layer = 0; layer < params_.head.layers; ++layer) {
      if (hear_labels(block_, params_, label_turn, layer) == 0) return;  // all blocks see so
      sync_grid();
    }
    say_labels(block_, params_, label_turn);
    sync_grid();
  }

  const LoopBlock& block_;
  const LoopParams& params_;
  GridBarrier barrier_;
};

template <class Order>
__global__ void __launch_bounds__(MAX_BLOCK_THREADS)
    run_loop(const __grid_constant__ LoopParams params) {
  extern __shared__ __align__(16) std::byte shared[];
  const LoopBlock block{GridPlace::here(), LoopScratch(shared, params)};
  ResidentLoop(block, params).template run<Order>();
}

}  // namespace earshot::cuda
