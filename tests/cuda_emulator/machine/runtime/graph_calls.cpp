// The calls of the CUDA runtime that build and launch graphs.
#include <cuda_runtime_api.h>

#include "errors.h"
#include "fault.h"
#include "graph_run.h"
#include "settings.h"
#include "streams.h"

using namespace emulator;

namespace {

cudaError_t set_kernel(Node& node, void* function, dim3 grid, dim3 block, unsigned shared_bytes,
                       void** args) {
  node.type = cudaGraphNodeTypeKernel;
  if (args == nullptr) return fail(cudaErrorInvalidValue, "parameters come by kernelParams");
  return prepare_launch(LaunchRequest{function, grid, block, shared_bytes}, args, node.launch);
}

cudaError_t set_fill(Node& node, const cudaMemsetParams& params) {
  node.type = cudaGraphNodeTypeMemset;
  node.fill =
      Fill{params.dst, params.value, params.elementSize, params.width, params.height, params.pitch};
  const cudaError_t error = node.fill.check();
  return error == cudaSuccess ? error : fail(error);
}

cudaError_t set_copy(Node& node, const Copy& copy, cudaMemcpyKind kind) {
  node.type = cudaGraphNodeTypeMemcpy;
  node.copy = copy;
  const cudaError_t error = copy.check(kind);
  return error == cudaSuccess ? error : fail(error);
}

// Copies of one row only.
cudaError_t set_copy(Node& node, const cudaMemcpy3DParms& params) {
  const cudaExtent& extent = params.extent;
  if (params.srcArray != nullptr || params.dstArray != nullptr || extent.height > 1 ||
      extent.depth > 1) {
    return fail(cudaErrorNotSupported);
  }
  auto* const to = static_cast<u8*>(params.dstPtr.ptr) + params.dstPos.x;
  const auto* const from = static_cast<const u8*>(params.srcPtr.ptr) + params.srcPos.x;
  return set_copy(node, Copy{to, from, extent.width}, params.kind);
}

cudaError_t set_by_type(Graph& graph, Node& node, cudaGraphNodeParams& params) {
  switch (params.type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& kernel = params.kernel;
      return set_kernel(node, kernel.func, kernel.gridDim, kernel.blockDim, kernel.sharedMemBytes,
                        kernel.kernelParams);
    }
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& fill = params.memset;
      return set_fill(node, cudaMemsetParams{fill.dst, fill.pitch, fill.value, fill.elementSize,
                                             fill.width, fill.height});
    }
    case cudaGraphNodeTypeMemcpy:
      return set_copy(node, params.memcpy.copyParams);
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeConditional: {
      node.type = cudaGraphNodeTypeConditional;
      return make_conditional(graph, params.conditional, node);
    }
    default:
      return fail(cudaErrorNotSupported, graph.parent != nullptr ? "a body may not have such a node"
                                                                 : "such a node is not known here");
  }
}

// What `set` makes of a new node of the graph, behind its dependencies.
template <class Set>
cudaError_t add(cudaGraphNode_t* made, cudaGraph_t handle, const cudaGraphNode_t* dependencies,
                const cudaGraphEdgeData* edges, std::size_t count, const Set& set) {
  Graph* const graph = graph_handles().find(handle);
  if (graph == nullptr) return fail(cudaErrorInvalidValue, "no such graph");
  Node node;
  const cudaError_t error =
      find_dependencies(*graph, dependencies, edges, count, node.dependencies);
  if (error != cudaSuccess) return error;
  if (const cudaError_t refused = set(*graph, node)) return refused;
  *made = add_node(*graph, std::move(node));
  return cudaSuccess;
}

cudaError_t make_executable(cudaGraphExec_t* exec, cudaGraph_t handle, unsigned long long flags) {
  Graph* const graph = graph_handles().find(handle);
  if (graph == nullptr) return fail(cudaErrorInvalidValue, "no such graph");
  if (flags != 0) return fail(cudaErrorNotSupported);
  cudaError_t error = cudaSuccess;
  auto made = instantiate(*graph, error);
  if (made != nullptr) *exec = exec_handles().add(made.release());
  return error;
}

cudaError_t launch_graph(cudaGraphExec_t handle, cudaStream_t stream) {
  const GraphExec* const exec = exec_handles().find(handle);
  if (exec == nullptr) return fail(cudaErrorInvalidValue, "no such executable graph");
  Capture* capture = nullptr;
  if (const cudaError_t error = capture_of_work(stream, capture)) return error;
  if (capture != nullptr) return spoil(*capture, "a graph is launched in a capturing stream");
  ++grid().tally.graph_launches;
  const std::string why = GraphRun(settings.seed + grid().tally.graph_launches).run(*exec);
  if (why.empty()) return cudaSuccess;
  break_device(why);
  return fail(cudaErrorLaunchFailure, why);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (flags != 0) return fail(cudaErrorInvalidValue);
  *graph = graph_handles().add(new Graph);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Graph* const graph = graph_handles().find(handle);
  if (graph == nullptr || graph->parent != nullptr || graph->is_captured) {
    return fail(cudaErrorInvalidValue, "no graph that can be destroyed by itself");
  }
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  const Graph* const graph = graph_handles().find(handle);
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  const std::size_t room = nodes == nullptr ? 0 : *count;
  for (std::size_t i = 0; i < room; ++i) {
    Node* const node = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    nodes[i] = node == nullptr ? nullptr : node_handles().add(node);
  }
  if (nodes == nullptr || *count > graph->nodes.size()) *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return add(node, graph, dependencies, nullptr, count, [](Graph&, Node&) { return cudaSuccess; });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* params) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return add(node, graph, dependencies, nullptr, count, [params](Graph&, Node& made) {
    return set_kernel(made, params->func, params->gridDim, params->blockDim, params->sharedMemBytes,
                      params->kernelParams);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* params) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return add(node, graph, dependencies, nullptr, count,
             [params](Graph&, Node& made) { return set_fill(made, *params); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* params) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return add(node, graph, dependencies, nullptr, count,
             [params](Graph&, Node& made) { return set_copy(made, *params); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  return add(node, graph, dependencies, nullptr, count,
             [&](Graph&, Node& made) { return set_copy(made, Copy{to, from, bytes}, kind); });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                             std::size_t count, cudaGraphNodeParams* params) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  if (params->reserved0[0] != 0 || params->reserved0[1] != 0 || params->reserved0[2] != 0 ||
      params->reserved2 != 0) {
    return fail(cudaErrorInvalidValue, "bytes of the parameters that are not zero");
  }
  const cudaError_t error =
      add(node, graph, dependencies, edges, count,
          [params](Graph& home, Node& made) { return set_by_type(home, made, *params); });
  if (error == cudaSuccess && params->type == cudaGraphNodeTypeConditional) {
    params->conditional.phGraph_out = node_handles().find(*node)->body_handles.data();
  }
  return error;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                             cudaGraph_t graph_handle, unsigned default_value,
                                             unsigned flags) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  Graph* const graph = graph_handles().find(graph_handle);
  if (graph == nullptr || flags > cudaGraphCondAssignDefault) return fail(cudaErrorInvalidValue);
  const auto made = make_condition(graph, default_value, (flags & cudaGraphCondAssignDefault) != 0);
  if (made == nullptr) return fail(cudaErrorMemoryAllocation);
  graph->conditions.push_back(made);
  *handle = made->handle;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : make_executable(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : make_executable(exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  const Call call(__func__);
  if (call.error != cudaSuccess) return call.error;
  GraphExec* const exec = exec_handles().find(handle);
  if (exec == nullptr) return fail(cudaErrorInvalidValue);
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const Call call(__func__);
  return call.error != cudaSuccess ? call.error : launch_graph(exec, stream);
}
}
