// The calls of the CUDA runtime about streams and their captures.
#include <cuda_runtime_api.h>

#include "errors.h"
#include "streams.h"

using namespace emulator;

namespace {

cudaError_t make_stream(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) {
    return fail(cudaErrorInvalidValue);
  }
  *stream = stream_handles().add(new Stream{flags == cudaStreamDefault, nullptr});
  return cudaSuccess;
}

// The stream whose capture is asked about; the legacy stream has none.
cudaError_t find_stream(cudaStream_t handle, Stream*& stream) {
  stream = nullptr;
  if (is_legacy(handle)) {
    for (const Stream* each : stream_handles().all()) {
      if (each->is_blocking && each->capture != nullptr) {
        return fail(cudaErrorStreamCaptureImplicit);
      }
    }
    return cudaSuccess;
  }
  stream = stream_handles().find(handle);
  return stream == nullptr ? fail(cudaErrorInvalidResourceHandle) : cudaSuccess;
}

cudaStreamCaptureStatus status_of(const Stream* stream) {
  if (stream == nullptr || stream->capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                     : cudaStreamCaptureStatusActive;
}

bool is_mode(cudaStreamCaptureMode mode) {
  return mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : make_stream(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : make_stream(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Stream* const stream = is_legacy(handle) ? nullptr : stream_handles().find(handle);
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) return spoil(*stream->capture, "a capturing stream is destroyed");
  stream_handles().remove(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(handle, capture)) return error;
  return capture == nullptr ? cudaSuccess : spoil(*capture, "a capturing stream is waited for");
}

cudaError_t cudaDeviceSynchronize() {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : forbid_waiting();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (!is_mode(mode)) return fail(cudaErrorInvalidValue);
  return begin_capture(stream, mode, nullptr, {});
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t handle,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Graph* const graph = graph_handles().find(handle);
  if (graph == nullptr || graph->is_captured || !is_mode(mode)) return fail(cudaErrorInvalidValue);
  std::vector<const Node*> found;
  if (const cudaError_t error = find_dependencies(*graph, dependencies, edges, count, found)) {
    return error;
  }
  return begin_capture(stream, mode, graph, {dependencies, dependencies + count});
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : end_capture(stream, graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Stream* stream = nullptr;
  if (const cudaError_t error = find_stream(handle, stream)) return error;
  *status = status_of(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (edges != nullptr && dependencies == nullptr) return fail(cudaErrorInvalidValue);
  Stream* stream = nullptr;
  if (const cudaError_t error = find_stream(handle, stream)) return error;
  *status = status_of(stream);
  if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
  Capture& capture = *stream->capture;
  capture.edges.assign(capture.last.size(), cudaGraphEdgeData{});
  if (id != nullptr) *id = capture.id;
  if (graph != nullptr) *graph = graph_handles().add(capture.graph);
  if (dependencies != nullptr) *dependencies = capture.last.data();
  if (edges != nullptr) *edges = capture.edges.data();
  if (count != nullptr) *count = capture.last.size();
  return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* edges, std::size_t count,
                                                unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(handle, capture)) return error;
  if (capture == nullptr) return fail(cudaErrorIllegalState);
  if (flags > cudaStreamSetCaptureDependencies) return fail(cudaErrorInvalidValue);
  std::vector<const Node*> found;
  const cudaError_t error = find_dependencies(*capture->graph, dependencies, edges, count, found);
  if (error != cudaSuccess) return error;
  if (flags == cudaStreamSetCaptureDependencies) capture->last.clear();
  capture->last.insert(capture->last.end(), dependencies, dependencies + count);
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (!is_mode(*mode)) return fail(cudaErrorInvalidValue);
  *mode = exchange_mode(*mode);
  return cudaSuccess;
}
}
