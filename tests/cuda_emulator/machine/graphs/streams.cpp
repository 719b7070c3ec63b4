#include "streams.h"

#include <algorithm>
#include <functional>

#include "errors.h"
#include "fault.h"

namespace emulator {

namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

using Which = std::function<bool(const Stream&)>;

// Makes those captures invalid; returns whether there are any.
bool spoil_all(const Which& which) {
  bool found = false;
  for (Stream* stream : stream_handles().all()) {
    if (stream->capture == nullptr || !which(*stream)) continue;
    stream->capture->is_invalid = true;
    found = true;
  }
  return found;
}

bool forbids_here(const Capture& capture) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) {
    return capture.mode != cudaStreamCaptureModeRelaxed;
  }
  return thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

// Torch's allocations are cudaMalloc's on a GPU.
const bool asked_by_allocations = [] {
  refuses_allocation = [] { return forbid_unsafe() != cudaSuccess; };
  return true;
}();

unsigned long long next_capture() {
  static unsigned long long next = 1;
  return next++;
}

void release(Stream& stream) {
  stream.capture->graph->is_captured = false;
  stream.capture.reset();
}

}  // namespace

Handles<Stream, cudaStream_t>& stream_handles() {
  static auto& only = *new Handles<Stream, cudaStream_t>;
  return only;
}

cudaError_t capture_of_work(cudaStream_t handle, Capture*& capture) {
  capture = nullptr;
  if (is_legacy(handle)) {
    const bool waits = spoil_all([](const Stream& stream) { return stream.is_blocking; });
    return waits ? fail(cudaErrorStreamCaptureImplicit) : cudaSuccess;
  }
  Stream* const stream = stream_handles().find(handle);
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  capture = stream->capture.get();
  if (capture != nullptr && capture->is_invalid) return fail(cudaErrorStreamCaptureInvalidated);
  return cudaSuccess;
}

void append(Capture& capture, Node&& node) {
  for (cudaGraphNode_t each : capture.last) {
    node.dependencies.push_back(node_handles().find(each));
  }
  capture.last = {add_node(*capture.graph, std::move(node))};
}

cudaError_t spoil(Capture& capture, const char* why) {
  capture.is_invalid = true;
  return fail(cudaErrorStreamCaptureUnsupported, why);
}

cudaError_t forbid_waiting() {
  const bool waits = spoil_all([](const Stream&) { return true; });
  return waits ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t forbid_unsafe() {
  const bool is_forbidden =
      spoil_all([](const Stream& stream) { return forbids_here(*stream.capture); });
  return is_forbidden ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, Graph* into,
                          const std::vector<cudaGraphNode_t>& last) {
  if (is_legacy(handle)) return fail(cudaErrorStreamCaptureUnsupported);
  Stream* const stream = stream_handles().find(handle);
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) return fail(cudaErrorIllegalState);
  auto own = into == nullptr ? std::make_unique<Graph>() : nullptr;
  Graph* const graph = into == nullptr ? own.get() : into;
  graph->is_captured = true;
  stream->capture = std::make_unique<Capture>(
      Capture{graph, std::move(own), mode, next_capture(), std::this_thread::get_id()});
  stream->capture->last = last;
  if (into == nullptr) graph_handles().add(graph);
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  Stream* const stream = is_legacy(handle) ? nullptr : stream_handles().find(handle);
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (stream->capture == nullptr) return fail(cudaErrorIllegalState);
  Capture& capture = *stream->capture;
  if (capture.mode != cudaStreamCaptureModeRelaxed &&
      capture.thread != std::this_thread::get_id()) {
    return fail(cudaErrorStreamCaptureWrongThread);
  }
  if (capture.is_invalid) {
    release(*stream);
    return fail(cudaErrorStreamCaptureInvalidated);
  }
  *graph = graph_handles().add(capture.graph);
  static_cast<void>(capture.own.release());  // the host's to destroy
  release(*stream);
  return cudaSuccess;
}

void forget_captures() {
  thread_mode = cudaStreamCaptureModeGlobal;
  for (Stream* stream : stream_handles().all()) {
    if (stream->capture != nullptr) release(*stream);
  }
}

}  // namespace emulator
