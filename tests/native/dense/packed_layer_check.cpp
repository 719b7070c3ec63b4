// Packed layers whose weights are kept in fewer bits, by element types that only this file knows;
// holds where each gives what its rounded weights say. packed_layer_checks.cpp includes it.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <type_traits>

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// The upper half of a float.
struct Short {
  std::uint16_t bits;
};

struct Byte {
  std::int8_t steps;
};

template <class Element, class Convert>
Part converted(const Element* from, Convert convert) {
  constexpr int LENGTH = WIDTH / PARTS;
  float numbers[LENGTH];
  for (int i = 0; i < LENGTH; ++i) numbers[i] = convert(from[i]);
  return load_part(numbers, 0);
}

}  // namespace

template <>
struct WeightElement<Short> : SingleInput {
  static constexpr bool SCALED = false;
  static float scale_of(float) { return 1.0F; }
  static Short packed(float weight) {
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(weight) >> 16)};
  }
  static float number(Short kept) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(kept.bits) << 16);
  }
  static Part unpacked(const Short* from, int) { return converted(from, number); }
};

template <>
struct WeightElement<Byte> : SingleInput {
  static constexpr bool SCALED = true;
  static float scale_of(float largest) { return largest > 0.0F ? largest / 127.0F : 1.0F; }
  static Byte packed(float weight) { return {static_cast<std::int8_t>(std::lround(weight))}; }
  static float number(Byte kept) { return kept.steps; }
  static Part unpacked(const Byte* from, int) { return converted(from, number); }
};

namespace packed_layer_check {
namespace {

constexpr int OUTPUTS = 53, INPUTS = 19, ROWS = 31;

LinearWeights drawn(std::mt19937& random) {
  std::normal_distribution<float> normal;
  LinearWeights weights{OUTPUTS, INPUTS, std::vector<float>(OUTPUTS * INPUTS),
                        std::vector<float>(OUTPUTS)};
  for (float& each : weights.weight) each = normal(random);
  for (float& each : weights.bias) each = normal(random);
  std::fill_n(weights.weight.begin(), INPUTS, 0.0F);  // an output without weights
  return weights;
}

// What an element type makes of the weights of each output.
template <class Element>
std::vector<float> rounded(const LinearWeights& weights) {
  using Kept = WeightElement<Element>;
  std::vector<float> kept;
  for (int output = 0; output < OUTPUTS; ++output) {
    const float* row = &weights.weight[output * INPUTS];
    float largest = 0.0F;
    for (int i = 0; i < INPUTS; ++i) largest = std::max(largest, std::abs(row[i]));
    const float scale = Kept::scale_of(largest);
    for (int i = 0; i < INPUTS; ++i) {
      if constexpr (std::is_same_v<Element, float>) {
        kept.push_back(row[i]);
      } else {
        kept.push_back(scale * Kept::number(Kept::packed(row[i] / scale)));
      }
    }
  }
  return kept;
}

template <class Element>
bool holds(const LinearWeights& weights, const Rows& rows, float most_rounded) {
  const std::vector<float> kept = rounded<Element>(weights);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (std::abs(kept[i] - weights.weight[i]) > most_rounded) return false;
  }
  const PackedLayer<Element> layer(weights);
  Rows found(ROWS, OUTPUTS);
  project(layer, rows, found);
  for (int row = 0; row < ROWS; ++row) {
    for (int output = 0; output < OUTPUTS; ++output) {
      double expected = weights.bias[output];
      for (int i = 0; i < INPUTS; ++i) expected += rows[row][i] * kept[output * INPUTS + i];
      if (std::abs(found[row][output] - expected) > 1e-4) return false;
    }
  }
  return true;
}

}  // namespace

bool check() {
  std::mt19937 random(1);
  const LinearWeights weights = drawn(random);
  Rows rows(ROWS, INPUTS);
  std::vector<float> numbers(INPUTS);
  for (int row = 0; row < ROWS; ++row) {
    for (float& each : numbers) each = std::normal_distribution<float>()(random);
    rows.copy(row, numbers.data(), INPUTS);
  }
  return holds<float>(weights, rows, 0.0F) && holds<Short>(weights, rows, 0.03F) &&
         holds<Byte>(weights, rows, 0.02F);
}

}  // namespace packed_layer_check
}  // namespace earshot::EARSHOT_PROCESSOR
