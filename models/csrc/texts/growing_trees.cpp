#include "growing_trees.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "../attention_layers.h"
#include "../conformer_branches.h"
#include "../head_attention.h"
#include "output_blocks.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// Rows that are added to and stay.
struct KeptRows {
  std::vector<float> numbers;

  void add(const Rows& from, int first, int count) {
    numbers.insert(numbers.end(), from[first], from[first] + std::ptrdiff_t{count} * from.stride);
  }
};

using Heard = std::vector<TurnedColumns>;  // of a memory, for each head

struct KeptLayer {
  KeptRows keys;
  KeptRows values;
  Heard heard;
};

class Tree : public GrownTree {
 public:
  explicit Tree(int layers) : layers(layers) {}
  int nodes() const override { return static_cast<int>(totals.size()); }

  std::vector<KeptLayer> layers;
  KeptRows followed;          // what follows each node, before the output
  std::vector<float> totals;  // of each node, the logarithm of what its outputs sum up to
};

Tree& own(GrownTree* tree) {
  return static_cast<Tree&>(*tree);
}

// Some of the trees that grow: their new nodes are the rows.
struct Work {
  const TreeGrowth& growth;
  int first_tree;
  int trees;
  int first_row;
  Rows x;
  Rows normed;

  Work(const TreeGrowth& all, int first, int count, int size)
      : growth(all),
        first_tree(first),
        trees(count),
        first_row(static_cast<int>(all.first_nodes[first])),
        x(static_cast<int>(all.first_nodes[first + count]) - first_row, size),
        normed(x.count, size) {
    for (int row = 0; row < x.count; ++row) {
      x.copy(row, growth.embedded + std::ptrdiff_t{first_row + row} * size, size);
    }
  }

  int row(std::int64_t node) const { return static_cast<int>(node) - first_row; }
  Tree& tree(int number) const { return own(growth.trees[number]); }

  // `then(tree, first row, rows)` of each tree.
  template <class Then>
  void each(Then then) const {
    for (int i = first_tree; i < first_tree + trees; ++i) {
      const int first = row(growth.first_nodes[i]);
      then(i, first, row(growth.first_nodes[i + 1]) - first);
    }
  }
};

Rows rows_of(const float* numbers, int count, int size) {
  Rows rows(count, size);
  for (int i = 0; i < count; ++i) rows.copy(i, numbers + std::ptrdiff_t{i} * size, size);
  return rows;
}

// One layer's two attentions.
class Attention : AttentionLayers {
 public:
  Attention(const AttentionWeights& weights, int size, int heads)
      : AttentionLayers(weights, size, heads) {}

  // Each node to itself and those that lead to it; their keys and values are kept.
  void look_back(Work& work, int layer) const {
    norm_rows(norm_, work.x, work.normed);
    Rows queries = projected(query_, work.normed);
    const Rows keys = projected(key_, work.normed), values = projected(value_, work.normed);
    HeadAttention attend(head_size_);
    work.each([&](int number, int first, int rows) {
      KeptLayer& kept = work.tree(number).layers[layer];
      kept.keys.add(keys, first, rows);
      kept.values.add(values, first, rows);
      follow_chains(work, number, kept, queries, attend);
    });
    add_projected(out_, queries, 1.0F, work.x);
  }

  // Each node to all of its tree's memory, and to the silence behind it.
  void listen(Work& work, int layer) const {
    norm_rows(norm_, work.x, work.normed);
    Rows queries = projected(query_, work.normed);
    HeadAttention attend(head_size_);
    work.each([&](int number, int first, int rows) {
      if (rows == 0) return;
      const KeptLayer& kept = work.tree(number).layers[layer];
      for (int head = 0; head < size_; head += head_size_) {
        const TurnedColumns& heard = kept.heard[head / head_size_];
        const TurnedColumns& silence = silence_[head / head_size_];
        const int frames = std::max(heard.columns(), silence.columns());
        const Sight all{frames, frames, 0};
        if (frames == heard.columns()) {
          attend(queries[first] + head, rows, queries.stride, all, {{heard}});
        } else {
          attend(queries[first] + head, rows, queries.stride, all,
                 {{heard}, {silence, heard.columns()}});
        }
      }
    });
    add_projected(out_, queries, 1.0F, work.x);
  }

  Heard hear(const Rows& memory) const {
    const Rows keys = projected(key_, memory), values = projected(value_, memory);
    Heard heard(heads_);
    for (int head = 0; head < size_; head += head_size_) {
      heard[head / head_size_].turn(head_size_, memory.count, [&](int i) {
        return Column{keys[i] + head, values[i] + head, 0.0F};
      });
    }
    return heard;
  }

  void keep_silence(const Rows& memory) { silence_ = hear(memory); }

 private:
  void follow_chains(const Work& work, int number, const KeptLayer& kept, Rows& queries,
                     HeadAttention& attend) const {
    const TreeGrowth& growth = work.growth;
    for (auto chain = growth.first_chains[number]; chain < growth.first_chains[number + 1];
         ++chain) {
      const std::int64_t* path = growth.paths + growth.first_steps[chain];
      const int steps = static_cast<int>(growth.first_steps[chain + 1] - growth.first_steps[chain]);
      const int first = work.row(growth.chain_starts[chain]);
      const int rows = rows_of(work, number, chain, first);
      const float* keys = kept.keys.numbers.data();
      const float* values = kept.values.numbers.data();
      for (int head = 0; head < size_; head += head_size_) {
        attend(queries[first] + head, rows, queries.stride, {steps, steps - rows + 1, 1},
               [&](int i) {
                 const std::ptrdiff_t at = path[i] * queries.stride + head;
                 return Column{keys + at, values + at, 0.0F};
               });
      }
    }
  }

  // Chains are side by side: each ends where the next begins.
  static int rows_of(const Work& work, int number, std::int64_t chain, int first) {
    const TreeGrowth& growth = work.growth;
    const bool last = chain + 1 == growth.first_chains[number + 1];
    return work.row(last ? growth.first_nodes[number + 1] : growth.chain_starts[chain + 1]) - first;
  }

  Heard silence_;
};

struct Layer {
  Attention self_attention;
  Attention cross_attention;
  FeedForward feed_forward;

  Layer(const TreeLayerWeights& weights, int size, int heads, Activation activation)
      : self_attention(weights.self_attention, size, heads),
        cross_attention(weights.cross_attention.value(), size, heads),
        feed_forward(weights.feed_forward, activation, 1.0F) {}
};

class Transformer : public GrowingTrees {
 public:
  explicit Transformer(const GrowingTreesWeights& weights)
      : size_(weights.size),
        heads_(weights.heads),
        activation_(weights.activation),
        silence_(rows_of(weights.silence, weights.silent_frames, weights.size)),
        after_norm_(weights.after_norm) {}

  void add(const TreeLayerWeights& block) override {
    layers_.emplace_back(block, size_, heads_, activation_);
    layers_.back().cross_attention.keep_silence(silence_);
  }

  void add_output(const LinearWeights& rows) override { output_.add(rows); }

  std::unique_ptr<GrownTree> listen(const float* memory, int frames) const override {
    auto tree = std::make_unique<Tree>(static_cast<int>(layers_.size()));
    const Rows rows = up_to_silence(memory, frames);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      tree->layers[i].heard = layers_[i].cross_attention.hear(rows);
    }
    return tree;
  }

  void grow(const TreeGrowth& growth, int workers) const override {
    share_out(static_cast<int>(growth.trees.size()), workers, [&](int first, int trees) {
      Work work(growth, first, trees, size_);
      if (work.x.count > 0) grow_share(work);
    });
  }

  void answer(const TreeQuestions& questions) const override {
    for (int i = 0; i < questions.count; ++i) {
      const Tree& tree = own(questions.trees[questions.owners[i]]);
      const auto node = questions.nodes[i];
      const float* followed = &tree.followed.numbers[node * padded(size_)];
      questions.scores[i] =
          output_.one(followed, static_cast<int>(questions.outputs[i])) - tree.totals[node];
    }
  }

 private:
  // A memory, and of the silence behind it what fills up its last sixteen.
  Rows up_to_silence(const float* memory, int frames) const {
    const int filled = std::max(frames, std::min(padded(frames), silence_.count));
    Rows rows(filled, size_);
    for (int i = 0; i < filled; ++i) {
      rows.copy(i, i < frames ? memory + std::ptrdiff_t{i} * size_ : silence_[i], size_);
    }
    return rows;
  }

  void grow_share(Work& work) const {
    for (int i = 0; i < static_cast<int>(layers_.size()); ++i) {
      layers_[i].self_attention.look_back(work, i);
      layers_[i].cross_attention.listen(work, i);
      layers_[i].feed_forward.add_to(work.x, work.normed);
    }
    norm_rows(after_norm_, work.x, work.x);
    const int best = work.growth.best;
    const std::vector<Likeliest> found = output_.likeliest(work.x, best);
    work.each([&](int number, int first, int rows) {
      Tree& tree = work.tree(number);
      tree.followed.add(work.x, first, rows);
      for (int row = first; row < first + rows; ++row) {
        tree.totals.push_back(found[row].total());
        const std::ptrdiff_t at = std::ptrdiff_t{work.first_row + row} * best;
        found[row].write(work.growth.best_outputs + at, work.growth.best_scores + at);
      }
    });
  }

  int size_;
  int heads_;
  Activation activation_;
  Rows silence_;
  std::vector<Layer> layers_;
  RowNorm after_norm_;
  OutputBlocks output_;
};

}  // namespace

std::unique_ptr<GrowingTrees> build(const GrowingTreesWeights& weights) {
  return std::make_unique<Transformer>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
