// A launch of a graph: its nodes one after the other, in an order that the seed chooses among
// those that their dependencies allow.
#pragma once

#include <random>
#include <string>

#include "graph.h"

namespace emulator {

class GraphRun {
 public:
  explicit GraphRun(u64 seed) : chance_(seed) {}
  // Returns what went wrong, or nothing.
  std::string run(const GraphExec& exec);

 private:
  std::string run(const Graph& graph);
  std::string run(const Node& node);
  std::string choose(const Node& node);
  std::string repeat(const Node& node);
  std::vector<const Node*> order_of(const Graph& graph);

  std::mt19937_64 chance_;
};

}  // namespace emulator
