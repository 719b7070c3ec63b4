#include "ctc_prefixes.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace earshot {
namespace {

constexpr float NEVER = -std::numeric_limits<float>::infinity();

// Best paths by the last label: `ending` in it, `resting` in the blank after it.
struct Paths {
  std::vector<float> ending;
  std::vector<float> resting;

  explicit Paths(int count) : ending(count + 1, NEVER), resting(count + 1, NEVER) {}
};

}  // namespace

void score_prefixes(const float* log_probs, int frames, int units, const std::int64_t* labels,
                    int count, std::int64_t blank, float* scores) {
  Paths paths(count);
  paths.resting[0] = 0.0F;
  for (int frame = 0; frame < frames; ++frame) {
    const float* row = log_probs + static_cast<std::ptrdiff_t>(frame) * units;
    for (int i = count; i >= 1; --i) {  // what is left of `i` is still the frame before
      const float rest = std::max(paths.ending[i], paths.resting[i]);
      const bool repeats = i >= 2 && labels[i - 1] == labels[i - 2];
      const float before =
          repeats ? paths.resting[i - 1] : std::max(paths.resting[i - 1], paths.ending[i - 1]);
      paths.ending[i] = std::max(paths.ending[i], before) + row[labels[i - 1]];
      paths.resting[i] = rest + row[blank];
    }
    paths.resting[0] += row[blank];
  }
  for (int i = 0; i <= count; ++i) scores[i] = std::max(paths.ending[i], paths.resting[i]);
}

}  // namespace earshot
