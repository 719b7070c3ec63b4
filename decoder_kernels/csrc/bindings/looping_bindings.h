// Binds label looping on a GPU. Python owns all arrays and has checked their shapes
// (transducer/device_loop.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/borrowed.h"
#include "bindings/transducer_bindings.h"
#include "looping/device_loop.h"

namespace earshot {

inline cuda::LoopOrder order_of(const std::string& name) {
  if (name == "labels") return cuda::LoopOrder::BY_LABELS;
  if (name == "frames") return cuda::LoopOrder::BY_FRAMES;
  if (name == "free") return cuda::LoopOrder::FREE;
  throw std::invalid_argument("no loop has the order " + name);
}

// A head's weights on the device, and arrays for its lanes, borrowed for as long as this lives.
template <class Device>
class LoopOnDevice {
 public:
  template <class T, std::size_t Dimensions>
  using In = Array<Device, const T, Dimensions>;
  template <class T, std::size_t Dimensions>
  using Out = Array<Device, T, Dimensions>;

  struct Weights {
    In<float, 2> encoder, answer, project, table, recurrent, gate_bias;
    In<float, 1> encoder_bias, answer_bias, project_bias;
    In<std::int32_t, 1> duration_frames;
  };
  struct Lanes {
    Out<std::int32_t, 2> numbers;
    Out<std::int32_t, 1> words;
    In<float, 3> encoded;
    Out<float, 3> heard, fresh;
    Out<float, 2> memory;
    Out<float, 2> answers, blank_log_probs;
    Out<std::int32_t, 3> found;
    Out<float, 2> log_probs;
    In<std::int32_t, 2> boost_links;
    In<double, 2> boost_bonuses;
  };

  LoopOnDevice(Weights weights, Lanes lanes, const std::string& activation, int max_symbols,
               const std::string& order, int threads)
      : weights_(std::move(weights)),
        lanes_(std::move(lanes)),
        work_{order_of(order), threads, borrow(activation_of(activation), max_symbols)} {}
  LoopOnDevice(const LoopOnDevice&) = delete;

  void run_by_launches(int lanes, std::intptr_t stream) const {
    unlocked([&] { cuda::run_by_launches(with(lanes), stream); });
  }
  void run_as_one_kernel(int lanes, std::intptr_t stream) const {
    unlocked([&] { cuda::run_as_one_kernel(with(lanes), stream); });
  }
  void capture(int lanes) {
    unlocked([&] { graphs_.try_emplace(lanes, with(lanes)); });
  }
  // Raises std::out_of_range for lanes that none was captured for.
  void run_as_graph(int lanes, std::intptr_t stream) const {
    const cuda::LoopGraph& graph = graphs_.at(lanes);
    unlocked([&] { graph.run(stream); });
  }

 private:
  template <class Work>
  static void unlocked(const Work& work) {
    try {
      nb::gil_scoped_release released;
      work();
    } catch (const LaunchFailed& failed) {
      raise_device_error(failed.what());
    }
  }

  cuda::LoopWork with(int lanes) const {
    cuda::LoopWork work = work_;
    work.params.lanes = lanes;
    return work;
  }

  HeadOnDevice head(JointActivation activation, int max_symbols) const {
    return {.labels = static_cast<int>(weights_.table.shape(0)) - 1,
            .durations = static_cast<int>(weights_.duration_frames.shape(0)),
            .inputs = static_cast<int>(weights_.encoder.shape(0)),
            .joint = static_cast<int>(weights_.answer.shape(0)),
            .hidden = static_cast<int>(weights_.project.shape(0)),
            .layers = static_cast<int>(weights_.gate_bias.shape(0)),
            .max_symbols = max_symbols,
            .activation = activation,
            .encoder_weight = weights_.encoder.data(),
            .encoder_bias = weights_.encoder_bias.data(),
            .answer_weight = weights_.answer.data(),
            .answer_bias = weights_.answer_bias.data(),
            .project_weight = weights_.project.data(),
            .project_bias = weights_.project_bias.data(),
            .table = weights_.table.data(),
            .recurrent = weights_.recurrent.data(),
            .gate_bias = weights_.gate_bias.data(),
            .duration_frames = weights_.duration_frames.data()};
  }

  LoopParams borrow(JointActivation activation, int max_symbols) const {
    const HeadOnDevice told = head(activation, max_symbols);
    const std::size_t room = lanes_.found.shape(1) * lanes_.found.shape(2);
    return {.head = told,
            .lanes = 0,
            .capacity = static_cast<int>(lanes_.heard.shape(0)),
            .frames = static_cast<int>(lanes_.heard.shape(1)),
            .layout = MemoryLayout::of(told.joint, told.hidden, told.layers),
            .boosts = borrow_boosts<Device>(lanes_.boost_links, lanes_.boost_bonuses),
            .numbers = lanes_.numbers.data(),
            .words = lanes_.words.data(),
            .encoded = lanes_.encoded.data(),
            .heard = lanes_.heard.data(),
            .memory = lanes_.memory.data(),
            .fresh = lanes_.fresh.data(),
            .answers = lanes_.answers.data(),
            .blank_log_probs = lanes_.blank_log_probs.data(),
            .tokens = lanes_.found.data(),
            .frames_found = lanes_.found.data() + room,
            .durations = lanes_.found.data() + 2 * room,
            .log_probs = lanes_.log_probs.data(),
            .goes_on = 0,
            .looks = 0};
  }

  Weights weights_;
  Lanes lanes_;
  cuda::LoopWork work_;
  std::map<int, cuda::LoopGraph> graphs_;
};

template <class Device>
void bind_looping(nb::module_ submodule) {
  using namespace nb::literals;
  using L = LoopOnDevice<Device>;
  nb::class_<typename L::Weights>(submodule, "LoopWeights", "A head's weights on the device.")
      .def(
          "__init__",
          [](typename L::Weights* own, typename L::template In<float, 2> encoder,
             typename L::template In<float, 1> encoder_bias,
             typename L::template In<float, 2> answer,
             typename L::template In<float, 1> answer_bias,
             typename L::template In<float, 2> project,
             typename L::template In<float, 1> project_bias,
             typename L::template In<float, 2> table, typename L::template In<float, 2> recurrent,
             typename L::template In<float, 2> gate_bias,
             typename L::template In<std::int32_t, 1> duration_frames) {
            new (own) typename L::Weights{.encoder = encoder,
                                          .answer = answer,
                                          .project = project,
                                          .table = table,
                                          .recurrent = recurrent,
                                          .gate_bias = gate_bias,
                                          .encoder_bias = encoder_bias,
                                          .answer_bias = answer_bias,
                                          .project_bias = project_bias,
                                          .duration_frames = duration_frames};
          },
          nb::kw_only(), "encoder"_a, "encoder_bias"_a, "answer"_a, "answer_bias"_a, "project"_a,
          "project_bias"_a, "table"_a, "recurrent"_a, "gate_bias"_a, "duration_frames"_a);
  nb::class_<typename L::Lanes>(submodule, "LoopLanes", "Arrays for lanes on the device.")
      .def(
          "__init__",
          [](typename L::Lanes* own, typename L::template Out<std::int32_t, 2> numbers,
             typename L::template Out<std::int32_t, 1> words,
             typename L::template In<float, 3> encoded, typename L::template Out<float, 3> heard,
             typename L::template Out<float, 2> memory, typename L::template Out<float, 3> fresh,
             typename L::template Out<float, 2> answers,
             typename L::template Out<float, 2> blank_log_probs,
             typename L::template Out<std::int32_t, 3> found,
             typename L::template Out<float, 2> log_probs,
             typename L::template In<std::int32_t, 2> boost_links,
             typename L::template In<double, 2> boost_bonuses) {
            new (own) typename L::Lanes{.numbers = numbers,
                                        .words = words,
                                        .encoded = encoded,
                                        .heard = heard,
                                        .fresh = fresh,
                                        .memory = memory,
                                        .answers = answers,
                                        .blank_log_probs = blank_log_probs,
                                        .found = found,
                                        .log_probs = log_probs,
                                        .boost_links = boost_links,
                                        .boost_bonuses = boost_bonuses};
          },
          nb::kw_only(), "numbers"_a, "words"_a, "encoded"_a, "heard"_a, "memory"_a, "fresh"_a,
          "answers"_a, "blank_log_probs"_a, "found"_a, "log_probs"_a, "boost_links"_a,
          "boost_bonuses"_a);
  nb::class_<L>(submodule, "LabelLooping", "Greedy decoding of many lanes on the device.")
      .def(nb::init<typename L::Weights, typename L::Lanes, const std::string&, int,
                    const std::string&, int>(),
           nb::kw_only(), "weights"_a, "lanes"_a, "activation"_a, "max_symbols"_a, "order"_a,
           "threads"_a)
      .def("run_by_launches", &L::run_by_launches, "lanes"_a, "stream"_a,
           "Walk step by step, as the host reads what is left.")
      .def("run_as_one_kernel", &L::run_as_one_kernel, "lanes"_a, "stream"_a,
           "Walk in one launch, whose blocks wait for each other.")
      .def("capture", &L::capture, "lanes"_a, "Make a graph for so many lanes.")
      .def("run_as_graph", &L::run_as_graph, "lanes"_a, "stream"_a,
           "Walk by the graph that was captured.");
  const std::pair<const char*, int> rows[] = {
      {"LENGTH", LENGTH},
      {"FRAME", FRAME},
      {"FOUND", FOUND},
      {"FINITE", FINITE},
      {"BOOST_ROW", BOOST_ROW},
      {"BOOST_STATE", BOOST_STATE_HERE},
      {"LOOP_WORDS", LOOP_WORDS},
      {"BOOST_STATES", BOOST_STATES},
      {"LANE_NUMBERS", LANE_NUMBERS},
  };
  for (const auto& [name, number] : rows) submodule.attr(name) = number;
  submodule.attr("loop_threads") = 256;
}

}  // namespace earshot
