// Steps as they are launched: how many blocks each has, and what the loops are made of.
#pragma once

#include <algorithm>
#include <string>

#include "looping/device_loop.h"
#include "looping/loop_kernels.h"

namespace earshot::cuda {

inline int blocks_of_answers(const LoopWork& work) {
  return TilesOf(work.params.lanes, ROWS_OF_ANSWERS, work.params.head.answers(), work.threads)
      .count();
}
inline int blocks_of_frames(const LoopWork& work) {
  const int frames = work.params.lanes * work.params.frames;
  return TilesOf(frames, ROWS_OF_FRAMES, work.params.head.joint, work.threads).count();
}
inline int blocks_of_gates(const LoopWork& work) {
  return TilesOf(work.params.lanes, ROWS_OF_GATES, work.params.head.hidden, work.threads).count();
}
inline int blocks_of_said(const LoopWork& work) {
  return TilesOf(work.params.lanes, ROWS_OF_SAID, work.params.head.joint, work.threads).count();
}

// Lets a kernel have more shared memory than a block may have untold: as much as the device has, so
// that no loop lowers what another needs.
template <class Params>
void allow_scratch(void (*kernel)(Params), std::size_t bytes) {
  if (bytes <= PLAIN_SHARED_BYTES) return;
  int device = 0, most = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (bytes > static_cast<std::size_t>(most)) {
    throw LaunchFailed("label looping over a head of this size takes " + std::to_string(bytes) +
                       " bytes of shared memory; a block of this device has " +
                       std::to_string(most));
  }
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
}

// Launches on a stream, which may be one that is captured.
template <class Order>
class StepLaunches {
 public:
  // conditions: whether steps tell the graph that the parameters name.
  StepLaunches(const LoopWork& work, bool conditions, cudaStream_t stream)
      : work_(work), conditions_(conditions), stream_(stream) {}

  void allow_scratch() const {
    const std::size_t bytes = scratch_bytes();
    cuda::allow_scratch(run_step<BeginStep<Order>>, bytes);
    cuda::allow_scratch(run_step<FramesStep>, bytes);
    cuda::allow_scratch(run_step<AnswerStep>, bytes);
    cuda::allow_scratch(run_step<ChooseStep<Order>>, bytes);
    cuda::allow_scratch(run_step<HearStep>, bytes);
    cuda::allow_scratch(run_step<SayStep>, bytes);
    cuda::allow_scratch(run_step<ConditionStep>, bytes);
  }

  StepLaunches on(cudaStream_t stream) const { return {work_, conditions_, stream}; }

  void begin_lanes() const {
    launch(FramesStep{}, blocks_of_frames(work_));
    launch(BeginStep<Order>{}, 1);
  }
  void begin() const {
    begin_lanes();
    set_conditions({0, 0, true, conditions_});
  }
  void look_once() const {
    launch(AnswerStep{}, blocks_of_answers(work_));
    launch(ChooseStep<Order>{}, work_.params.lanes);
    if (Order::SAYS_AT_ONCE) say();
    set_conditions({0, Order::SAYS_AT_ONCE ? 1 : 0, false, conditions_});
  }
  void end_turn() const {
    if (!Order::SAYS_AT_ONCE) say();
    set_conditions({1, Order::SAYS_AT_ONCE ? 0 : 1, true, conditions_});
  }

  bool is_set(LoopWord word) const {
    std::int32_t value = 0;
    check_cuda(cudaMemcpyAsync(&value, work_.params.words + word, sizeof value,
                               cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    return value != 0;
  }

 private:
  std::size_t scratch_bytes() const {
    return LoopScratch::bytes(work_.params.head, work_.params.lanes);
  }
  void say() const {
    for (int layer = 0; layer < work_.params.head.layers; ++layer) {
      launch(HearStep{layer}, blocks_of_gates(work_));
    }
    launch(SayStep{}, std::max(blocks_of_said(work_), work_.params.lanes));
  }
  void set_conditions(const ConditionStep& step) const { launch(step, 1); }

  template <class Step>
  void launch(const Step& step, int blocks) const {
    const StepParams<Step> params{work_.params, step};
    run_step<Step><<<blocks, work_.threads, scratch_bytes(), stream_>>>(params);
    check_cuda(cudaGetLastError());
  }

  const LoopWork& work_;
  bool conditions_;
  cudaStream_t stream_;
};

}  // namespace earshot::cuda
