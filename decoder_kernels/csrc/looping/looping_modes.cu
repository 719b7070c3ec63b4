#include "block/captured_graph.h"
#include "looping/device_loop.h"
#include "looping/step_launches.h"

namespace earshot::cuda {
namespace {

template <class Run>
void in_order(LoopOrder order, const Run& run) {
  switch (order) {
    case LoopOrder::BY_LABELS:
      return run.template operator()<ByLabels>();
    case LoopOrder::BY_FRAMES:
      return run.template operator()<ByFrames>();
    case LoopOrder::FREE:
      return run.template operator()<Free>();
  }
}

template <class Order>
void launch_steps(const LoopWork& work, cudaStream_t stream) {
  const StepLaunches<Order> steps(work, /*conditions=*/false, stream);
  steps.allow_scratch();
  steps.begin();
  while (steps.is_set(GOES_ON)) {
    while (steps.is_set(LOOKS)) steps.look_once();
    steps.end_turn();
  }
}

// Blocks that the device holds at once, and no more than there is work for.
template <class Order>
int resident_blocks(const LoopWork& work, std::size_t scratch_bytes) {
  int device = 0, of_multiprocessor = 0, multiprocessors = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_multiprocessor, run_loop<Order>,
                                                           work.threads, scratch_bytes));
  const int parts = std::max(
      {blocks_of_answers(work), blocks_of_gates(work), blocks_of_said(work), work.params.lanes});
  return std::max(1, std::min(parts, of_multiprocessor * multiprocessors));
}

template <class Order>
void launch_loop(const LoopWork& work, cudaStream_t stream) {
  const std::size_t bytes = LoopScratch::bytes(work.params.head, work.params.lanes);
  const StepLaunches<Order> steps(work, /*conditions=*/false, stream);
  steps.allow_scratch();
  steps.begin_lanes();
  allow_scratch(run_loop<Order>, bytes);
  LoopParams params = work.params;
  void* arguments[] = {&params};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(run_loop<Order>),
                                         dim3(resident_blocks<Order>(work, bytes)),
                                         dim3(work.threads), arguments, bytes, stream));
}

template <class Order>
void capture_loops(const StepLaunches<Order>& steps, cudaGraph_t graph, const LoopParams& params) {
  capture(graph, [&](cudaStream_t stream) {
    steps.on(stream).begin();
    capture(add_while(stream, params.goes_on), [&](cudaStream_t turn) {
      const cudaGraph_t looking = add_while(turn, params.looks);
      capture(looking, [&](cudaStream_t look) { steps.on(look).look_once(); });
      steps.on(turn).end_turn();
    });
  });
}

template <class Order>
void fill_graph(const LoopWork& work, cudaGraph_t graph) {
  const StepLaunches<Order> steps(work, /*conditions=*/true, nullptr);
  steps.allow_scratch();
  capture_loops(steps, graph, work.params);
}

}  // namespace

void run_by_launches(const LoopWork& work, std::intptr_t stream) {
  const auto on = reinterpret_cast<cudaStream_t>(stream);
  in_order(work.order, [&]<class Order>() { launch_steps<Order>(work, on); });
}

void run_as_one_kernel(const LoopWork& work, std::intptr_t stream) {
  const auto on = reinterpret_cast<cudaStream_t>(stream);
  in_order(work.order, [&]<class Order>() { launch_loop<Order>(work, on); });
}

struct LoopGraph::Executable {
  explicit Executable(LoopWork work) {
    const OwnGraph graph;
    work.params.looks = graph.condition();
    work.params.goes_on = graph.condition();
    in_order(work.order, [&]<class Order>() { fill_graph<Order>(work, graph.get()); });
    check_cuda(cudaGraphInstantiate(&graph_exec, graph.get(), 0));
  }
  ~Executable() { forget(cudaGraphExecDestroy(graph_exec)); }

  cudaGraphExec_t graph_exec = nullptr;
};

LoopGraph::LoopGraph(const LoopWork& work) : executable_(std::make_unique<Executable>(work)) {}
LoopGraph::~LoopGraph() = default;
LoopGraph::LoopGraph(LoopGraph&&) noexcept = default;

void LoopGraph::run(std::intptr_t stream) const {
  check_cuda(cudaGraphLaunch(executable_->graph_exec, reinterpret_cast<cudaStream_t>(stream)));
}

}  // namespace earshot::cuda
