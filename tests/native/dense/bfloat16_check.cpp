// Layers of bfloat16 weights against a plain loop that rounds as the instruction vdpbf16ps does,
// bit by bit; holds where they agree. packed_layer_checks.cpp includes it.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"
#include "plain_sums.h"

namespace earshot::EARSHOT_PROCESSOR::bfloat16_check {
namespace {

using Random = std::mt19937;
using Numbers = std::vector<float>;
// Draws a number; of one type, as the layers would be unrolled anew for each.
using Draw = std::function<float(Random&)>;

float expected(const LinearWeights& weights, int output, const float* row) {
  const float* own = &weights.weight[static_cast<std::size_t>(output) * weights.inputs];
  float sum = weights.bias[output];
  for (int i = 0; i < weights.inputs; i += 2) {
    if (i + 1 < weights.inputs) sum = added(sum, rounded(own[i + 1]), rounded(row[i + 1]));
    sum = added(sum, rounded(own[i]), rounded(row[i]));
  }
  return sum;
}

LinearWeights drawn(int outputs, int inputs, Random& random, const Draw& number) {
  LinearWeights weights{outputs, inputs, Numbers(static_cast<std::size_t>(outputs) * inputs),
                        Numbers(outputs), Precision::BFLOAT16};
  for (float& each : weights.weight) each = number(random);
  for (float& each : weights.bias) each = number(random);
  return weights;
}

// Rows lie `stride` apart, and what is between them is no number: it must not be read.
bool holds(int rows, int inputs, int outputs, Random& random, const Draw& number) {
  constexpr float BEYOND = -3.0F;
  const LinearWeights weights = drawn(outputs, inputs, random, number);
  const PackedLayer<Bfloat16> layer(weights, BEYOND);
  const int stride = inputs + static_cast<int>(random() % 3);
  Numbers given(static_cast<std::size_t>(rows) * stride, std::nanf(""));
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < inputs; ++i) given[row * stride + i] = number(random);
  }
  std::vector<int> told(static_cast<std::size_t>(rows) * layer.columns());
  bool held = true;
  layer(given.data(), rows, stride, [&](int row, int column, const Floats& values) {
    float found[WIDTH];
    store(found, values);
    for (int i = 0; i < WIDTH; ++i) {
      const int output = column + i;
      ++told[row * layer.columns() + output];
      const float own = output < outputs ? expected(weights, output, &given[row * stride]) : BEYOND;
      const bool spoiled = output >= outputs && std::isnan(found[i]);  // no weight times infinity
      held = held && (same(found[i], own) || spoiled);
    }
  });
  return held && std::ranges::all_of(told, [](int times) { return times == 1; });
}

bool shapes_hold(Random& random) {
  std::normal_distribution<float> normal;
  const auto number = [&](Random& source) { return normal(source); };
  for (int i = 0; i < 150; ++i) {
    const int rows = 1 + static_cast<int>(random() % (i % 10 == 0 ? 230 : 40));
    const int inputs = 1 + static_cast<int>(random() % 150);
    const int outputs = 1 + static_cast<int>(random() % 90);
    if (!holds(rows, inputs, outputs, random, number)) {
      std::fprintf(stderr, "%d rows, %d inputs, %d outputs\n", rows, inputs, outputs);
      return false;
    }
  }
  return true;
}

// Sums that cancel, overflow, become too small to be told from zero, or are none.
bool extremes_hold(Random& random) {
  const auto large = [](Random& source) {
    const float size = std::ldexp(1.0F + static_cast<float>(source() % 1024) / 512.0F,
                                  static_cast<int>(source() % 125) - 62);
    return source() % 2 == 0 ? size : -size;
  };
  const auto any = [](Random& source) {
    const float number = std::bit_cast<float>(static_cast<std::uint32_t>(source()));
    return source() % 16 != 0 && (std::isnan(number) || std::isinf(number)) ? 1.0F : number;
  };
  for (int i = 0; i < 100; ++i) {
    if (!holds(5, 1 + static_cast<int>(random() % 9), 20, random, large)) return false;
    // Others than the instruction need not round products that are too small for floats alike.
    if (BY_INSTRUCTION && !holds(5, 1 + static_cast<int>(random() % 5), 20, random, any)) {
      return false;
    }
  }
  return true;
}

bool every_number_rounds() {
  using Kept = WeightElement<Bfloat16>;
  constexpr std::uint32_t ENDS[] = {0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
  for (std::uint32_t half = 0; half < 0x10000U; ++half) {
    for (const std::uint32_t end : ENDS) {
      const float number = std::bit_cast<float>(half << 16 | end);
      Kept::Given given[2 * Kept::TURNS];
      Kept::give(&number, 1, given);
      const float row = Kept::TURNS == 1
                            ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(given[0]) << 16)
                            : std::bit_cast<float>(given[Kept::TURNS - 1]);
      const float weight = float_of(Kept::packed(number));
      if (!same(weight, rounded(number)) || !same(row, weight)) {
        std::fprintf(stderr, "%a becomes %a among weights, %a in rows\n", number, weight, row);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool check() {
  Random random(1);
  return every_number_rounds() && shapes_hold(random) && extremes_hold(random);
}

}  // namespace earshot::EARSHOT_PROCESSOR::bfloat16_check
