// How sure a lattice is of each word of a hypothesis.
//
// Posterior probability of a word as in Wessel et al. 2001 (Confidence Measures for Large
// Vocabulary Continuous Speech Recognition), their measure C_max: of all paths, weighed by what
// they cost, those that have the word at the same time, in the frame of the hypothesis' word in
// which they are the most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace earshot {

// Nodes' frames, and of each arc source, target, word and cost in nats; source < target.
struct LatticeView {
  std::span<const std::int32_t> frames;
  std::span<const std::int32_t> sources;
  std::span<const std::int32_t> targets;
  std::span<const std::int32_t> words;
  std::span<const double> costs;
};

// The share of all paths that goes through each arc, a path weighing exp(-scale cost): by the
// forward-backward algorithm in the log semiring.
std::vector<double> arc_posteriors(const LatticeView& lattice, double scale);

// How sure one lattice is of the words of any hypothesis.
class WordConfidences {
 public:
  // `scale` multiplies costs, `coverage` posteriors.
  WordConfidences(const LatticeView& lattice, double scale, double coverage);

  // Confidence in 0..1 of each word. A word lasts from its frame until the next one's, a frame at
  // least.
  std::vector<double> of(std::span<const int> words, std::span<const int> frames) const;

 private:
  // A word of the lattice from `start` on, before `stop`.
  struct Span {
    int word;
    int start;
    int stop;
    double posterior;
  };

  double most(int word, int start, int stop) const;

  std::vector<Span> spans_;  // by word, and as in the lattice
  int end_;
  double coverage_;
};

}  // namespace earshot
