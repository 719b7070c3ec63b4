#include "graph.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "errors.h"

namespace emulator {

namespace {

bool is_within(const Graph* graph, const Graph* outer) {
  while (graph != nullptr && graph != outer) graph = graph->parent;
  return graph == outer;
}

bool has_edge_data(const cudaGraphEdgeData& edge) {
  return edge.from_port != 0 || edge.to_port != 0 || edge.type != 0;
}

bool is_size_of(cudaGraphConditionalNodeType type, unsigned size) {
  if (type == cudaGraphCondTypeWhile) return size == 1;
  return type == cudaGraphCondTypeIf && (size == 1 || size == 2);
}

// The graph and all bodies within it.
void each_graph(const Graph& graph, const std::function<void(const Graph&)>& visit) {
  visit(graph);
  for (const auto& node : graph.nodes) {
    for (const auto& body : node->bodies) each_graph(*body, visit);
  }
}

std::unique_ptr<Graph> copy_of(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  std::unordered_map<const Node*, const Node*> copies;
  for (const auto& node : graph.nodes) {
    Node& made = *copy->nodes.emplace_back(std::make_unique<Node>());
    copies[node.get()] = &made;
    made.graph = copy.get();
    made.type = node->type;
    for (const Node* each : node->dependencies) made.dependencies.push_back(copies.at(each));
    made.launch = node->launch;
    made.copy = node->copy;
    made.fill = node->fill;
    made.condition_type = node->condition_type;
    made.condition = node->condition;
    for (const auto& body : node->bodies) made.bodies.push_back(copy_of(*body));
  }
  return copy;
}

// Why there may be no executable graph of it, or nullptr.
const char* why_not(const Graph& graph) {
  const char* why = graph.parent != nullptr ? "a body is no graph by itself" : nullptr;
  each_graph(graph, [&why](const Graph& each) {
    if (each.is_captured) why = "a stream is capturing into the graph or one of its bodies";
    for (const auto& condition : each.conditions) {
      if (!condition->has_node) why = "a condition that no node reads";
      if (condition->is_instantiated) why = "a graph with conditions has one executable graph";
    }
  });
  return why;
}

}  // namespace

Handles<Graph, cudaGraph_t>& graph_handles() {
  static auto& only = *new Handles<Graph, cudaGraph_t>;
  return only;
}
Handles<Node, cudaGraphNode_t>& node_handles() {
  static auto& only = *new Handles<Node, cudaGraphNode_t>;
  return only;
}
Handles<GraphExec, cudaGraphExec_t>& exec_handles() {
  static auto& only = *new Handles<GraphExec, cudaGraphExec_t>;
  return only;
}

Graph::~Graph() {
  for (const auto& node : nodes) node_handles().remove(node.get());
  graph_handles().remove(this);
}

GraphExec::~GraphExec() {
  for (const auto& condition : conditions) condition->is_instantiated = false;
  exec_handles().remove(this);
}

cudaGraphNode_t add_node(Graph& graph, Node&& node) {
  node.graph = &graph;
  graph.nodes.push_back(std::make_unique<Node>(std::move(node)));
  return node_handles().add(graph.nodes.back().get());
}

cudaError_t find_dependencies(const Graph& graph, const cudaGraphNode_t* nodes,
                              const cudaGraphEdgeData* edges, std::size_t count,
                              std::vector<const Node*>& found) {
  if (count != 0 && nodes == nullptr) return fail(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const Node* const node = node_handles().find(nodes[i]);
    const bool is_twice = std::find(found.begin(), found.end(), node) != found.end();
    if (node == nullptr || node->graph != &graph || is_twice) {
      return fail(cudaErrorInvalidValue, "a dependency that is no node of the graph, or twice");
    }
    if (edges != nullptr && has_edge_data(edges[i])) return fail(cudaErrorNotSupported);
    found.push_back(node);
  }
  return cudaSuccess;
}

cudaError_t make_conditional(Graph& graph, const cudaConditionalNodeParams& params, Node& node) {
  const auto condition = find_condition(params.handle);
  if (condition == nullptr || !is_within(&graph, condition->graph)) {
    return fail(cudaErrorInvalidValue, "a condition of another graph");
  }
  if (condition->has_node) return fail(cudaErrorInvalidValue, "a condition of another node");
  if (params.type == cudaGraphCondTypeSwitch) return fail(cudaErrorNotSupported);
  if (!is_size_of(params.type, params.size)) return fail(cudaErrorInvalidValue);
  condition->has_node = true;
  node.condition = condition;
  node.condition_type = params.type;
  for (unsigned i = 0; i < params.size; ++i) {
    node.bodies.push_back(std::make_unique<Graph>());
    node.bodies.back()->parent = &graph;
    node.body_handles.push_back(graph_handles().add(node.bodies.back().get()));
  }
  return cudaSuccess;
}

std::unique_ptr<GraphExec> instantiate(Graph& graph, cudaError_t& error) {
  if (const char* const why = why_not(graph)) {
    error = fail(cudaErrorInvalidValue, why);
    return nullptr;
  }
  auto exec = std::make_unique<GraphExec>();
  exec->graph = copy_of(graph);
  each_graph(graph, [&exec](const Graph& each) {
    for (const auto& condition : each.conditions) exec->conditions.push_back(condition);
  });
  for (const auto& condition : exec->conditions) condition->is_instantiated = true;
  error = cudaSuccess;
  return exec;
}

}  // namespace emulator
