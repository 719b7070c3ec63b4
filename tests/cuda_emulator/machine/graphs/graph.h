// Graphs as the host builds them: nodes, what each comes behind, and the bodies of conditional
// ones.
#pragma once

#include <driver_types.h>

#include <memory>
#include <vector>

#include "conditions.h"
#include "handles.h"
#include "kernel_launch.h"
#include "memory_work.h"

namespace emulator {

struct Node {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<const Node*> dependencies;
  // Of its type:
  KernelLaunch launch;
  Copy copy;
  Fill fill;
  cudaGraphConditionalNodeType condition_type = cudaGraphCondTypeIf;
  std::shared_ptr<Condition> condition;
  std::vector<std::unique_ptr<Graph>> bodies;
  std::vector<cudaGraph_t> body_handles;
};

struct Graph {
  Graph* parent = nullptr;  // of a body: that of its node
  bool is_captured = false;
  std::vector<std::unique_ptr<Node>> nodes;  // each behind what it depends on
  std::vector<std::shared_ptr<Condition>> conditions;

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
};

// What is launched: a copy of the graph as it was.
struct GraphExec {
  std::unique_ptr<Graph> graph;
  std::vector<std::shared_ptr<Condition>> conditions;  // of the bodies too

  ~GraphExec();
};

Handles<Graph, cudaGraph_t>& graph_handles();
Handles<Node, cudaGraphNode_t>& node_handles();
Handles<GraphExec, cudaGraphExec_t>& exec_handles();

cudaGraphNode_t add_node(Graph& graph, Node&& node);
// Nodes of the graph, or the error of those that are not.
cudaError_t find_dependencies(const Graph& graph, const cudaGraphNode_t* nodes,
                              const cudaGraphEdgeData* edges, std::size_t count,
                              std::vector<const Node*>& found);
// Gives the node empty bodies. Its error where the handle is another graph's, or taken.
cudaError_t make_conditional(Graph& graph, const cudaConditionalNodeParams& params, Node& node);
// nullptr, with the error, where the graph is not complete, or may not have a second one.
std::unique_ptr<GraphExec> instantiate(Graph& graph, cudaError_t& error);

}  // namespace emulator
