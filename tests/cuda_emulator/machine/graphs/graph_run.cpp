#include "graph_run.h"

#include <algorithm>

#include "progress.h"
#include "settings.h"

namespace emulator {

namespace {

constexpr int IDLE_TURNS = 2;
const char* const NOT_SET = "a node reads a condition that has no default and that nobody has set";

bool is_ready(const Node& node, const std::vector<const Node*>& done) {
  return std::all_of(node.dependencies.begin(), node.dependencies.end(),
                     [&done](const Node* before) {
                       return std::find(done.begin(), done.end(), before) != done.end();
                     });
}

}  // namespace

std::string GraphRun::run(const GraphExec& exec) {
  for (const auto& condition : exec.conditions) {
    condition->begin();
    condition->is_running = true;
  }
  const std::string why = run(*exec.graph);
  for (const auto& condition : exec.conditions) condition->is_running = false;
  return why;
}

std::string GraphRun::run(const Graph& graph) {
  for (const Node* node : order_of(graph)) {
    if (const std::string why = run(*node); !why.empty()) return why;
  }
  return "";
}

std::string GraphRun::run(const Node& node) {
  switch (node.type) {
    case cudaGraphNodeTypeKernel:
      return run_kernel(node.launch);
    case cudaGraphNodeTypeMemcpy:
      return node.copy.run();
    case cudaGraphNodeTypeMemset:
      return node.fill.run();
    case cudaGraphNodeTypeConditional:
      return node.condition_type == cudaGraphCondTypeWhile ? repeat(node) : choose(node);
    default:
      return "";
  }
}

std::string GraphRun::choose(const Node& node) {
  u32 value = 0;
  if (!node.condition->read(value)) return NOT_SET;
  const std::size_t body = value != 0 ? 0 : 1;
  return body < node.bodies.size() ? run(*node.bodies[body]) : "";
}

// A body that changes nothing will not change its condition next time either.
std::string GraphRun::repeat(const Node& node) {
  for (int idle = 0; idle < IDLE_TURNS;) {
    u32 value = 0;
    if (!node.condition->read(value)) return NOT_SET;
    if (value == 0) return "";
    const u64 changes = memory_changes;
    if (const std::string why = run(*node.bodies[0]); !why.empty()) return why;
    idle = memory_changes == changes ? idle + 1 : 0;
  }
  return "a WHILE node goes on for ever: its body changes nothing";
}

std::vector<const Node*> GraphRun::order_of(const Graph& graph) {
  std::vector<const Node*> left, done;
  for (const auto& node : graph.nodes) left.push_back(node.get());
  if (settings.seed == 0) return left;
  while (!left.empty()) {
    std::shuffle(left.begin(), left.end(), chance_);
    const auto next = std::find_if(left.begin(), left.end(),
                                   [&done](const Node* node) { return is_ready(*node, done); });
    done.push_back(*next);
    left.erase(next);
  }
  return done;
}

}  // namespace emulator
