// Binds the WFST search of one target. Python owns all memory and has checked all shapes
// (wfst_search.py, wfst_memory.py); here only element types, layout and device are checked.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "bindings/borrowed.h"
#include "bindings/search_lm.h"
#include "wfst/wfst_search.h"

namespace earshot {

struct CpuWfst {
  using Device = nb::device::cpu;
  static constexpr int threads = 1;  // of a block, where the caller does not say
  static constexpr auto slot_bytes = cpu::wfst_slot_bytes;
  static std::size_t workspace_bytes(const WfstShape& shape) {
    return std::max(cpu::wfst_workspace_bytes(shape), cpu_lm::wfst_workspace_bytes(shape));
  }
  static constexpr auto layout = cpu::wfst_layout;
  static constexpr auto reset = by_threads<cpu::wfst_reset, cpu_teams::wfst_reset>;
  static constexpr auto forget_boosts =
      by_threads<cpu::wfst_forget_boosts, cpu_teams::wfst_forget_boosts>;
  static constexpr auto advance = by_threads<cpu::wfst_advance, cpu_teams::wfst_advance>;
  static constexpr auto count = by_threads<cpu::wfst_count, cpu_teams::wfst_count>;
  static constexpr auto best = by_threads<cpu::wfst_best, cpu_teams::wfst_best>;
  static constexpr auto words = by_threads<cpu::wfst_words, cpu_teams::wfst_words>;
  static constexpr auto gather = by_threads<cpu::wfst_gather, cpu_teams::wfst_gather>;

  // Where one of a launch's slots has language models.
  struct WithLm {
    static constexpr auto change_lm =
        by_threads<cpu_lm::wfst_change_lm, cpu_teams_lm::wfst_change_lm>;
    static constexpr auto forget_boosts =
        by_threads<cpu_lm::wfst_forget_boosts, cpu_teams_lm::wfst_forget_boosts>;
    static constexpr auto advance = by_threads<cpu_lm::wfst_advance, cpu_teams_lm::wfst_advance>;
    static constexpr auto best = by_threads<cpu_lm::wfst_best, cpu_teams_lm::wfst_best>;
  };
};

// A device that CUDA's half of the kernels runs on.
template <class On>
struct CudaWfst {
  using Device = On;
  static constexpr int threads = 256;
  static constexpr auto slot_bytes = cuda::wfst_slot_bytes;
  static constexpr auto workspace_bytes = cuda::wfst_workspace_bytes;
  static constexpr auto layout = cuda::wfst_layout;
  static constexpr auto reset = cuda::wfst_reset;
  static constexpr auto forget_boosts = cuda::wfst_forget_boosts;
  static constexpr auto advance = cuda::wfst_advance;
  static constexpr auto count = cuda::wfst_count;
  static constexpr auto best = cuda::wfst_best;
  static constexpr auto words = cuda::wfst_words;
  static constexpr auto gather = cuda::wfst_gather;
};

// The memory of one search, borrowed from Python for as long as this object lives.
template <class Half>
class WfstMemory {
  using Device = typename Half::Device;

 public:
  template <class T, std::size_t Dimensions>
  using In = Array<Device, const T, Dimensions>;
  template <class T, std::size_t Dimensions>
  using Out = Array<Device, T, Dimensions>;

  // Nodes (S + 1, 6), labels (A,), arcs (A, 4).
  struct Arcs {
    In<std::int32_t, 2> nodes;
    In<std::uint32_t, 1> labels;
    In<std::int32_t, 2> arcs;

    WfstArcs borrow() const {
      return WfstArcs{reinterpret_cast<const WfstNode*>(nodes.data()), labels.data(),
                      reinterpret_cast<const WfstArc*>(arcs.data())};
    }
  };

  WfstMemory(const WfstShape& shape, Arcs graph, double min_weight, double max_weight,
             int max_eps_words, int max_arc_words, Out<std::uint8_t, 2> slots,
             Out<std::uint8_t, 2> workspaces, In<std::int64_t, 2> options, In<double, 2> scales,
             In<std::int32_t, 2> boost_links, In<double, 2> boost_bonuses,
             In<std::int64_t, 1> boost_rows, Arcs oov_arcs, In<std::int64_t, 2> oov_rows)
      : graph_(graph),
        slots_(slots),
        workspaces_(workspaces),
        options_(options),
        scales_(scales),
        boost_links_(boost_links),
        boost_bonuses_(boost_bonuses),
        boost_rows_(boost_rows),
        oov_arcs_(oov_arcs),
        oov_rows_(oov_rows),
        lms_(slots.shape(0)),
        state_(borrow(shape, min_weight, max_weight, max_eps_words, max_arc_words)) {}

  void reset(In<std::int64_t, 1> slots, const Launch& how) const {
    run_over<Device>(slots, Half::reset, how, WfstSlotParams{state_, slots.data()});
  }

  void forget_boosts(In<std::int64_t, 1> slots, const Launch& how) const {
    const WfstSlotParams params{state_, slots.data()};
    if constexpr (HAS_LM) {
      if (any_lm(slots)) {
        return run_over<Device>(slots, Half::WithLm::forget_boosts, how, params);
      }
    }
    run_over<Device>(slots, Half::forget_boosts, how, params);
  }

  // The models of the slots, or of none; they are borrowed until there are others.
  void set_lm(In<std::int64_t, 1> slots, const SearchLm* lm, const Launch& how) {
    if constexpr (HAS_LM) {
      if (memos_.empty()) {
        memos_.resize(workspaces_.shape(0));
        state_.lm_memos = memos_.data();
      }
      for (std::size_t i = 0; i < slots.size(); ++i) {
        lms_[static_cast<std::size_t>(slots.data()[i])] = lm == nullptr ? LmRow{} : lm->row();
      }
      run_over<Device>(slots, Half::WithLm::change_lm, how, WfstSlotParams{state_, slots.data()});
    } else {
      throw std::invalid_argument("this half of the kernels searches without language models");
    }
  }

  void advance(In<std::int64_t, 1> slots, In<float, 3> log_probs, In<std::int64_t, 1> lengths,
               Out<std::int32_t, 1> status, const Launch& how) const {
    const WfstAdvanceParams params{state_,
                                   slots.data(),
                                   log_probs.data(),
                                   lengths.data(),
                                   static_cast<std::int64_t>(log_probs.shape(1)),
                                   status.data()};
    if constexpr (HAS_LM) {
      if (any_lm(slots)) return run_over<Device>(slots, Half::WithLm::advance, how, params);
    }
    run_over<Device>(slots, Half::advance, how, params);
  }

  void count(In<std::int64_t, 1> slots, Out<std::int64_t, 2> counts, const Launch& how) const {
    run_over<Device>(slots, Half::count, how, WfstCountParams{state_, slots.data(), counts.data()});
  }

  void best(In<std::int64_t, 1> slots, In<float, 1> finals, bool finalize,
            Out<std::int64_t, 2> summary, const Launch& how) const {
    const WfstBestParams params{state_, slots.data(), finals.data(), finalize, summary.data()};
    if constexpr (HAS_LM) {
      if (any_lm(slots)) return run_over<Device>(slots, Half::WithLm::best, how, params);
    }
    run_over<Device>(slots, Half::best, how, params);
  }

  void words(In<std::int64_t, 1> slots, In<std::int64_t, 2> summary, Out<std::int32_t, 2> words,
             Out<std::int32_t, 2> frames, const Launch& how) const {
    run_over<Device>(
        slots, Half::words, how,
        WfstWordsParams{state_, slots.data(), summary.data(), static_cast<int>(words.shape(1)),
                        words.data(), frames.data()});
  }

  void gather(In<std::int64_t, 1> slots, In<std::int64_t, 2> firsts, Out<std::int32_t, 2> marks,
              Out<std::int32_t, 1> marked, Out<std::int64_t, 1> keys, Out<std::int64_t, 1> costs,
              Out<std::int32_t, 1> histories, Out<std::int64_t, 2> backpointers,
              Out<std::int64_t, 1> reached, const Launch& how) const {
    run_over<Device>(
        slots, Half::gather, how,
        WfstGatherParams{state_, slots.data(), firsts.data(), marks.data(), marked.data(),
                         reinterpret_cast<std::uint64_t*>(keys.data()), costs.data(),
                         histories.data(), reinterpret_cast<WfstBackpointer*>(backpointers.data()),
                         reached.data()});
  }

  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t> layout() const {
    const WfstLayout found = Half::layout(state_);
    return {found.keys, found.costs, found.histories, found.backpointers, found.words};
  }

 private:
  static constexpr bool HAS_LM = requires { typename Half::WithLm; };

  bool any_lm(const In<std::int64_t, 1>& slots) const {
    return std::any_of(slots.data(), slots.data() + slots.size(), [this](std::int64_t slot) {
      return lms_[static_cast<std::size_t>(slot)].num_large > 0;
    });
  }

  WfstState borrow(const WfstShape& shape, double min_weight, double max_weight, int max_eps_words,
                   int max_arc_words) const {
    return WfstState{shape,
                     graph_.borrow(),
                     min_weight,
                     max_weight,
                     max_eps_words,
                     max_arc_words,
                     reinterpret_cast<std::byte*>(slots_.data()),
                     static_cast<std::int64_t>(slots_.shape(1)),
                     reinterpret_cast<std::byte*>(workspaces_.data()),
                     static_cast<std::int64_t>(workspaces_.shape(1)),
                     reinterpret_cast<const WfstOptionRow*>(options_.data()),
                     reinterpret_cast<const WfstScaleRow*>(scales_.data()),
                     borrow_boosts<Device>(boost_links_, boost_bonuses_),
                     boost_rows_.data(),
                     oov_arcs_.borrow(),
                     oov_rows_.data(),
                     lms_.data(),
                     nullptr};
  }

  Arcs graph_;
  Out<std::uint8_t, 2> slots_;
  Out<std::uint8_t, 2> workspaces_;
  In<std::int64_t, 2> options_;
  In<double, 2> scales_;
  In<std::int32_t, 2> boost_links_;
  In<double, 2> boost_bonuses_;
  In<std::int64_t, 1> boost_rows_;
  Arcs oov_arcs_;
  In<std::int64_t, 2> oov_rows_;
  std::vector<LmRow> lms_;     // per slot
  std::vector<LmMemo> memos_;  // per worker, as soon as a slot has models
  WfstState state_;
};

template <class Half>
void bind_wfst(nb::module_ submodule) {
  using namespace nb::literals;
  submodule.attr("wfst_threads") = Half::threads;
  submodule.def("wfst_slot_bytes", Half::slot_bytes, "shape"_a, "Bytes that one slot takes.");
  submodule.def("wfst_workspace_bytes", Half::workspace_bytes, "shape"_a,
                "Bytes that one block works in.");
  using M = WfstMemory<Half>;
  using Arcs = typename M::Arcs;
  nb::class_<Arcs>(submodule, "WfstArcs", "Nodes and arcs, borrowed from their owner.")
      .def(
          "__init__",
          [](Arcs* self, typename M::template In<std::int32_t, 2> nodes,
             typename M::template In<std::uint32_t, 1> labels,
             typename M::template In<std::int32_t, 2> arcs) {
            new (self) Arcs{nodes, labels, arcs};
          },
          "nodes"_a, "labels"_a, "arcs"_a);
  nb::class_<M>(submodule, "WfstMemory", "The memory of one search, borrowed from its owner.")
      .def(nb::init<const WfstShape&, Arcs, double, double, int, int,
                    typename M::template Out<std::uint8_t, 2>,
                    typename M::template Out<std::uint8_t, 2>,
                    typename M::template In<std::int64_t, 2>, typename M::template In<double, 2>,
                    typename M::template In<std::int32_t, 2>, typename M::template In<double, 2>,
                    typename M::template In<std::int64_t, 1>, Arcs,
                    typename M::template In<std::int64_t, 2>>(),
           nb::kw_only(), "shape"_a, "graph"_a, "min_weight"_a, "max_weight"_a, "max_eps_words"_a,
           "max_arc_words"_a, "slots"_a, "workspaces"_a, "options"_a, "scales"_a, "boost_links"_a,
           "boost_bonuses"_a, "boost_rows"_a, "oov_arcs"_a, "oov_rows"_a)
      .def("reset", &M::reset, "slots"_a, "how"_a, "Start the slots over.")
      .def("forget_boosts", &M::forget_boosts, "slots"_a, "how"_a,
           "Give back the bonus of phrases under way, and OOV words under way up.")
      .def("set_lm", &M::set_lm, "slots"_a, "lm"_a.none(), "how"_a,
           "Go on with these language models, or none.")
      .def("advance", &M::advance, "slots"_a, "log_probs"_a, "lengths"_a, "status"_a, "how"_a,
           "Search all frames of a chunk.")
      .def("count", &M::count, "slots"_a, "counts"_a, "how"_a,
           "Write frames, tokens, backpointers in use, overflows and dead ends of each slot.")
      .def("best", &M::best, "slots"_a, "finals"_a, "finalize"_a, "summary"_a, "how"_a,
           "Write cost, words, stable words, reached final and backpointer of each slot's best.")
      .def("words", &M::words, "slots"_a, "summary"_a, "words"_a, "frames"_a, "how"_a,
           "Write the words of what `best` found.")
      .def("gather", &M::gather, "slots"_a, "firsts"_a, "marks"_a, "marked"_a, "keys"_a, "costs"_a,
           "histories"_a, "backpointers"_a, "reached"_a, "how"_a,
           "Write the slots' tokens and the backpointers that they reach side by side.")
      .def("layout", &M::layout,
           "Where keys, costs, histories, backpointers and words begin in a slot's memory.");
}

inline void bind_wfst_shape(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<WfstShape>(module, "WfstShape", "The sizes that a WFST search is built for.")
      .def(
          "__init__",
          [](WfstShape* shape, int topology, int num_nodes, int start, int loop_node,
             int vocab_size, int blank_id, int num_levels, int max_tokens, int backpointer_capacity,
             int entry_capacity, int candidate_capacity) {
            new (shape) WfstShape{topology,       num_nodes,         start,
                                  loop_node,      vocab_size,        blank_id,
                                  num_levels,     max_tokens,        backpointer_capacity,
                                  entry_capacity, candidate_capacity};
          },
          nb::kw_only(), "topology"_a, "num_nodes"_a, "start"_a, "loop_node"_a, "vocab_size"_a,
          "blank_id"_a, "num_levels"_a, "max_tokens"_a, "backpointer_capacity"_a,
          "entry_capacity"_a, "candidate_capacity"_a);
}

}  // namespace earshot
