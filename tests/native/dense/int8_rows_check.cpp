// Layers that were stored as int8 a row against a plain loop, bit by bit, and layers that nearly
// were; holds where they agree. packed_layer_checks.cpp includes it.
#include <cstdio>
#include <random>

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"
#include "plain_sums.h"

namespace earshot::EARSHOT_PROCESSOR::int8_rows_check {
namespace {

using Random = std::mt19937;
using Numbers = std::vector<float>;

struct Stored {
  std::vector<int> numbers;  // (outputs, inputs), 127 or -127 among those of each row
  Numbers scales;            // (outputs,)
};

Stored drawn(int outputs, int inputs, Random& random) {
  Stored stored;
  std::lognormal_distribution<float> scale(-6.0F, 2.0F);
  for (int output = 0; output < outputs; ++output) {
    for (int i = 0; i < inputs; ++i) {
      stored.numbers.push_back(static_cast<int>(random() % 255) - 127);
    }
    stored.numbers[output * inputs + random() % inputs] = random() % 2 == 0 ? 127 : -127;
    stored.scales.push_back(scale(random));
  }
  return stored;
}

LinearWeights weights_of(const Stored& stored, int inputs, Precision precision, Random& random) {
  const int outputs = static_cast<int>(stored.scales.size());
  LinearWeights weights{outputs, inputs, Numbers(stored.numbers.size()), Numbers(outputs),
                        precision};
  for (std::size_t i = 0; i < weights.weight.size(); ++i) {
    weights.weight[i] = static_cast<float>(stored.numbers[i]) * stored.scales[i / inputs];
  }
  std::normal_distribution<float> normal;
  for (float& each : weights.bias) each = normal(random);
  return weights;
}

Numbers drawn_rows(std::size_t count, Random& random) {
  std::normal_distribution<float> normal;
  Numbers rows(count);
  for (float& each : rows) each = normal(random);
  return rows;
}

template <class Linear>
Numbers outputs_of(const Linear& layer, const Numbers& rows, int count) {
  Numbers found(static_cast<std::size_t>(count) * layer.columns());
  layer(rows.data(), count, static_cast<int>(rows.size()) / count,
        [&](int row, int column, const Floats& values) {
          store(&found[static_cast<std::size_t>(row) * layer.columns() + column], values);
        });
  return found;
}

float expected(const Stored& stored, const LinearWeights& weights, int output, const float* row) {
  const int* own = &stored.numbers[static_cast<std::size_t>(output) * weights.inputs];
  const float scale = largest_weight(weights, output) / 127.0F;
  float sum = weights.bias[output] / scale;
  for (int i = 0; i < weights.inputs; i += 2) {
    for (const int input : {i + 1, i}) {
      if (input < weights.inputs) {
        sum = added(sum, static_cast<float>(own[input]), rounded(row[input]));
      }
    }
  }
  return sum * scale;
}

bool stored_rows_hold(Random& random) {
  for (int i = 0; i < 200; ++i) {
    const int rows = 1 + static_cast<int>(random() % 30);
    const int inputs = 1 + static_cast<int>(random() % 150);
    const int outputs = 1 + static_cast<int>(random() % 90);
    const Stored stored = drawn(outputs, inputs, random);
    const LinearWeights weights = weights_of(stored, inputs, Precision::BFLOAT16, random);
    const PackedLinear layer(weights);
    const Numbers given = drawn_rows(static_cast<std::size_t>(rows) * inputs, random);
    const Numbers found = outputs_of(layer, given, rows);
    for (int row = 0; row < rows; ++row) {
      for (int output = 0; output < outputs; ++output) {
        const float own = expected(stored, weights, output, &given[row * inputs]);
        if (!same(found[row * layer.columns() + output], own)) {
          std::fprintf(stderr, "%d inputs, output %d: %a for %a\n", inputs, output,
                       found[row * layer.columns() + output], own);
          return false;
        }
      }
    }
  }
  return true;
}

// One weight that is no whole number of its row's scales, or no number, is kept as bfloat16.
bool others_stay_bfloat16(Random& random) {
  for (const float moved : {0.01F, -0.4F, std::nanf("")}) {
    Stored stored = drawn(9, 40, random);
    LinearWeights weights = weights_of(stored, 40, Precision::BFLOAT16, random);
    float& weight = weights.weight[5 * 40 + 7];
    weight = stored.scales[5] * (50.0F + moved);
    const Numbers given = drawn_rows(std::size_t{3} * 40, random);
    const Numbers found = outputs_of(PackedLinear(weights), given, 3);
    const Numbers own = outputs_of(PackedLayer<Bfloat16>(weights), given, 3);
    if (!std::ranges::equal(found, own, same)) {
      std::fprintf(stderr, "a weight %g scales away from a whole number\n", moved);
      return false;
    }
  }
  return true;
}

bool float32_stays_float32(Random& random) {
  const LinearWeights weights = weights_of(drawn(9, 40, random), 40, Precision::FLOAT32, random);
  const Numbers given = drawn_rows(std::size_t{3} * 40, random);
  return outputs_of(PackedLinear(weights), given, 3) ==
         outputs_of(PackedLayer<float>(weights), given, 3);
}

bool zeros_hold() {
  const LinearWeights zeros{3, 5, Numbers(15), Numbers{1.0F, 2.0F, -3.0F}, Precision::BFLOAT16};
  const Numbers found = outputs_of(PackedLinear(zeros), Numbers(5, 2.0F), 1);
  return found[0] == 1.0F && found[1] == 2.0F && found[2] == -3.0F;
}

}  // namespace

bool check() {
  Random random(1);
  return stored_rows_hold(random) && others_stay_bfloat16(random) &&
         float32_stays_float32(random) && zeros_hold();
}

}  // namespace earshot::EARSHOT_PROCESSOR::int8_rows_check
