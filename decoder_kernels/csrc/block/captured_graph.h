// A graph as it is captured, with loops: nothing is left behind where a call fails.
#pragma once

#include <utility>

#include "block/block_cuda.h"

namespace earshot::cuda {

// Of calls that free what nobody needs: what they say is not the next launch's fault.
inline void forget(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

class OwnStream {
 public:
  OwnStream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { forget(cudaStreamDestroy(stream_)); }
  OwnStream(const OwnStream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class OwnGraph {
 public:
  OwnGraph() { check_cuda(cudaGraphCreate(&graph_, 0)); }
  ~OwnGraph() { forget(cudaGraphDestroy(graph_)); }
  OwnGraph(const OwnGraph&) = delete;

  cudaGraph_t get() const { return graph_; }

  unsigned long long condition() const {
    cudaGraphConditionalHandle handle = 0;
    check_cuda(cudaGraphConditionalHandleCreate(&handle, graph_, 0, 0));
    return handle;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

// What a stream of its own is told goes into a graph, on whichever stream threads capture else.
class Capture {
 public:
  explicit Capture(cudaGraph_t graph) {
    check_cuda(cudaStreamBeginCaptureToGraph(stream_.get(), graph, nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal));
    captures_ = true;
  }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    if (captures_) forget(cudaStreamEndCapture(stream_.get(), &graph));
  }
  Capture(const Capture&) = delete;

  cudaStream_t stream() const { return stream_.get(); }

  void end() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream_.get(), &graph));
    captures_ = false;
  }

 private:
  OwnStream stream_;
  bool captures_ = false;
};

// Puts a WHILE node behind what the stream has captured; returns the graph of its body.
inline cudaGraph_t add_while(cudaStream_t stream, unsigned long long condition) {
  cudaStreamCaptureStatus status;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = condition;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  check_cuda(cudaGraphAddNode(&node, graph, last, nullptr, count, &params));
  check_cuda(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                                 cudaStreamSetCaptureDependencies));
  return params.conditional.phGraph_out[0];
}

// `fill(stream)` captures what the graph has.
template <class Fill>
void capture(cudaGraph_t graph, const Fill& fill) {
  Capture captured(graph);
  fill(captured.stream());
  captured.end();
}

}  // namespace earshot::cuda
