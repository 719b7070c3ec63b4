// Binds a conformer's weights, which Python fills in, and its step.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "arrays/borrowed_array.h"
#include "ctc_head.h"
#include "encoders/conformer_step.h"
#include "encoders/conv1d_stem.h"
#include "encoders/fast_conformer_bindings.h"
#include "processors/processors.h"
#include "texts/ctc_prefixes.h"
#include "texts/growing_trees.h"
#include "tree_scores.h"
// Behind those that declare what is built.
#include "processors/built_for.h"

using namespace nanobind::literals;

namespace earshot {
namespace {

template <std::size_t Dimensions>
using Floats = HostArray<const float, Dimensions>;

void run(const ConformerStep& step, const Floats<3>& stem, const std::optional<Floats<3>>& pos_emb,
         const HostArray<const std::int64_t, 1>& slots,
         const HostArray<const std::int64_t, 1>& lengths,
         const HostArray<const std::int64_t, 1>& cached, const Floats<5>& att_cache,
         const Floats<4>& cnn_cache, const HostArray<float, 3>& encoded,
         const HostArray<float, 5>& att_columns, const HostArray<float, 4>& next_cnn_cache,
         int workers) {
  const LaneChunk chunk{
      .lanes = static_cast<int>(stem.shape(0)),
      .frames = static_cast<int>(encoded.shape(1)),
      .capacity = static_cast<int>(att_cache.shape(3)) - 1,
      .stem = stem.data(),
      .pos_emb = pos_emb ? pos_emb->data() : nullptr,
      .slots = slots.data(),
      .lengths = lengths.data(),
      .cached = cached.data(),
      .att_cache = att_cache.data(),
      .cnn_cache = cnn_cache.data(),
      .encoded = encoded.data(),
      .att_columns = att_columns.data(),
      .next_cnn_cache = next_cnn_cache.data(),
  };
  nb::gil_scoped_release released;
  step.run(chunk, workers);
}

using Numbers = HostArray<const std::int64_t, 1>;

void score(const TreeScores& scores, const Floats<2>& embedded, const Numbers& first_nodes,
           const Numbers& tokens, const Numbers& parents, const Numbers& first_chains,
           const Numbers& chain_starts, const Numbers& first_steps, const Numbers& paths,
           const std::optional<Floats<3>>& memory, const std::optional<Numbers>& memory_lengths,
           std::int64_t end, const HostArray<float, 1>& nodes, const HostArray<float, 1>& ends,
           int workers) {
  // Memory of another width would be read across its rows.
  if (memory && memory->shape(2) != embedded.shape(1)) {
    throw std::invalid_argument("memory has " + std::to_string(memory->shape(2)) +
                                " numbers a frame where the network has " +
                                std::to_string(embedded.shape(1)));
  }
  const TreeChunk chunk{
      .trees = static_cast<int>(first_nodes.shape(0)) - 1,
      .chains = static_cast<int>(chain_starts.shape(0)),
      .memory_frames = memory ? static_cast<int>(memory->shape(1)) : 0,
      .embedded = embedded.data(),
      .first_nodes = first_nodes.data(),
      .tokens = tokens.data(),
      .parents = parents.data(),
      .first_chains = first_chains.data(),
      .chain_starts = chain_starts.data(),
      .first_steps = first_steps.data(),
      .paths = paths.data(),
      .memory = memory ? memory->data() : nullptr,
      .memory_lengths = memory_lengths ? memory_lengths->data() : nullptr,
      .end = end,
      .nodes = nodes.data(),
      .ends = ends.data(),
  };
  nb::gil_scoped_release released;
  scores.run(chunk, workers);
}

// The arrays of `grow` are as `TreeGrowth` has them.
void grow(const GrowingTrees& network, std::vector<GrownTree*> trees, const Floats<2>& embedded,
          const Numbers& first_nodes, const Numbers& first_chains, const Numbers& chain_starts,
          const Numbers& first_steps, const Numbers& paths,
          const HostArray<std::int64_t, 2>& best_outputs, const HostArray<float, 2>& best_scores,
          int workers) {
  const TreeGrowth growth{
      .trees = std::move(trees),
      .embedded = embedded.data(),
      .first_nodes = first_nodes.data(),
      .first_chains = first_chains.data(),
      .chain_starts = chain_starts.data(),
      .first_steps = first_steps.data(),
      .paths = paths.data(),
      .best = static_cast<int>(best_outputs.shape(1)),
      .best_outputs = best_outputs.data(),
      .best_scores = best_scores.data(),
  };
  nb::gil_scoped_release released;
  network.grow(growth, workers);
}

void answer(const GrowingTrees& network, std::vector<GrownTree*> trees, const Numbers& owners,
            const Numbers& nodes, const Numbers& outputs, const HostArray<float, 1>& scores) {
  const TreeQuestions questions{
      .trees = std::move(trees),
      .count = static_cast<int>(owners.shape(0)),
      .owners = owners.data(),
      .nodes = nodes.data(),
      .outputs = outputs.data(),
      .scores = scores.data(),
  };
  nb::gil_scoped_release released;
  network.answer(questions);
}

void bind_growing_trees(nb::module_& module) {
  nb::class_<GrownTree>(module, "GrownTree", "What is kept of a tree and of its memory.")
      .def("__len__", &GrownTree::nodes, "Nodes that it has.");
  nb::class_<GrowingTrees>(module, "GrowingTrees", "A transformer over trees that grow.")
      .def(nb::new_([](int size, int heads, Activation activation, NormWeights after_norm,
                       const std::optional<Floats<2>>& silence, const std::string& processor) {
             return built_for(
                 processor, GrowingTreesWeights{size, heads, activation, std::move(after_norm),
                                                silence ? silence->data() : nullptr,
                                                silence ? static_cast<int>(silence->shape(0)) : 0});
           }),
           nb::kw_only(), "size"_a, "heads"_a, "activation"_a, "after_norm"_a, "silence"_a.none(),
           "processor"_a)
      .def("add", &GrowingTrees::add, "block"_a, "Pack one more block.")
      .def("add_output", &GrowingTrees::add_output, "rows"_a,
           "Pack OUTPUTS_IN_BLOCK more rows of the output, or its last.")
      .def(
          "listen",
          [](const GrowingTrees& network, const Floats<2>& memory) {
            nb::gil_scoped_release released;
            return network.listen(memory.data(), static_cast<int>(memory.shape(0)));
          },
          "memory"_a, "A tree without nodes, about memory (T, D).")
      .def("grow", &grow, "trees"_a, "embedded"_a, "first_nodes"_a, "first_chains"_a,
           "chain_starts"_a, "first_steps"_a, "paths"_a, "best_outputs"_a, "best_scores"_a,
           "workers"_a, "Add nodes to trees, and write what is likeliest after each.")
      .def("answer", &answer, "trees"_a, "owners"_a, "nodes"_a, "outputs"_a, "scores"_a,
           "Write how likely outputs are after nodes.");
  module.attr("OUTPUTS_IN_BLOCK") = GrowingTrees::OUTPUTS_IN_BLOCK;
}

void score_labels(const Floats<2>& log_probs, const Numbers& labels, std::int64_t blank,
                  const HostArray<float, 1>& scores) {
  nb::gil_scoped_release released;
  score_prefixes(log_probs.data(), static_cast<int>(log_probs.shape(0)),
                 static_cast<int>(log_probs.shape(1)), labels.data(),
                 static_cast<int>(labels.shape(0)), blank, scores.data());
}

void run_head(const CtcHead& head, const Floats<2>& encoded, const HostArray<float, 3>& log_probs,
              int workers) {
  nb::gil_scoped_release released;
  head.run(encoded.data(), static_cast<int>(encoded.shape(0)), log_probs.data(), workers);
}

void run_stem(const Conv1dStem& stem, const Floats<3>& features,
              const std::optional<HostArray<const std::int64_t, 1>>& begins,
              const HostArray<float, 3>& embedded, int workers) {
  nb::gil_scoped_release released;
  stem.run(features.data(), begins ? begins->data() : nullptr, static_cast<int>(features.shape(0)),
           static_cast<int>(features.shape(1)), embedded.data(), workers);
}

void bind_ends(nb::module_& module) {
  nb::class_<TimeConvolutionWeights>(module, "TimeConvolutionWeights")
      .def(nb::init<LinearWeights, int, int>(), "layer"_a, "kernel"_a, "stride"_a);
  nb::class_<Conv1dStem>(module, "Conv1dStem", "A stem of convolutions over time.")
      .def(nb::new_([](std::vector<TimeConvolutionWeights> convolutions, Activation activation,
                       std::optional<LinearWeights> out, const std::string& processor) {
             return built_for(
                 processor, Conv1dStemWeights{std::move(convolutions), activation, std::move(out)});
           }),
           nb::kw_only(), "convolutions"_a, "activation"_a, "out"_a.none(), "processor"_a)
      .def("run", &run_stem, "features"_a, "begins"_a.none(), "embedded"_a, "workers"_a,
           "Write what becomes of each lane's features.");
  nb::class_<CtcHead>(module, "CtcHead", "A linear layer and a log-softmax.")
      .def(nb::new_([](LinearWeights layer, int rate, const std::string& processor) {
             return built_for(processor, CtcHeadWeights{std::move(layer), rate});
           }),
           nb::kw_only(), "layer"_a, "rate"_a, "processor"_a)
      .def("run", &run_head, "encoded"_a, "log_probs"_a, "workers"_a,
           "Write log-probabilities of each frame's symbols.");
}

void bind_weights(nb::module_& module) {
  nb::enum_<Precision>(module, "Precision", "What a layer multiplies.")
      .value("float32", Precision::FLOAT32)
      .value("bfloat16", Precision::BFLOAT16)
      .value("int8", Precision::INT8)
      .value("w8a8", Precision::W8A8);
  nb::class_<LinearWeights>(module, "LinearWeights")
      .def(
          "__init__",
          [](LinearWeights* own, const Floats<2>& weight, const Floats<1>& bias,
             Precision precision) {
            new (own)
                LinearWeights{static_cast<int>(weight.shape(0)), static_cast<int>(weight.shape(1)),
                              copied(weight), copied(bias), precision};
          },
          "weight"_a, "bias"_a, "precision"_a = Precision::FLOAT32);
  nb::class_<NormWeights>(module, "NormWeights")
      .def(
          "__init__",
          [](NormWeights* own, const Floats<1>& scale, const Floats<1>& shift, float eps,
             bool frozen_stats) {
            new (own) NormWeights{copied(scale), copied(shift), eps, frozen_stats};
          },
          "scale"_a, "shift"_a, "eps"_a, "frozen_stats"_a = false);
  nb::class_<FeedForwardWeights>(module, "FeedForwardWeights")
      .def(nb::init<NormWeights, LinearWeights, LinearWeights>(), "norm"_a, "up"_a, "down"_a);
  nb::class_<PosWeights>(module, "PosWeights")
      .def(
          "__init__",
          [](PosWeights* own, const LinearWeights& linear_pos, const Floats<1>& bias_u,
             const Floats<1>& bias_v) {
            new (own) PosWeights{linear_pos, copied(bias_u), copied(bias_v)};
          },
          "linear_pos"_a, "bias_u"_a, "bias_v"_a);
  nb::class_<AttentionWeights>(module, "AttentionWeights")
      .def(nb::init<NormWeights, LinearWeights, LinearWeights, LinearWeights, LinearWeights,
                    std::optional<PosWeights>>(),
           "norm"_a, "query"_a, "key"_a, "value"_a, "out"_a, "pos"_a.none());
  nb::class_<ConvolutionWeights>(module, "ConvolutionWeights")
      .def(
          "__init__",
          [](ConvolutionWeights* own, const NormWeights& input_norm, const LinearWeights& content,
             const LinearWeights& gate, const Floats<2>& kernel, const Floats<1>& bias,
             const NormWeights& norm, const LinearWeights& out, bool zeros_beside) {
            new (own) ConvolutionWeights{input_norm,   content, gate, copied(kernel),
                                         copied(bias), norm,    out,  zeros_beside};
          },
          "input_norm"_a, "content"_a, "gate"_a, "kernel"_a, "bias"_a, "norm"_a, "out"_a,
          "zeros_beside"_a = false);
  nb::class_<LayerWeights>(module, "LayerWeights")
      .def(nb::init<std::optional<FeedForwardWeights>, AttentionWeights,
                    std::optional<ConvolutionWeights>, FeedForwardWeights,
                    std::optional<NormWeights>>(),
           "macaron"_a.none(), "attention"_a, "convolution"_a.none(), "feed_forward"_a,
           "norm_final"_a.none());
  nb::class_<TreeLayerWeights>(module, "TreeLayerWeights")
      .def(nb::init<AttentionWeights, std::optional<AttentionWeights>, FeedForwardWeights>(),
           "self_attention"_a, "cross_attention"_a.none(), "feed_forward"_a);
}

}  // namespace
}  // namespace earshot

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);  // an interpreter that ends does not free what is in use
  using namespace earshot;
  module.doc() = "Networks on the CPU: stems, a conformer's step, CTC heads, trees of tokens.";
  nb::enum_<Activation>(module, "Activation")
      .value("swish", Activation::SWISH)
      .value("relu", Activation::RELU)
      .value("gelu", Activation::GELU);
  bind_weights(module);
  bind_ends(module);
  bind_growing_trees(module);
  bind_fast_conformer(module);
  module.def("score_prefixes", &score_labels, "log_probs"_a, "labels"_a, "blank"_a, "scores"_a,
             "Write how well CTC has heard the first labels, for each number of them.");
  module.def("processors", &processors, "What this processor can run, the fastest first.");
  module.def("multiplies_bfloat16_faster", &multiplies_bfloat16_faster,
             "Whether bfloat16 is multiplied at a higher rate than float32.");
  nb::class_<ConformerStep>(module, "ConformerStep", "The blocks of a conformer.")
      .def(nb::new_([](int size, int heads, Activation activation, float feed_forward_scale,
                       NormWeights after_norm, std::optional<int> pool_after_block,
                       std::optional<LinearWeights> narrow, const std::string& processor) {
             return built_for(processor,
                              ConformerWeights{{size, heads, activation, feed_forward_scale},
                                               std::move(after_norm),
                                               pool_after_block,
                                               std::move(narrow)});
           }),
           nb::kw_only(), "size"_a, "heads"_a, "activation"_a, "feed_forward_scale"_a,
           "after_norm"_a, "pool_after_block"_a.none(), "narrow"_a.none(), "processor"_a)
      .def("add", &ConformerStep::add, "block"_a, "Pack one more block.")
      .def("run", &run, "stem"_a, "pos_emb"_a.none(), "slots"_a, "lengths"_a, "cached"_a,
           "att_cache"_a, "cnn_cache"_a, "encoded"_a, "att_columns"_a, "next_cnn_cache"_a,
           "workers"_a, "Move lanes on by a chunk; writes the three arrays before the last.");
  nb::class_<TreeScores>(module, "TreeScores", "A transformer over trees of tokens.")
      .def(nb::new_([](int size, int heads, Activation activation,
                       std::vector<TreeLayerWeights> layers, NormWeights after_norm,
                       LinearWeights output, const std::string& processor) {
             return built_for(processor, TreeWeights{size, heads, activation, std::move(layers),
                                                     std::move(after_norm), std::move(output)});
           }),
           nb::kw_only(), "size"_a, "heads"_a, "activation"_a, "layers"_a, "after_norm"_a,
           "output"_a, "processor"_a)
      .def("run", &score, "embedded"_a, "first_nodes"_a, "tokens"_a, "parents"_a, "first_chains"_a,
           "chain_starts"_a, "first_steps"_a, "paths"_a, "memory"_a.none(),
           "memory_lengths"_a.none(), "end"_a, "nodes"_a, "ends"_a, "workers"_a,
           "Write how likely each node's token is, and an end after it.");
}
