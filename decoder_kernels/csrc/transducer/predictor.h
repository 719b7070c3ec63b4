// The prediction network over packed rows: an LSTM over labels (Graves 2012, section 2.2).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dense/packed_linear.h"
#include "dense/rows.h"
#include "head/memory_layout.h"
#include "transducer/loop_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

// A lane that has found a label, and what it remembers (`Predictor::memory_size`).
struct Saying {
  int token;
  float* memory;
};

// One layer's gates, side by side, each of padded(H) columns.
class LstmLayer {
 public:
  // Of a layer that `hears` its input; the first one may have a table of that instead.
  LstmLayer(const LstmWeights& weights, bool hears)
      : hidden_(weights.from_hidden.inputs), gates_(joined(weights, hears)) {}

  static constexpr int GATES = 4;

  // `said(row, column)` is what is added to gates: what the table has.
  template <class Said>
  void operator()(const Rows& heard, int count, Rows& gates, Said said) const {
    gates_(heard.numbers.get(), count, heard.stride, [&](int row, int column, const Floats& sums) {
      store(gates[row] + column, said(row, column, sums));
    });
  }

  // Hidden and cell of one row, which are overwritten, after its gates.
  void remember(const float* gates, float* hidden, float* cell) const {
    const int size = padded(hidden_);
    for (int i = 0; i < size; i += WIDTH) {
      const Floats enter = sigmoid(load(gates + i));
      const Floats keep = sigmoid(load(gates + size + i));
      const Floats fresh = tanh(load(gates + 2 * size + i));
      const Floats tell = sigmoid(load(gates + 3 * size + i));
      const Floats kept = keep * load(cell + i) + enter * fresh;
      store(cell + i, kept);
      store(hidden + i, tell * tanh(kept));
    }
  }

 private:
  // Weights of (input, hidden) rows, or of hidden ones alone, whose gates begin sixteen columns
  // apart; what is between them stays zero.
  static LinearWeights joined(const LstmWeights& weights, bool hears) {
    const int hidden = weights.from_hidden.inputs, size = padded(hidden);
    const int inputs = hears ? weights.from_input.inputs : 0;
    LinearWeights all{GATES * size, inputs + hidden, {}, {}};
    all.weight.resize(static_cast<std::size_t>(all.outputs) * all.inputs);
    all.bias.resize(all.outputs);
    for (int gate = 0; gate < GATES; ++gate) {
      for (int i = 0; i < hidden; ++i) {
        const auto from = static_cast<std::size_t>(gate) * hidden + i;
        const auto to = static_cast<std::size_t>(gate) * size + i;
        float* row = &all.weight[to * all.inputs];
        if (hears) row = std::copy_n(&weights.from_input.weight[from * inputs], inputs, row);
        std::copy_n(&weights.from_hidden.weight[from * hidden], hidden, row);
        if (hears) all.bias[to] = weights.from_input.bias[from] + weights.from_hidden.bias[from];
      }
    }
    return all;
  }

  int hidden_;
  PackedLinear gates_;
};

class Predictor {
 public:
  explicit Predictor(const LoopWeights& weights)
      : inputs_(weights.lstm.front().from_input.inputs),
        layout_(MemoryLayout::of(weights.predictor.outputs, weights.hidden(),
                                 static_cast<int>(weights.lstm.size()))),
        hidden_(weights.hidden()),
        project_(weights.predictor) {
    const auto labels = static_cast<std::size_t>(weights.labels.outputs);
    const bool fits = labels * LstmLayer::GATES * layout_.hidden <= MOST_IN_TABLE;
    for (const LstmWeights& each : weights.lstm) {
      layers_.emplace_back(each, !layers_.empty() || !fits);
    }
    if (fits) {
      tabulate(weights);
    } else {
      embedding_ = weights.embedding;
    }
  }

  const MemoryLayout& layout() const { return layout_; }

  // Each row hears its label, and remembers what it says now.
  void operator()(std::span<const Saying> rows) const {
    const int count = static_cast<int>(rows.size());
    Rows heard(count, std::max(inputs_, hidden_) + hidden_);
    Rows gates(count, LstmLayer::GATES * layout_.hidden);
    for (int layer = 0; layer < layout_.layers; ++layer) {
      hear(rows, layer, heard);
      layers_[layer](heard, count, gates, [&](int row, int column, const Floats& sums) {
        return layer == 0 && !table_.empty() ? sums + load(tabulated(rows[row].token) + column)
                                             : sums;
      });
      for (int row = 0; row < count; ++row) {
        float* memory = rows[row].memory;
        layers_[layer].remember(gates[row], memory + layout_.hidden_of(layer),
                                memory + layout_.cell_of(layer));
      }
    }
    say(rows, heard);
  }

 private:
  static constexpr std::size_t MOST_IN_TABLE = 1 << 23;  // floats: 32 MB

  // What the first layer's gates have of each label, which the weights of its input are then no
  // longer needed for.
  void tabulate(const LoopWeights& weights) {
    const LstmWeights& first = weights.lstm.front();
    const int labels = weights.labels.outputs, columns = LstmLayer::GATES * layout_.hidden;
    table_.resize(static_cast<std::size_t>(labels) * columns);
    const PackedLinear gates(first.from_input);
    Rows found(labels, gates.columns());
    gates(weights.embedding.data(), labels, inputs_,
          [&](int row, int column, const Floats& sums) { store(found[row] + column, sums); });
    for (int label = 0; label < labels; ++label) {
      for (int gate = 0; gate < LstmLayer::GATES; ++gate) {
        float* to = &table_[static_cast<std::size_t>(label) * columns + gate * layout_.hidden];
        for (int i = 0; i < hidden_; ++i) {
          to[i] = found[label][gate * hidden_ + i] + first.from_hidden.bias[gate * hidden_ + i];
        }
      }
    }
  }

  const float* tabulated(int token) const {
    return &table_[static_cast<std::size_t>(token) * LstmLayer::GATES * layout_.hidden];
  }

  // Rows of a layer's input and of what it said last.
  void hear(std::span<const Saying> rows, int layer, Rows& heard) const {
    for (int row = 0; row < heard.count; ++row) {
      const float* memory = rows[row].memory;
      float* to = heard[row];
      if (layer > 0) {
        to = std::copy_n(memory + layout_.hidden_of(layer - 1), hidden_, to);
      } else if (table_.empty()) {
        const auto first = static_cast<std::size_t>(rows[row].token) * inputs_;
        to = std::copy_n(&embedding_[first], inputs_, to);
      }
      std::copy_n(memory + layout_.hidden_of(layer), hidden_, to);
    }
  }

  void say(std::span<const Saying> rows, Rows& heard) const {
    const int last = layout_.hidden_of(layout_.layers - 1);
    for (int row = 0; row < heard.count; ++row) {
      std::copy_n(rows[row].memory + last, hidden_, heard[row]);
    }
    project_(heard.numbers.get(), heard.count, heard.stride,
             [&](int row, int column, const Floats& sums) {
               store(rows[row].memory + MemoryLayout::SAID + column, sums);
             });
  }

  int inputs_;
  MemoryLayout layout_;
  int hidden_;
  std::vector<LstmLayer> layers_;
  PackedLinear project_;
  std::vector<float> table_;      // (V + 1, 4 padded(H)), or
  std::vector<float> embedding_;  // (V + 1, inputs)
};

}  // namespace earshot::EARSHOT_PROCESSOR
