// Layers of int8 weights and rows of 16 or 8 bits against a plain loop of whole numbers, bit by
// bit; holds where they agree. packed_layer_checks.cpp includes it.
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"
#include "plain_sums.h"

namespace earshot::EARSHOT_PROCESSOR::int8_products_check {
namespace {

using Random = std::mt19937;
using Numbers = std::vector<float>;
// Draws a number; of one type, as the layers would be unrolled anew for each.
using Draw = std::function<float(Random&)>;

constexpr float LEAST = 1e-33F, LARGEST_WEIGHT = 127.0F;

// Numbers as whole ones, and their scale; none is finite where one is not.
struct Scaled {
  std::vector<int> numbers;
  float scale;
};

// The largest whole number of a row: no larger than its bits hold, or than all inputs at it with
// the largest weights leave a sum room for.
float largest_of(Precision precision, int inputs) {
  constexpr double SUMS = 2147483647.0;
  const double bits = precision == Precision::W8A8 ? 127.0 : 32767.0;
  return static_cast<float>(std::min(bits, std::floor(SUMS / (127.0 * inputs))));
}

Scaled scaled(const float* from, int count, float largest) {
  float most = 0.0F;
  for (int i = 0; i < count; ++i) {
    if (!std::isfinite(from[i])) return {std::vector<int>(count), std::nanf("")};
    most = std::max(most, std::abs(from[i]));
  }
  Scaled found{std::vector<int>(count), most < LEAST ? 0.0F : most / largest};
  return found;
}

Scaled scaled_row(const float* row, Precision precision, int inputs) {
  const float largest = largest_of(precision, inputs);
  Scaled found = scaled(row, inputs, largest);
  if (!(found.scale > 0.0F)) return found;
  float most = 0.0F;
  for (int i = 0; i < inputs; ++i) most = std::max(most, std::abs(row[i]));
  const volatile float factor = largest / most;
  for (int i = 0; i < inputs; ++i) {
    const volatile float product = row[i] * factor;
    found.numbers[i] = static_cast<int>(std::nearbyint(product));
  }
  return found;
}

Scaled scaled_weights(const LinearWeights& weights, int output) {
  const float* own = &weights.weight[static_cast<std::size_t>(output) * weights.inputs];
  Scaled found = scaled(own, weights.inputs, LARGEST_WEIGHT);
  if (!(found.scale > 0.0F)) return found;
  for (int i = 0; i < weights.inputs; ++i) {
    found.numbers[i] = static_cast<int>(std::nearbyint(own[i] / found.scale));
  }
  return found;
}

float expected(const Scaled& weights, float bias, const Scaled& row) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < row.numbers.size(); ++i) {
    sum += std::int64_t{weights.numbers[i]} * row.numbers[i];
  }
  const volatile float of_weights = static_cast<float>(sum) * weights.scale;
  const volatile float product = of_weights * row.scale;
  return product + bias;
}

LinearWeights drawn(Precision precision, int outputs, int inputs, Random& random,
                    const Draw& number) {
  LinearWeights weights{outputs, inputs, Numbers(static_cast<std::size_t>(outputs) * inputs),
                        Numbers(outputs), precision};
  for (float& each : weights.weight) each = number(random);
  for (float& each : weights.bias) each = number(random);
  return weights;
}

// Rows lie `stride` apart, and what is between them is no number: it must not be read.
bool holds(Precision precision, int rows, int inputs, int outputs, Random& random,
           const Draw& number) {
  constexpr float BEYOND = -3.0F;
  const LinearWeights weights = drawn(precision, outputs, inputs, random, number);
  const PackedLinear layer(weights, BEYOND);
  const int stride = inputs + static_cast<int>(random() % 3);
  Numbers given(static_cast<std::size_t>(rows) * stride, std::nanf(""));
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < inputs; ++i) given[row * stride + i] = number(random);
  }
  std::vector<Scaled> outputs_scaled, rows_scaled;
  for (int i = 0; i < outputs; ++i) outputs_scaled.push_back(scaled_weights(weights, i));
  for (int i = 0; i < rows; ++i) {
    rows_scaled.push_back(scaled_row(&given[i * stride], precision, inputs));
  }
  bool held = true;
  int told = 0;
  layer(given.data(), rows, stride, [&](int row, int column, const Floats& values) {
    float found[WIDTH];
    store(found, values);
    for (int i = 0; i < WIDTH; ++i, ++told) {
      const int output = column + i;
      const float own = output < outputs ? expected(outputs_scaled[output], weights.bias[output],
                                                    rows_scaled[row])
                                         : BEYOND;
      const bool spoiled = output >= outputs && std::isnan(found[i]);  // of a row without a scale
      if (same(found[i], own) || spoiled) continue;
      std::fprintf(stderr, "row %d of %d, output %d of %d, %d inputs: %a for %a\n", row, rows,
                   output, outputs, inputs, found[i], own);
      held = false;
    }
  });
  return held && told == rows * layer.columns();
}

bool shapes_hold(Precision precision, Random& random, const Draw& number) {
  for (int i = 0; i < 80; ++i) {
    const int rows = 1 + static_cast<int>(random() % (i % 10 == 0 ? 230 : 40));
    const int inputs = 1 + static_cast<int>(random() % 150);
    const int outputs = 1 + static_cast<int>(random() % 90);
    if (!holds(precision, rows, inputs, outputs, random, number)) return false;
  }
  return true;
}

// Rows and weights at both ends of their range, as wide as layers are.
bool ends_hold(Precision precision, Random& random) {
  const auto end = [](Random& source) { return source() % 2 == 0 ? 2.0F : -2.0F; };
  const auto high = [](Random&) { return 2.0F; };
  for (const int inputs : {516, 517, 4096, 5120, 20480}) {
    if (!holds(precision, 13, inputs, 40, random, end)) return false;
    if (!holds(precision, 3, inputs, 17, random, high)) return false;
  }
  return true;
}

bool check_of(Precision precision) {
  Random random(1);
  std::normal_distribution<float> normal;
  const auto usual = [&](Random& source) { return normal(source); };
  const auto halves = [](Random& source) {
    return static_cast<float>(static_cast<int>(source() % 255) - 127) / 2.0F;
  };
  const auto wide = [](Random& source) {
    const float size = std::ldexp(1.0F, static_cast<int>(source() % 60) - 30);
    return source() % 3 == 0 ? 0.0F : source() % 2 == 0 ? size : -size;
  };
  const auto tiny = [](Random& source) {
    return std::ldexp(1.0F, -static_cast<int>(source() % 40) - 90);
  };
  const auto sometimes_none = [&](Random& source) {
    const auto chance = source() % 200;
    if (chance == 0) return std::nanf("");
    return chance == 1 ? std::numeric_limits<float>::infinity() : normal(source);
  };
  return shapes_hold(precision, random, usual) && shapes_hold(precision, random, halves) &&
         shapes_hold(precision, random, wide) && shapes_hold(precision, random, tiny) &&
         shapes_hold(precision, random, sometimes_none) && ends_hold(precision, random);
}

}  // namespace

bool check() {
  const bool wide = check_of(Precision::INT8), narrow = check_of(Precision::W8A8);
  if (!wide) std::fprintf(stderr, "int8 layers give other sums for rows of 16 bits\n");
  if (!narrow) std::fprintf(stderr, "int8 layers give other sums for rows of 8 bits\n");
  return wide && narrow;
}

}  // namespace earshot::EARSHOT_PROCESSOR::int8_products_check
