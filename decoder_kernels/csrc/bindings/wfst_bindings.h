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
#include "bindings/placed_lm.h"
#include "pinned/pinned_bytes.h"
#include "wfst/wfst_search.h"

namespace earshot {

struct CpuWfst {
  using Device = nb::device::cpu;
  using HostBytes = UnpinnedBytes;
  static constexpr bool HAS_MEMOS = true;  // of what its workers have looked up
  static constexpr int threads = 1;        // of a block, where the caller does not say
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
    static constexpr auto gather = by_threads<cpu_lm::wfst_gather, cpu_teams_lm::wfst_gather>;
  };
};

// A device that CUDA's half of the kernels runs on.
template <class On>
struct CudaWfst {
  using Device = On;
  using HostBytes = PinnedBytes;
  static constexpr bool HAS_MEMOS = false;
  static constexpr int threads = 256;
  static constexpr auto slot_bytes = cuda::wfst_slot_bytes;
  static std::size_t workspace_bytes(const WfstShape& shape) {
    return std::max(cuda::wfst_workspace_bytes(shape), cuda_lm::wfst_workspace_bytes(shape));
  }
  static constexpr auto layout = cuda::wfst_layout;
  static constexpr auto reset = cuda::wfst_reset;
  static constexpr auto forget_boosts = cuda::wfst_forget_boosts;
  static constexpr auto advance = cuda::wfst_advance;
  static constexpr auto count = cuda::wfst_count;
  static constexpr auto best = cuda::wfst_best;
  static constexpr auto words = cuda::wfst_words;
  static constexpr auto gather = cuda::wfst_gather;

  struct WithLm {
    static constexpr auto change_lm = cuda_lm::wfst_change_lm;
    static constexpr auto forget_boosts = cuda_lm::wfst_forget_boosts;
    static constexpr auto advance = cuda_lm::wfst_advance;
    static constexpr auto best = cuda_lm::wfst_best;
    static constexpr auto gather = cuda_lm::wfst_gather;
  };
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
             In<std::int64_t, 1> boost_rows, Arcs oov_arcs, In<std::int64_t, 2> oov_rows,
             In<std::uint8_t, 2> lms, Out<std::int64_t, 1> lm_cache)
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
        lms_(lms),
        lm_cache_(lm_cache),
        state_(borrow(shape, min_weight, max_weight, max_eps_words, max_arc_words)) {}

  void reset(In<std::int64_t, 1> slots, const Launch& how) const {
    run_over<Device>(slots, Half::reset, how, WfstSlotParams{state_, slots.data()});
  }

  void forget_boosts(In<std::int64_t, 1> slots, const Launch& how) const {
    run_over<Device>(slots, how.with_lm ? Half::WithLm::forget_boosts : Half::forget_boosts, how,
                     WfstSlotParams{state_, slots.data()});
  }

  // The slots' models are others now, or none.
  void change_lm(In<std::int64_t, 1> slots, const Launch& how) {
    if (Half::HAS_MEMOS && memos_.empty()) {
      memos_.resize(workspaces_.shape(0));
      state_.lm_kept.memos = memos_.data();
    }
    run_over<Device>(slots, Half::WithLm::change_lm, how, WfstSlotParams{state_, slots.data()});
  }

  void advance(In<std::int64_t, 1> slots, In<float, 3> log_probs, In<std::int64_t, 1> lengths,
               Out<std::int32_t, 1> status, const Launch& how) const {
    const WfstAdvanceParams params{state_,
                                   slots.data(),
                                   log_probs.data(),
                                   lengths.data(),
                                   static_cast<std::int64_t>(log_probs.shape(1)),
                                   status.data()};
    run_over<Device>(slots, how.with_lm ? Half::WithLm::advance : Half::advance, how, params);
  }

  void count(In<std::int64_t, 1> slots, Out<std::int64_t, 2> counts, const Launch& how) const {
    run_over<Device>(slots, Half::count, how, WfstCountParams{state_, slots.data(), counts.data()});
  }

  void best(In<std::int64_t, 1> slots, In<float, 1> finals, bool finalize,
            Out<std::int64_t, 2> summary, const Launch& how) const {
    const WfstBestParams params{state_, slots.data(), finals.data(), finalize, summary.data()};
    run_over<Device>(slots, how.with_lm ? Half::WithLm::best : Half::best, how, params);
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
              Out<std::int64_t, 1> words, Out<std::int32_t, 1> histories,
              Out<std::int64_t, 2> backpointers, Out<std::int64_t, 1> reached,
              const Launch& how) const {
    run_over<Device>(
        slots, how.with_lm ? Half::WithLm::gather : Half::gather, how,
        WfstGatherParams{state_, slots.data(), firsts.data(), marks.data(), marked.data(),
                         reinterpret_cast<std::uint64_t*>(keys.data()), costs.data(),
                         reinterpret_cast<std::uint64_t*>(words.data()), histories.data(),
                         reinterpret_cast<WfstBackpointer*>(backpointers.data()), reached.data()});
  }

  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t> layout() const {
    const WfstLayout found = Half::layout(state_);
    return {found.keys, found.costs, found.histories, found.backpointers, found.words};
  }

 private:
  // Of all entries a third is for states; a cache too small for one of each is none.
  LmCache borrow_cache() const {
    const std::uint64_t size = lm_cache_.size();
    const auto states = static_cast<std::uint32_t>(size / (2 * LM_PRICE_WORDS + LM_STATES_WORDS));
    auto* const memory = reinterpret_cast<std::uint64_t*>(lm_cache_.data());
    const std::uint64_t left = size - std::uint64_t{states} * LM_STATES_WORDS;
    return LmCache{memory, states == 0 ? 0 : static_cast<std::uint32_t>(left / LM_PRICE_WORDS),
                   states};
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
                     reinterpret_cast<const LmRow*>(lms_.data()),
                     LmKeeping{nullptr, borrow_cache()}};
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
  In<std::uint8_t, 2> lms_;  // LmRow of each slot
  Out<std::int64_t, 1> lm_cache_;
  std::vector<LmMemo> memos_;  // per worker of a CPU, as soon as a slot has models
  WfstState state_;
};

template <class Half>
void bind_wfst(nb::module_ submodule) {
  using namespace nb::literals;
  submodule.attr("wfst_threads") = Half::threads;
  submodule.def("wfst_slot_bytes", Half::slot_bytes, "shape"_a, "Bytes that one slot takes.");
  submodule.def("wfst_workspace_bytes", Half::workspace_bytes, "shape"_a,
                "Bytes that one block works in.");
  bind_placed_lm<Half>(submodule);
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
      .def(nb::init<
               const WfstShape&, Arcs, double, double, int, int,
               typename M::template Out<std::uint8_t, 2>, typename M::template Out<std::uint8_t, 2>,
               typename M::template In<std::int64_t, 2>, typename M::template In<double, 2>,
               typename M::template In<std::int32_t, 2>, typename M::template In<double, 2>,
               typename M::template In<std::int64_t, 1>, Arcs,
               typename M::template In<std::int64_t, 2>, typename M::template In<std::uint8_t, 2>,
               typename M::template Out<std::int64_t, 1>>(),
           nb::kw_only(), "shape"_a, "graph"_a, "min_weight"_a, "max_weight"_a, "max_eps_words"_a,
           "max_arc_words"_a, "slots"_a, "workspaces"_a, "options"_a, "scales"_a, "boost_links"_a,
           "boost_bonuses"_a, "boost_rows"_a, "oov_arcs"_a, "oov_rows"_a, "lms"_a, "lm_cache"_a)
      .def("reset", &M::reset, "slots"_a, "how"_a, "Start the slots over.")
      .def("forget_boosts", &M::forget_boosts, "slots"_a, "how"_a,
           "Give back the bonus of phrases under way, and OOV words under way up.")
      .def("change_lm", &M::change_lm, "slots"_a, "how"_a,
           "Go on with the language models that the slots' rows have now, or none.")
      .def("advance", &M::advance, "slots"_a, "log_probs"_a, "lengths"_a, "status"_a, "how"_a,
           "Search all frames of a chunk.")
      .def("count", &M::count, "slots"_a, "counts"_a, "how"_a,
           "Write frames, tokens, backpointers in use, overflows and dead ends of each slot.")
      .def("best", &M::best, "slots"_a, "finals"_a, "finalize"_a, "summary"_a, "how"_a,
           "Write cost, words, stable words, reached final and backpointer of each slot's best.")
      .def("words", &M::words, "slots"_a, "summary"_a, "words"_a, "frames"_a, "how"_a,
           "Write the words of what `best` found.")
      .def("gather", &M::gather, "slots"_a, "firsts"_a, "marks"_a, "marked"_a, "keys"_a, "costs"_a,
           "words"_a, "histories"_a, "backpointers"_a, "reached"_a, "how"_a,
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
