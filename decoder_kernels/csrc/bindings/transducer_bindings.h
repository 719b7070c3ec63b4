// Binds label looping. Python owns all arrays and has checked their shapes
// (transducer/label_loop.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays/borrowed_array.h"
#include "bindings/borrowed.h"
#include "transducer/label_loop.h"
// Behind what it declares.
#include "processors/built_for.h"

namespace earshot {

// A linear layer, copied. A type of this library's own: the networks' library binds LinearWeights.
struct LoopLayer {
  LinearWeights weights;
};

inline JointActivation activation_of(const std::string& name) {
  if (name == "relu") return JointActivation::RELU;
  if (name == "sigmoid") return JointActivation::SIGMOID;
  if (name == "tanh") return JointActivation::TANH;
  throw std::invalid_argument("no joint is activated by " + name);
}

inline std::unique_ptr<LabelLoop> new_label_loop(
    const LoopLayer& encoder, const LoopLayer& predictor, const LoopLayer& labels,
    const LoopLayer& durations, const HostArray<const float, 2>& embedding,
    const std::vector<std::pair<LoopLayer, LoopLayer>>& lstm, const std::string& activation,
    std::vector<int> duration_frames, int max_symbols, const std::string& processor) {
  LoopWeights weights{encoder.weights,           predictor.weights,          labels.weights,
                      durations.weights,         copied(embedding),          {},
                      activation_of(activation), std::move(duration_frames), max_symbols};
  for (const auto& [from_input, from_hidden] : lstm) {
    weights.lstm.push_back({from_input.weights, from_hidden.weights});
  }
  return built_for(processor, weights);
}

inline std::vector<FoundLabels> run_label_loop(
    const LabelLoop& loop, const HostArray<const std::int64_t, 1>& lengths,
    const HostArray<const float, 2>& encoded, const HostArray<float, 2>& memory,
    const HostArray<std::int64_t, 2>& carried, const HostArray<float, 1>& blank_log_probs,
    const HostArray<const std::int32_t, 2>& boost_links,
    const HostArray<const double, 2>& boost_bonuses, const HostArray<const std::int64_t, 2>& tables,
    int workers) {
  const LoopChunk chunk{
      .lanes = static_cast<int>(lengths.shape(0)),
      .lengths = lengths.data(),
      .encoded = encoded.data(),
      .memory = memory.data(),
      .carried = carried.data(),
      .blank_log_probs = blank_log_probs.data(),
      .boosts = borrow_boosts<nb::device::cpu>(boost_links, boost_bonuses),
      .tables = tables.data(),
  };
  nb::gil_scoped_release released;
  return loop.run(chunk, workers);
}

inline std::vector<FoundBeam> search_beams(
    const LabelLoop& loop, const HostArray<const std::int64_t, 1>& lengths,
    const HostArray<const float, 2>& encoded, const HostArray<const std::int64_t, 1>& counts,
    const HostArray<const float, 2>& memory, const HostArray<const std::int64_t, 2>& carried,
    const HostArray<const double, 1>& scores, const HostArray<float, 2>& memory_after,
    const HostArray<std::int64_t, 2>& carried_after, const HostArray<double, 1>& scores_after,
    const HostArray<const std::int32_t, 2>& boost_links,
    const HostArray<const double, 2>& boost_bonuses, const HostArray<const std::int64_t, 2>& tables,
    const HostArray<const float, 1>& lm_weights, int width, bool in_frames, double narrow,
    const TokenLm* lm, int workers) {
  const BeamRules rules{width, in_frames, narrow, lm};
  const BeamChunk chunk{
      .lanes = static_cast<int>(lengths.shape(0)),
      .lengths = lengths.data(),
      .encoded = encoded.data(),
      .counts = counts.data(),
      .before = {memory.data(), carried.data(), scores.data()},
      .after = {memory_after.data(), carried_after.data(), scores_after.data()},
      .boosts = borrow_boosts<nb::device::cpu>(boost_links, boost_bonuses),
      .tables = tables.data(),
      .lm_weights = lm_weights.data(),
  };
  nb::gil_scoped_release released;
  return loop.search(chunk, rules, workers);
}

inline void bind_beams(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<TokenLm>(module, "TokenLm", "A back-off n-gram over a transducer's labels.")
      .def(
          "__init__",
          [](TokenLm* own, const HostArray<const std::int64_t, 1>& first_arc,
             const HostArray<const std::int32_t, 1>& token,
             const HostArray<const std::int32_t, 1>& target,
             const HostArray<const float, 1>& log_prob,
             const HostArray<const std::int32_t, 1>& shorter,
             const HostArray<const float, 1>& back_off) {
            new (own) TokenLm{copied(first_arc), copied(token),   copied(target),
                              copied(log_prob),  copied(shorter), copied(back_off)};
          },
          "first_arc"_a, "token"_a, "target"_a, "log_prob"_a, "shorter"_a, "back_off"_a);
  nb::class_<FoundHypothesis>(module, "FoundHypothesis", "What it has said in a chunk.")
      .def_ro("parent", &FoundHypothesis::parent)
      .def_ro("tokens", &FoundHypothesis::tokens)
      .def_ro("frames", &FoundHypothesis::frames)
      .def_ro("durations", &FoundHypothesis::durations)
      .def_ro("log_probs", &FoundHypothesis::log_probs)
      .def_ro("blank_log_probs", &FoundHypothesis::blank_log_probs);
  nb::class_<FoundBeam>(module, "FoundBeam", "The hypotheses of a lane's chunk.")
      .def_ro("hypotheses", &FoundBeam::hypotheses)
      .def_ro("finite", &FoundBeam::finite);
}

inline void bind_transducer(nb::module_& module) {
  using namespace nb::literals;
  bind_beams(module);
  nb::class_<LoopLayer>(module, "LoopLayer", "A linear layer of a transducer's head.")
      .def(
          "__init__",
          [](LoopLayer* own, const HostArray<const float, 2>& weight,
             const HostArray<const float, 1>& bias) {
            new (own) LoopLayer{{static_cast<int>(weight.shape(0)),
                                 static_cast<int>(weight.shape(1)), copied(weight), copied(bias)}};
          },
          "weight"_a, "bias"_a);
  nb::class_<FoundLabels>(module, "FoundLabels", "The labels that a lane's chunk holds.")
      .def_ro("tokens", &FoundLabels::tokens)
      .def_ro("frames", &FoundLabels::frames)
      .def_ro("durations", &FoundLabels::durations)
      .def_ro("log_probs", &FoundLabels::log_probs)
      .def_ro("finite", &FoundLabels::finite);
  nb::class_<LabelLoop>(module, "LabelLoop", "Greedy decoding by a transducer's head.")
      .def(nb::new_(&new_label_loop), nb::kw_only(), "encoder"_a, "predictor"_a, "labels"_a,
           "durations"_a, "embedding"_a, "lstm"_a, "activation"_a, "duration_frames"_a,
           "max_symbols"_a, "processor"_a)
      .def_prop_ro("memory_size", &LabelLoop::memory_size, "Floats that a lane remembers.")
      .def(
          "begin",
          [](const LabelLoop& loop, const HostArray<float, 1>& memory) {
            loop.begin(memory.data());
          },
          "memory"_a, "Write what is remembered before the first label.")
      .def("run", &run_label_loop, "lengths"_a, "encoded"_a, "memory"_a, "carried"_a,
           "blank_log_probs"_a, "boost_links"_a, "boost_bonuses"_a, "tables"_a, "workers"_a,
           "Walk over a chunk of each lane.")
      .def("search", &search_beams, "lengths"_a, "encoded"_a, "counts"_a, "memory"_a, "carried"_a,
           "scores"_a, "memory_after"_a, "carried_after"_a, "scores_after"_a, "boost_links"_a,
           "boost_bonuses"_a, "tables"_a, "lm_weights"_a, "width"_a, "in_frames"_a, "narrow"_a,
           "lm"_a.none(), "workers"_a, "Search a beam over a chunk of each lane.");
  module.attr("BEAM_CARRIED") = static_cast<int>(BEAM_CARRIED);
  module.def("processors", &processors, "The kinds of processor that this one can run code for.");
}

}  // namespace earshot
