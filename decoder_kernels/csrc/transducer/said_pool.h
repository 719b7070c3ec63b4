// What the predictor remembers after each beginning of a text that a lane's hypotheses share.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace earshot::EARSHOT_PROCESSOR {

// A beginning is the one before it and a label. Hypotheses that part and meet again, or that say
// the same label a frame later, ask the predictor once.
class SaidPool {
 public:
  explicit SaidPool(int size) : size_(size) {}

  static constexpr int NOBODY = -1;

  // A beginning of which the predictor has spoken.
  int add(const float* memory) {
    const int place = taken(NOBODY, NOBODY);
    std::copy_n(memory, size_, row(place));
    said_[place].spoken = true;
    return place;
  }

  // What was said before `label`, and it; the predictor may not have heard it yet.
  int after(int before, int label) {
    for (int place = 0; place < static_cast<int>(said_.size()); ++place) {
      if (said_[place].before == before && said_[place].label == label) return place;
    }
    const int place = taken(before, label);
    std::copy_n(row(before), size_, row(place));
    return place;
  }

  float* row(int place) { return said_[place].memory.get(); }
  int label(int place) const { return said_[place].label; }

  // True the first time.
  bool to_be_spoken(int place) { return !std::exchange(said_[place].spoken, true); }

  // Whether so many have come together that it is time to forget some.
  bool full() const { return static_cast<int>(said_.size() - free_.size()) > most_; }

  // Keeps those in use and what was said right after them.
  void keep(std::span<const int> used) {
    const auto in_use = [&](int place) { return std::ranges::find(used, place) != used.end(); };
    for (int place = 0; place < static_cast<int>(said_.size()); ++place) {
      Said& said = said_[place];
      if (said.gone || in_use(place) || in_use(said.before)) continue;
      said.gone = true;
      said.before = said.label = NOBODY;
      free_.push_back(place);
    }
    for (Said& said : said_) {
      if (said.before != NOBODY && said_[said.before].gone) said.before = NOBODY;
    }
    most_ = std::max(LEAST, 2 * static_cast<int>(said_.size() - free_.size()));
  }

 private:
  static constexpr int LEAST = 32;

  struct Said {
    int before;
    int label;
    bool spoken = false;
    bool gone = false;
    std::unique_ptr<float[]> memory;
  };

  int taken(int before, int label) {
    if (free_.empty()) {
      said_.push_back(
          {before, label, false, false, std::make_unique_for_overwrite<float[]>(size_)});
      return static_cast<int>(said_.size()) - 1;
    }
    const int place = free_.back();
    free_.pop_back();
    Said& said = said_[place];
    said = {before, label, false, false, std::move(said.memory)};
    return place;
  }

  int size_;
  int most_ = LEAST;
  std::vector<Said> said_;
  std::vector<int> free_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
