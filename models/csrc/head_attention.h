// What one head of attention makes of some rows that look at the same columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "dense/floats.h"
#include "dense/sum_tile.h"

namespace earshot::EARSHOT_PROCESSOR {

// A key and a value of d_k numbers, and what is added to the key's product with a query.
struct Column {
  const float* key;
  const float* value;
  float bias;
};

// Columns from..to-1, at least one.
struct Span {
  int from;
  int to;
};

// Which columns a row sees: of `all` the oldest, at least one, and from row to row `more`.
struct Sight {
  int all;
  int first;
  int more;

  Span of(int row) const { return {0, std::min(all, first + more * row)}; }
};

// Keys and values of one head in panels for sums: keys (C / 16, d_k, 16), values (d_k / 16, C, 16).
// `column_at(i)` gives the columns in their order.
class TurnedColumns {
 public:
  template <class ColumnAt>
  void turn(int head_size, int columns, ColumnAt column_at) {
    columns_ = columns;
    width_ = padded(columns);
    keys_.assign(static_cast<std::size_t>(head_size) * width_, 0.0F);
    values_.assign(static_cast<std::size_t>(padded(head_size)) * columns_, 0.0F);
    biases_.assign(width_, 0.0F);
    for (int i = 0; i < columns_; ++i) {
      const Column column = column_at(i);
      float* key = &keys_[static_cast<std::size_t>(i / WIDTH) * WIDTH * head_size + i % WIDTH];
      for (int d = 0; d < head_size; ++d) key[d * WIDTH] = column.key[d];
      for (int d = 0; d < head_size; d += WIDTH) {
        float* value = &values_[(static_cast<std::size_t>(d) / WIDTH * columns_ + i) * WIDTH];
        std::copy_n(column.value + d, std::min(WIDTH, head_size - d), value);
      }
      biases_[i] = column.bias;
    }
  }

  int columns() const { return columns_; }
  int width() const { return width_; }  // columns, and padding that nobody sees
  // Of sixteen columns, from `first` on.
  const float* keys(int first, int head_size) const {
    return &keys_[static_cast<std::size_t>(first) * head_size];
  }
  const float* biases(int first) const { return &biases_[first]; }
  // Sixteen numbers of all values, from `d` on.
  const float* values(int d) const { return &values_[static_cast<std::size_t>(d) * columns_]; }

 private:
  int columns_ = 0;
  int width_ = 0;
  std::vector<float> keys_;
  std::vector<float> values_;
  std::vector<float> biases_;
};

// Columns that were turned before, from `from` on: a multiple of WIDTH.
struct SeenColumns {
  const TurnedColumns& turned;
  int from = 0;

  int columns() const { return turned.columns() - from; }
  int width() const { return turned.width() - from; }
  const float* keys(int first, int head_size) const { return turned.keys(from + first, head_size); }
  const float* biases(int first) const { return turned.biases(from + first); }
  const float* values(int d) const { return turned.values(d) + from * WIDTH; }
};

class HeadAttention {
 public:
  explicit HeadAttention(int head_size) : head_size_(head_size) {}

  // Queries (rows, d_k), `stride` apart; what they see is written over them. `column_at(i)`: the
  // columns in their order.
  template <class ColumnAt>
  void operator()(float* queries, int rows, int stride, Sight sight, ColumnAt column_at) {
    if (rows == 0) return;
    own_.turn(head_size_, sight.all, column_at);
    (*this)(queries, rows, stride, sight, {{own_}});
  }

  // The same of columns that were turned before, side by side; all but the last without padding.
  void operator()(float* queries, int rows, int stride, Sight sight,
                  std::initializer_list<SeenColumns> seen) {
    (*this)(
        queries, rows, stride, seen, [=](int row) { return sight.of(row); }, [](float*, int) {});
  }

  // The same of rows that see the columns `span_of(row)`. `add(scores, width)`: what their scores
  // (rows, width) have beside products of queries and keys.
  template <class SpanOf, class Add>
  void operator()(float* queries, int rows, int stride, std::initializer_list<SeenColumns> seen,
                  SpanOf span_of, Add add) {
    int width = 0;
    for (const SeenColumns& part : seen) width += part.width();
    scores_.resize(static_cast<std::size_t>(rows) * width);
    multiply(queries, rows, stride, seen, width);
    add(scores_.data(), width);
    for (int row = 0; row < rows; ++row) {
      soften(&scores_[static_cast<std::size_t>(row) * width], span_of(row), width);
    }
    mix(queries, rows, stride, seen, width);
  }

 private:
  void multiply(const float* queries, int rows, int stride, std::initializer_list<SeenColumns> seen,
                int width) {
    float* to = scores_.data();
    for (const SeenColumns& part : seen) {
      for (int first = 0; first < part.width(); first += WIDTH, to += WIDTH) {
        sum_column(queries, rows, stride, part.keys(first, head_size_), head_size_,
                   part.biases(first), to, width);
      }
    }
  }

  void soften(float* scores, Span seen, int width) const {
    std::fill(scores, scores + seen.from, -std::numeric_limits<float>::infinity());
    std::fill(scores + seen.to, scores + width, -std::numeric_limits<float>::infinity());
    const float scale = 1.0F / std::sqrt(static_cast<float>(head_size_));
    Floats most = load(scores);
    for (int i = WIDTH; i < width; i += WIDTH) most = larger(load(scores + i), most);
    const float most_of_all = largest(most);
    Floats total{};
    for (int i = 0; i < width; i += WIDTH) {
      const Floats power = exponential((load(scores + i) + -most_of_all) * scale);
      store(scores + i, power);
      total = total + power;
    }
    const float factor = 1.0F / sum(total);
    for (int i = 0; i < width; i += WIDTH) store(scores + i, load(scores + i) * factor);
  }

  void mix(float* mixes, int rows, int stride, std::initializer_list<SeenColumns> seen, int width) {
    static constexpr float NOTHING[WIDTH] = {};
    mixed_.resize(static_cast<std::size_t>(rows) * WIDTH);
    for (int d = 0; d < head_size_; d += WIDTH) {
      const float* scores = scores_.data();
      for (const SeenColumns& part : seen) {
        std::vector<float>& sums = &part == seen.begin() ? mixed_ : further_;
        sums.resize(mixed_.size());
        sum_column(scores, rows, width, part.values(d), part.columns(), NOTHING, sums.data(),
                   WIDTH);
        if (&part != seen.begin()) add_further();
        scores += part.width();
      }
      for (int row = 0; row < rows; ++row) {
        std::copy_n(&mixed_[row * WIDTH], std::min(WIDTH, head_size_ - d),
                    mixes + row * stride + d);
      }
    }
  }

  void add_further() {
    for (std::size_t i = 0; i < mixed_.size(); i += WIDTH) {
      store(&mixed_[i], load(&mixed_[i]) + load(&further_[i]));
    }
  }

  int head_size_;
  TurnedColumns own_;
  std::vector<float> scores_;
  std::vector<float> mixed_;
  std::vector<float> further_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
