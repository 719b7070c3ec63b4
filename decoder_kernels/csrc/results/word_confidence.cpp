#include "results/word_confidence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace earshot {

namespace {

// The arcs that end in each node: those of node n are arcs[firsts[n]] and on, before firsts[n + 1].
struct ArcsByNode {
  std::vector<int> firsts;
  std::vector<int> arcs;

  ArcsByNode(std::span<const std::int32_t> nodes, std::size_t num_nodes)
      : firsts(num_nodes + 1), arcs(nodes.size()) {
    for (const int node : nodes) ++firsts[node + 1];
    for (std::size_t node = 0; node < num_nodes; ++node) firsts[node + 1] += firsts[node];
    std::vector<int> next = firsts;
    for (std::size_t arc = 0; arc < nodes.size(); ++arc) {
      arcs[next[nodes[arc]]++] = static_cast<int>(arc);
    }
  }
};

// Log of the weight of all paths over the arcs of one node, each after what is before the arc.
double log_sum(std::span<const int> arcs, std::span<const std::int32_t> before,
               const std::vector<double>& sums, const std::vector<double>& scores) {
  double most = -std::numeric_limits<double>::infinity();
  for (const int arc : arcs) most = std::max(most, sums[before[arc]] + scores[arc]);
  double total = 0.0;
  for (const int arc : arcs) total += std::exp(sums[before[arc]] + scores[arc] - most);
  return most + std::log(total);
}

// Log of the weight of all paths between each node and the one that has no arcs.
std::vector<double> path_sums(std::span<const std::int32_t> nodes,
                              std::span<const std::int32_t> before,
                              const std::vector<double>& scores, std::size_t num_nodes,
                              bool backward) {
  const ArcsByNode by_node(nodes, num_nodes);
  std::vector<double> sums(num_nodes);
  for (std::size_t i = 0; i < num_nodes; ++i) {
    const std::size_t node = backward ? num_nodes - 1 - i : i;
    const int first = by_node.firsts[node];
    const int stop = by_node.firsts[node + 1];
    if (first == stop) continue;
    const std::span<const int> arcs(by_node.arcs.data() + first,
                                    static_cast<std::size_t>(stop - first));
    sums[node] = log_sum(arcs, before, sums, scores);
  }
  return sums;
}

}  // namespace

std::vector<double> arc_posteriors(const LatticeView& lattice, double scale) {
  const std::size_t num_nodes = lattice.frames.size();
  std::vector<double> scores;
  for (const double cost : lattice.costs) scores.push_back(-scale * cost);
  const auto forward = path_sums(lattice.targets, lattice.sources, scores, num_nodes, false);
  const auto backward = path_sums(lattice.sources, lattice.targets, scores, num_nodes, true);
  std::vector<double> posteriors;
  for (std::size_t arc = 0; arc < scores.size(); ++arc) {
    const double through =
        forward[lattice.sources[arc]] + scores[arc] + backward[lattice.targets[arc]];
    posteriors.push_back(std::min(std::exp(through - forward.back()), 1.0));
  }
  return posteriors;
}

WordConfidences::WordConfidences(const LatticeView& lattice, double scale, double coverage)
    : end_(lattice.frames.back()), coverage_(coverage) {
  const std::vector<double> posteriors = arc_posteriors(lattice, scale);
  for (std::size_t arc = 0; arc < posteriors.size(); ++arc) {
    const int start = lattice.frames[lattice.sources[arc]];
    const int stop = std::max(lattice.frames[lattice.targets[arc]], start + 1);
    spans_.push_back(Span{lattice.words[arc], start, stop, posteriors[arc]});
  }
  std::ranges::stable_sort(spans_, {}, &Span::word);
}

std::vector<double> WordConfidences::of(std::span<const int> words,
                                        std::span<const int> frames) const {
  std::vector<double> confidences;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int next = i + 1 < frames.size() ? frames[i + 1] : end_;
    confidences.push_back(coverage_ * most(words[i], frames[i], std::max(next, frames[i] + 1)));
  }
  return confidences;
}

// The largest share of paths that have the word in one of these frames.
double WordConfidences::most(int word, int start, int stop) const {
  std::vector<double> changes(static_cast<std::size_t>(stop - start) + 1);
  const auto same = std::ranges::equal_range(spans_, word, {}, &Span::word);
  for (const Span& span : same) {
    if (span.start >= stop || span.stop <= start) continue;
    changes[std::max(span.start - start, 0)] += span.posterior;
    changes[std::min(span.stop, stop) - start] -= span.posterior;
  }
  changes.pop_back();
  double now = 0.0;
  double most = 0.0;
  for (const double change : changes) most = std::max(most, now += change);
  // For rounding, and for paths on which a word leaves twice in one frame.
  return std::min(most, 1.0);
}

}  // namespace earshot
