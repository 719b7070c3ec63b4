#include "tree_scores.h"

#include "dense/processor.h"
// What is included from here on is for one kind of processor.
#include "attention_layers.h"
#include "conformer_branches.h"
#include "dense/log_sum.h"
#include "head_attention.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// Some of a chunk's trees: their nodes are the rows.
struct Share {
  int first_tree;
  int trees;
};

struct Work {
  const TreeChunk& chunk;
  Share share;
  int first_node;
  Rows x;
  Rows normed;

  Work(const TreeChunk& all, Share own, int size)
      : chunk(all),
        share(own),
        first_node(static_cast<int>(all.first_nodes[own.first_tree])),
        x(static_cast<int>(all.first_nodes[own.first_tree + own.trees]) - first_node, size),
        normed(x.count, size) {
    for (int row = 0; row < x.count; ++row) {
      x.copy(row, chunk.embedded + static_cast<std::ptrdiff_t>(first_node + row) * size, size);
    }
  }

  int row_of(std::int64_t node) const { return static_cast<int>(node) - first_node; }
};

// Queries of some rows to keys and values of others, which a kind of attention chooses.
class Attention : AttentionLayers {
 public:
  Attention(const AttentionWeights& weights, int size, int heads)
      : AttentionLayers(weights, size, heads) {}

  // Each node to itself and those before it.
  void look_back(Work& work) const {
    norm_rows(norm_, work.x, work.normed);
    Rows queries = projected(query_, work.normed);
    const Rows keys = projected(key_, work.normed), values = projected(value_, work.normed);
    HeadAttention attend(head_size_);
    const TreeChunk& chunk = work.chunk;
    const std::int64_t* chains = chunk.first_chains + work.share.first_tree;
    for (auto chain = chains[0]; chain < chains[work.share.trees]; ++chain) {
      const std::int64_t* path = chunk.paths + chunk.first_steps[chain];
      const int steps = static_cast<int>(chunk.first_steps[chain + 1] - chunk.first_steps[chain]);
      const int first = work.row_of(chunk.chain_starts[chain]);
      const int rows = work.row_of(path[steps - 1]) + 1 - first;
      for (int head = 0; head < size_; head += head_size_) {
        attend(queries[first] + head, rows, queries.stride, {steps, steps - rows + 1, 1},
               [&](int i) {
                 const int row = work.row_of(path[i]);
                 return Column{keys[row] + head, values[row] + head, 0.0F};
               });
      }
    }
    add_projected(out_, queries, 1.0F, work.x);
  }

  // Each node to all of its tree's memory.
  void listen(Work& work) const {
    norm_rows(norm_, work.x, work.normed);
    Rows queries = projected(query_, work.normed);
    HeadAttention attend(head_size_);
    const TreeChunk& chunk = work.chunk;
    for (int tree = work.share.first_tree; tree < work.share.first_tree + work.share.trees;
         ++tree) {
      const int frames = static_cast<int>(chunk.memory_lengths[tree]);
      const Rows memory = memory_of(chunk, tree, frames);
      const Rows keys = projected(key_, memory), values = projected(value_, memory);
      const int first = work.row_of(chunk.first_nodes[tree]);
      const int rows = work.row_of(chunk.first_nodes[tree + 1]) - first;
      for (int head = 0; head < size_; head += head_size_) {
        attend(queries[first] + head, rows, queries.stride, {frames, frames, 0},
               [&](int i) { return Column{keys[i] + head, values[i] + head, 0.0F}; });
      }
    }
    add_projected(out_, queries, 1.0F, work.x);
  }

 private:
  Rows memory_of(const TreeChunk& chunk, int tree, int frames) const {
    Rows memory(frames, size_);
    const float* first =
        chunk.memory + static_cast<std::ptrdiff_t>(tree) * chunk.memory_frames * size_;
    for (int i = 0; i < frames; ++i) memory.copy(i, first + i * size_, size_);
    return memory;
  }
};

struct Layer {
  Attention self_attention;
  std::optional<Attention> cross_attention;
  FeedForward feed_forward;

  Layer(const TreeLayerWeights& weights, const TreeWeights& whole)
      : self_attention(weights.self_attention, whole.size, whole.heads),
        feed_forward(weights.feed_forward, whole.activation, 1.0F) {
    if (weights.cross_attention)
      cross_attention.emplace(*weights.cross_attention, whole.size, whole.heads);
  }

  void run(Work& work) const {
    self_attention.look_back(work);
    if (cross_attention) cross_attention->listen(work);
    feed_forward.add_to(work.x, work.normed);
  }
};

// What follows each row of logits that a search asks about.
class Output {
 public:
  explicit Output(const LinearWeights& weights)
      : layer_(weights, -std::numeric_limits<float>::infinity()) {}

  void write(const Work& work) const {
    const std::vector<std::vector<int>> children = children_of(work);
    std::vector<float> logits(static_cast<std::size_t>(ROWS_AT_ONCE) * layer_.columns());
    for (int first = 0; first < work.x.count; first += ROWS_AT_ONCE) {
      const int rows = std::min(ROWS_AT_ONCE, work.x.count - first);
      layer_(work.x[first], rows, work.x.stride, [&](int row, int column, const Floats& values) {
        store(&logits[static_cast<std::size_t>(row) * layer_.columns() + column], values);
      });
      for (int row = 0; row < rows; ++row) {
        tell(work, first + row, &logits[static_cast<std::size_t>(row) * layer_.columns()],
             children[first + row]);
      }
    }
  }

 private:
  static constexpr int ROWS_AT_ONCE = 96;  // their logits stay near while they are read

  static std::vector<std::vector<int>> children_of(const Work& work) {
    std::vector<std::vector<int>> children(work.x.count);
    for (int row = 0; row < work.x.count; ++row) {
      const int parent = work.row_of(work.chunk.parents[work.first_node + row]);
      if (parent != row) children[parent].push_back(row);
    }
    return children;
  }

  void tell(const Work& work, int row, const float* logits,
            const std::vector<int>& children) const {
    const float total = log_sum(logits, layer_.columns());
    const TreeChunk& chunk = work.chunk;
    chunk.ends[work.first_node + row] = logits[chunk.end] - total;
    for (const int child : children) {
      const int node = work.first_node + child;
      chunk.nodes[node] = logits[chunk.tokens[node]] - total;
    }
  }

  PackedLinear layer_;
};

class Transformer : public TreeScores {
 public:
  explicit Transformer(const TreeWeights& weights)
      : size_(weights.size), after_norm_(weights.after_norm), output_(weights.output) {
    for (const TreeLayerWeights& each : weights.layers) layers_.emplace_back(each, weights);
  }

  void run(const TreeChunk& chunk, int workers) const override {
    share_out(chunk.trees, workers,
              [&](int first, int trees) { run_share(chunk, {first, trees}); });
  }

 private:
  void run_share(const TreeChunk& chunk, Share share) const {
    Work work(chunk, share, size_);
    for (const Layer& layer : layers_) layer.run(work);
    norm_rows(after_norm_, work.x, work.x);
    output_.write(work);
  }

  int size_;
  std::vector<Layer> layers_;
  RowNorm after_norm_;
  Output output_;
};

}  // namespace

std::unique_ptr<TreeScores> build(const TreeWeights& weights) {
  return std::make_unique<Transformer>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
