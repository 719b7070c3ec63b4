// How fast a linear layer's products are: GFLOP/s of one thread in float32 and in bfloat16, whose
// weights come from beyond the second cache. `precision.py` compiles it for each kind of processor.
//
// Arguments: rows, inputs, outputs, as often as there are shapes.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "dense/packed_linear.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

constexpr double WEIGHTS_BYTES = 12e6, ROUND_S = 0.05;
constexpr int ROUNDS = 5;

double thread_s() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

LinearWeights drawn(int outputs, int inputs, Precision precision) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  LinearWeights weights{outputs, inputs,
                        std::vector<float>(static_cast<std::size_t>(outputs) * inputs),
                        std::vector<float>(outputs), precision};
  for (float& each : weights.weight) each = normal(random);
  return weights;
}

// The fastest of the rounds.
double gflops(int rows, int inputs, int outputs, Precision precision) {
  const double bytes = 4.0 * inputs * outputs, flops = 2.0 * rows * inputs * outputs;
  std::vector<PackedLinear> layers;
  do {
    layers.emplace_back(drawn(outputs, inputs, precision));
  } while (static_cast<double>(layers.size()) * bytes < WEIGHTS_BYTES);
  Rows from(rows, inputs), to(rows, outputs);
  std::fill_n(from.numbers.get(), static_cast<std::size_t>(rows) * from.stride, 0.5F);
  double best = 0.0;
  for (int round = 0; round < ROUNDS; ++round) {
    const double began = thread_s();
    double done = 0.0;
    while (thread_s() - began < ROUND_S) {
      for (const PackedLinear& layer : layers) project(layer, from, to);
      done += flops * static_cast<double>(layers.size());
    }
    best = std::max(best, done / (thread_s() - began));
  }
  return best / 1e9;
}

}  // namespace
}  // namespace earshot::EARSHOT_PROCESSOR

int main(int count, char** arguments) {
  using namespace earshot::EARSHOT_PROCESSOR;
  for (int i = 1; i + 2 < count; i += 3) {
    const int rows = std::atoi(arguments[i]), inputs = std::atoi(arguments[i + 1]);
    const int outputs = std::atoi(arguments[i + 2]);
    std::printf("%.0f %.0f\n", gflops(rows, inputs, outputs, earshot::Precision::FLOAT32),
                gflops(rows, inputs, outputs, earshot::Precision::BFLOAT16));
  }
}
