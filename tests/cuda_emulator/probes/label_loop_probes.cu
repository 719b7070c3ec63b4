// One loop of the shape of label looping, three ways: launches whose flags the host reads, a graph
// with a WHILE node in a WHILE node, and one launch whose blocks meet in barriers of the grid.
#include "grid_barrier.h"
#include "label_loop.h"

namespace {

using namespace probes;

__device__ int place() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ int places() {
  return static_cast<int>(gridDim.x * blockDim.x);
}

__global__ void join_lanes(const __grid_constant__ LabelLoop loop) {
  join(loop, place(), places());
}

__global__ void choose_labels(const __grid_constant__ LabelLoop loop) {
  const bool looks = choose(loop);
  if (threadIdx.x == 0) loop.more[0] = looks ? 1 : 0;
}

__global__ void remember_labels(const __grid_constant__ LabelLoop loop) {
  const bool goes_on = remember(loop);
  if (threadIdx.x == 0) loop.more[1] = goes_on ? 1 : 0;
}

// Begins with nothing found, which leaves all lanes that have frames looking.
__global__ void begin_loop(const __grid_constant__ LabelLoop loop) {
  const bool goes_on = remember(loop);
  if (threadIdx.x == 0) cudaGraphSetConditional(loop.goes_on, goes_on ? 1 : 0);
}

__global__ void choose_and_tell(const __grid_constant__ LabelLoop loop) {
  const bool looks = choose(loop);
  if (threadIdx.x == 0) cudaGraphSetConditional(loop.looks, looks ? 1 : 0);
}

// The inner condition is 0 since its loop has ended: whoever goes on sets both.
__global__ void remember_and_tell(const __grid_constant__ LabelLoop loop) {
  const bool goes_on = remember(loop);
  if (threadIdx.x != 0) return;
  cudaGraphSetConditional(loop.goes_on, goes_on ? 1 : 0);
  cudaGraphSetConditional(loop.looks, goes_on ? 1 : 0);
}

// Meetings of the grid, counted.
class Meetings {
 public:
  __device__ explicit Meetings(Counter* arrived) : arrived_(arrived) {}
  __device__ void meet() { probes::meet<Releases, Acquires>(arrived_, goal_ += gridDim.x); }

 private:
  Counter* arrived_;
  Counter goal_ = 0;
};

// One block has done a step that all wait for; returns what it says.
template <class Step>
__device__ bool by_first_block(const LabelLoop& loop, Meetings& meetings, int flag,
                               const Step& step) {
  if (blockIdx.x == 0) {
    const bool more = step(loop);
    if (threadIdx.x == 0) loop.more[flag] = more ? 1 : 0;
  }
  meetings.meet();
  return loop.more[flag] != 0;
}

__global__ void loop_in_one_launch(const __grid_constant__ LabelLoop loop) {
  Meetings meetings(reinterpret_cast<Counter*>(loop.more + 2));
  bool goes_on = by_first_block(loop, meetings, 1, remember);
  while (goes_on) {
    bool looks = true;
    while (looks) {
      join(loop, place(), places());
      meetings.meet();
      looks = by_first_block(loop, meetings, 0, choose);
    }
    goes_on = by_first_block(loop, meetings, 1, remember);
  }
}

// --- the host

struct Shape {
  int blocks;
  int threads;
};

// The first error of several calls.
class Errors {
 public:
  Errors& operator<<(cudaError_t error) {
    if (first == cudaSuccess) first = error;
    return *this;
  }
  bool none() const { return first == cudaSuccess; }

  cudaError_t first = cudaSuccess;
};

bool read_flag(Errors& errors, const LabelLoop& loop, int flag, cudaStream_t stream) {
  int value = 0;
  errors << cudaMemcpyAsync(&value, loop.more + flag, sizeof value, cudaMemcpyDeviceToHost, stream)
         << cudaStreamSynchronize(stream);
  return errors.none() && value != 0;
}

cudaError_t run_by_launches(const LabelLoop& loop, const Shape& shape, cudaStream_t stream) {
  Errors errors;
  remember_labels<<<1, shape.threads, 0, stream>>>(loop);
  errors << cudaGetLastError();
  while (read_flag(errors, loop, 1, stream)) {
    do {
      join_lanes<<<shape.blocks, shape.threads, 0, stream>>>(loop);
      choose_labels<<<1, shape.threads, 0, stream>>>(loop);
      errors << cudaGetLastError();
    } while (read_flag(errors, loop, 0, stream));
    remember_labels<<<1, shape.threads, 0, stream>>>(loop);
    errors << cudaGetLastError();
  }
  return errors.first;
}

cudaError_t run_in_one_launch(LabelLoop loop, const Shape& shape, cudaStream_t stream) {
  void* args[] = {&loop};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(loop_in_one_launch),
                                     dim3(shape.blocks), dim3(shape.threads), args, 0, stream);
}

// Puts a loop behind what the stream has captured; its body is to be captured to `body`.
cudaError_t add_loop(cudaStream_t stream, cudaGraphConditionalHandle condition, cudaGraph_t* body) {
  Errors errors;
  cudaStreamCaptureStatus status;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  size_t count = 0;
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = condition;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  errors << cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count);
  if (errors.none()) errors << cudaGraphAddNode(&node, graph, last, nullptr, count, &params);
  if (!errors.none()) return errors.first;
  *body = params.conditional.phGraph_out[0];
  return cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                             cudaStreamSetCaptureDependencies);
}

// Whatever happens, the stream captures no longer.
template <class Fill>
cudaError_t capture_body(cudaGraph_t body, const Fill& fill) {
  Errors errors;
  cudaStream_t stream = nullptr;
  errors << cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (!errors.none()) return errors.first;
  errors << cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeThreadLocal);
  if (errors.none()) {
    errors << fill(stream);
    errors << cudaStreamEndCapture(stream, &body);
  }
  errors << cudaStreamDestroy(stream);
  return errors.first;
}

cudaError_t capture_inner(cudaStream_t stream, const LabelLoop& loop, const Shape& shape) {
  Errors errors;
  join_lanes<<<shape.blocks, shape.threads, 0, stream>>>(loop);
  errors << cudaGetLastError();
  choose_and_tell<<<1, shape.threads, 0, stream>>>(loop);
  return (errors << cudaGetLastError()).first;
}

cudaError_t capture_outer(cudaStream_t stream, const LabelLoop& loop, const Shape& shape) {
  Errors errors;
  cudaGraph_t body = nullptr;
  errors << add_loop(stream, loop.looks, &body);
  if (!errors.none()) return errors.first;
  errors << capture_body(body,
                         [&](cudaStream_t inner) { return capture_inner(inner, loop, shape); });
  remember_and_tell<<<1, shape.threads, 0, stream>>>(loop);
  return (errors << cudaGetLastError()).first;
}

cudaError_t build(cudaGraph_t graph, LabelLoop loop, const Shape& shape) {
  Errors errors;
  errors << cudaGraphConditionalHandleCreate(&loop.looks, graph, 1, cudaGraphCondAssignDefault)
         << cudaGraphConditionalHandleCreate(&loop.goes_on, graph, 0, 0);
  if (!errors.none()) return errors.first;
  return capture_body(graph, [&](cudaStream_t stream) {
    begin_loop<<<1, shape.threads, 0, stream>>>(loop);
    cudaGraph_t body = nullptr;
    Errors inner;
    inner << cudaGetLastError();
    inner << add_loop(stream, loop.goes_on, &body);
    if (!inner.none()) return inner.first;
    return capture_body(body,
                        [&](cudaStream_t outer) { return capture_outer(outer, loop, shape); });
  });
}

cudaError_t run_by_graph(const LabelLoop& loop, const Shape& shape, cudaStream_t stream) {
  Errors errors;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  errors << cudaGraphCreate(&graph, 0);
  if (errors.none()) errors << build(graph, loop, shape);
  if (errors.none()) errors << cudaGraphInstantiate(&executable, graph, 0);
  if (executable != nullptr) {
    errors << cudaGraphLaunch(executable, stream) << cudaStreamSynchronize(stream);
    errors << cudaGraphExecDestroy(executable);
  }
  if (graph != nullptr) errors << cudaGraphDestroy(graph);
  return errors.first;
}

}  // namespace

// Returns 0 or the first error. way: 0 by launches, 1 by a graph, 2 in one launch.
extern "C" int emulator_label_loop(const LabelLoop* loop, int way, int blocks, int threads) {
  const Shape shape{blocks, threads};
  Errors errors;
  cudaStream_t stream = nullptr;
  errors << cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (!errors.none()) return errors.first;
  if (way == 0) errors << run_by_launches(*loop, shape, stream);
  if (way == 1) errors << run_by_graph(*loop, shape, stream);
  if (way == 2) errors << run_in_one_launch(*loop, shape, stream);
  errors << cudaStreamDestroy(stream);
  return errors.first;
}
