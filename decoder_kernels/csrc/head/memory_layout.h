// Where the numbers lie that a lane's predictor remembers, on all devices alike.
#pragma once

namespace earshot {

// Floats; parts begin sixteen floats apart: joint and hidden are J and H rounded up to that.
struct MemoryLayout {
  int joint;
  int hidden;
  int layers;

  static constexpr int SAID = 0;
  static constexpr MemoryLayout of(int joint, int hidden, int layers) {
    return {padded(joint), padded(hidden), layers};
  }

  constexpr int hidden_of(int layer) const { return joint + 2 * layer * hidden; }
  constexpr int cell_of(int layer) const { return hidden_of(layer) + hidden; }
  constexpr int skipped_blank() const { return hidden_of(layers); }
  constexpr int size() const { return skipped_blank() + 1; }

 private:
  static constexpr int padded(int size) { return (size + 15) / 16 * 16; }
};

}  // namespace earshot
