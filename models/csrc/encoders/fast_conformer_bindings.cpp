// Binds a FastConformer's stem and step. Python owns all arrays and has checked their shapes
// (models/fastconformer/steps/native_encoder.py).
#include "fast_conformer_bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays/borrowed_array.h"
#include "conv2d_stem.h"
#include "fast_conformer_step.h"
// Behind those that declare what is built.
#include "processors/built_for.h"

using namespace nanobind::literals;

namespace earshot {
namespace {

template <std::size_t Dimensions>
using Floats = HostArray<const float, Dimensions>;
template <std::size_t Dimensions>
using Written = HostArray<float, Dimensions>;
using Numbers = HostArray<const std::int64_t, 1>;

void bind_stem(nb::module_& module) {
  nb::class_<DepthwiseWeights>(module, "DepthwiseWeights")
      .def(
          "__init__",
          [](DepthwiseWeights* own, const Floats<2>& kernel, const Floats<1>& bias) {
            new (own) DepthwiseWeights{copied(kernel), copied(bias)};
          },
          "kernel"_a, "bias"_a);
  nb::class_<PlaneStageWeights>(module, "PlaneStageWeights")
      .def(nb::init<std::optional<DepthwiseWeights>, LinearWeights>(), "depthwise"_a.none(),
           "layer"_a);
  nb::class_<Conv2dStem>(module, "Conv2dStem", "A stem of convolutions over time and frequency.")
      .def(nb::new_([](int bins, int before, int after, std::vector<PlaneStageWeights> stages,
                       LinearWeights out, const std::string& processor) {
             return built_for(processor, Conv2dStemWeights{bins, before, after, std::move(stages),
                                                           std::move(out)});
           }),
           nb::kw_only(), "bins"_a, "before"_a, "after"_a, "stages"_a, "out"_a, "processor"_a)
      .def(
          "run",
          [](const Conv2dStem& stem, const Floats<3>& features, const Numbers& firsts,
             const Numbers& lengths, const Numbers& wanted, const Written<3>& embedded,
             int workers) {
            const StemWindows windows{
                .lanes = static_cast<int>(features.shape(0)),
                .window = static_cast<int>(features.shape(1)),
                .frames = static_cast<int>(embedded.shape(1)),
                .features = features.data(),
                .firsts = firsts.data(),
                .lengths = lengths.data(),
                .wanted = wanted.data(),
            };
            nb::gil_scoped_release released;
            stem.run(windows, embedded.data(), workers);
          },
          "features"_a, "firsts"_a, "lengths"_a, "wanted"_a, "embedded"_a, "workers"_a,
          "Write the frames that are wanted of each lane's window.");
}

void bind_layers(nb::module_& module) {
  nb::class_<RelativeAttentionWeights>(module, "RelativeAttentionWeights")
      .def(
          "__init__",
          [](RelativeAttentionWeights* own, const AttentionWeights& layers, const Floats<1>& bias_u,
             const Floats<1>& bias_v, const Floats<2>& places) {
            new (own)
                RelativeAttentionWeights{layers, copied(bias_u), copied(bias_v), copied(places)};
          },
          "layers"_a, "bias_u"_a, "bias_v"_a, "places"_a);
  nb::class_<FastConformerLayerWeights>(module, "FastConformerLayerWeights")
      .def(nb::init<FeedForwardWeights, RelativeAttentionWeights, ConvolutionWeights,
                    FeedForwardWeights, NormWeights>(),
           "first"_a, "attention"_a, "convolution"_a, "second"_a, "norm_out"_a);
}

FastConformerChunk chunk_of(const Floats<3>& stem, const Numbers& lengths,
                            const Written<3>& encoded) {
  return {static_cast<int>(stem.shape(0)), static_cast<int>(stem.shape(1)), stem.data(),
          lengths.data(), encoded.data()};
}

void run(const FastConformerStep& step, const Floats<3>& stem, const Numbers& lengths, int left,
         const Numbers& slots, const Numbers& offsets, const Floats<5>& att_cache,
         const Floats<4>& cnn_cache, const Written<3>& encoded, const Written<5>& att_columns,
         const Written<4>& next_cnn_cache, int workers) {
  const StreamMemory memory{
      .capacity = static_cast<int>(att_cache.shape(3)) - 1,
      .left = left,
      .slots = slots.data(),
      .offsets = offsets.data(),
      .att_cache = att_cache.data(),
      .cnn_cache = cnn_cache.data(),
      .att_columns = att_columns.data(),
      .next_cnn_cache = next_cnn_cache.data(),
  };
  nb::gil_scoped_release released;
  step.run(chunk_of(stem, lengths, encoded), memory, workers);
}

void run_alone(const FastConformerStep& step, const Floats<3>& stem, const Numbers& lengths,
               int left, int right, bool in_chunks, const Written<3>& encoded, int workers) {
  nb::gil_scoped_release released;
  step.run_alone(chunk_of(stem, lengths, encoded), {left, right, in_chunks}, workers);
}

}  // namespace

void bind_fast_conformer(nb::module_& module) {
  bind_stem(module);
  bind_layers(module);
  nb::class_<FastConformerStep>(module, "FastConformerStep", "The layers of a FastConformer.")
      .def(nb::new_([](int size, int heads, int reach, bool causal, const std::string& processor) {
             return built_for(processor, FastConformerShape{size, heads, reach, causal});
           }),
           nb::kw_only(), "size"_a, "heads"_a, "reach"_a, "causal"_a, "processor"_a)
      .def("add", &FastConformerStep::add, "layer"_a, "Pack one more layer.")
      .def("run", &run, "stem"_a, "lengths"_a, "left"_a, "slots"_a, "offsets"_a, "att_cache"_a,
           "cnn_cache"_a, "encoded"_a, "att_columns"_a, "next_cnn_cache"_a, "workers"_a,
           "Hear a chunk of streams; writes the three arrays before the last.")
      .def("run_alone", &run_alone, "stem"_a, "lengths"_a, "left"_a, "right"_a, "in_chunks"_a,
           "encoded"_a, "workers"_a, "Hear utterances by themselves.");
}

}  // namespace earshot
