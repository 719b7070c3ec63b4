// Streams, and what they capture instead of running it.
//
// Work is done when it is asked for, so a stream that does not capture has nothing to remember.
#pragma once

#include <driver_types.h>

#include <memory>
#include <thread>
#include <vector>

#include "graph.h"

namespace emulator {

struct Capture {
  Graph* graph;
  std::unique_ptr<Graph> own;  // the same, where the capture made it
  cudaStreamCaptureMode mode;
  unsigned long long id;
  std::thread::id thread;
  std::vector<cudaGraphNode_t> last{};  // that the next node comes behind
  std::vector<cudaGraphEdgeData> edges{};
  bool is_invalid = false;
};

struct Stream {
  bool is_blocking;  // with the legacy stream, which then depends on what it captures
  std::unique_ptr<Capture> capture;
};

Handles<Stream, cudaStream_t>& stream_handles();
inline bool is_legacy(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy;
}

// What the stream's work is appended to; nullptr where it is to be done at once. An error where
// there is no such stream, its capture is invalid, or the legacy stream would have to wait for one.
cudaError_t capture_of_work(cudaStream_t stream, Capture*& capture);
void append(Capture& capture, Node&& node);
// The error of work that no graph can hold: its capture is invalid from now on.
cudaError_t spoil(Capture& capture, const char* why);

// The error of a call that waits for the device, or that the modes of captures under way forbid
// (cudaThreadExchangeStreamCaptureMode); it spoils these captures.
cudaError_t forbid_waiting();
cudaError_t forbid_unsafe();
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode, Graph* into,
                          const std::vector<cudaGraphNode_t>& last);
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
// As new: no stream captures.
void forget_captures();

}  // namespace emulator
