// CTC forced alignment on the host: short enough that a stream's thread does it in passing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace earshot {

// Log-probabilities (frames, states) of the states blank, token, blank, …, token, blank, row by
// row; `skippable`: of each state, whether it may follow the one before the last.
struct Emissions {
  const float* values;
  int frames;
  int states;
  const std::uint8_t* skippable;

  float at(int frame, int state) const {
    return values[static_cast<std::size_t>(frame) * states + state];
  }
};

// The state of each frame on the best path (Viterbi); of two equal ways the shorter step.
inline std::vector<int> best_path(const Emissions& emissions) {
  constexpr double NEVER = -std::numeric_limits<double>::infinity();
  const int states = emissions.states;
  // Two states before the first, so that the loop over states needs no condition: it is as wide as
  // the machine's vectors.
  std::vector<double> before(states + 2, NEVER), now(before), skips(states, NEVER);
  std::vector<std::uint8_t> steps(static_cast<std::size_t>(emissions.frames) * states);
  for (int state = 0; state < 2; ++state) now[state + 2] = emissions.at(0, state);
  for (int state = 0; state < states; ++state)
    skips[state] = emissions.skippable[state] ? 0 : NEVER;
  for (int frame = 1; frame < emissions.frames; ++frame) {
    before.swap(now);
    const std::size_t row = static_cast<std::size_t>(frame) * states;
    for (int state = 0; state < states; ++state) {
      const double by_two = before[state] + skips[state];
      const double stays = before[state + 2], by_one = before[state + 1];
      const double near = by_one > stays ? by_one : stays;
      steps[row + state] = by_two > near ? 2 : by_one > stays ? 1 : 0;
      now[state + 2] = (by_two > near ? by_two : near) + emissions.values[row + state];
    }
  }
  std::vector<int> path(emissions.frames);
  int state = now[states + 1] >= now[states] ? states - 1 : states - 2;
  for (int frame = emissions.frames - 1; frame >= 0; --frame) {
    path[frame] = state;
    state -= steps[static_cast<std::size_t>(frame) * states + state];
  }
  return path;
}

// For each token the first frame, among those that the path gives it, where it is likeliest; -1 for
// a token that is on no path.
inline void find_peaks(const Emissions& emissions, std::int64_t* peaks) {
  for (int token = 0; token < emissions.states / 2; ++token) peaks[token] = -1;
  const std::vector<int> path = best_path(emissions);
  for (int frame = 0; frame < emissions.frames; ++frame) {
    if (path[frame] % 2 == 0) continue;
    std::int64_t& peak = peaks[path[frame] / 2];
    if (peak >= 0 &&
        emissions.at(frame, path[frame]) <= emissions.at(static_cast<int>(peak), path[frame])) {
      continue;
    }
    peak = frame;
  }
}

}  // namespace earshot
