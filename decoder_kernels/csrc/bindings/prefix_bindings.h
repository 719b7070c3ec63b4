// Binds the prefix search of one target. Python owns all memory and has checked all shapes
// (prefix_search.py); here only element types, layout and device are checked, by nanobind.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/borrowed.h"
#include "prefix/prefix_search.h"

namespace earshot {

struct CpuPrefix {
  using Device = nb::device::cpu;
  static constexpr int threads = 1;  // of a block, where the caller does not say
  static constexpr auto slot_bytes = cpu::slot_bytes;
  static constexpr auto scratch_bytes = cpu::scratch_bytes;
  static constexpr auto reset = by_threads<cpu::reset, cpu_teams::reset>;
  static constexpr auto forget_boosts = by_threads<cpu::forget_boosts, cpu_teams::forget_boosts>;
  static constexpr auto advance = by_threads<cpu::advance, cpu_teams::advance>;
  static constexpr auto summarize = by_threads<cpu::summarize, cpu_teams::summarize>;
  static constexpr auto read_results = by_threads<cpu::read_results, cpu_teams::read_results>;
};

// A device that CUDA's half of the kernels runs on.
template <class On>
struct CudaPrefix {
  using Device = On;
  static constexpr int threads = 128;
  static constexpr auto slot_bytes = cuda::slot_bytes;
  static constexpr auto scratch_bytes = cuda::scratch_bytes;
  static constexpr auto reset = cuda::reset;
  static constexpr auto forget_boosts = cuda::forget_boosts;
  static constexpr auto advance = cuda::advance;
  static constexpr auto summarize = cuda::summarize;
  static constexpr auto read_results = cuda::read_results;
};

// The memory of one search, borrowed from Python for as long as this object lives.
template <class Half>
class PrefixMemory {
  using Device = typename Half::Device;
  template <class T, std::size_t Dimensions>
  using In = Array<Device, const T, Dimensions>;
  template <class T, std::size_t Dimensions>
  using Out = Array<Device, T, Dimensions>;

 public:
  PrefixMemory(const SearchShape& shape, Out<std::uint8_t, 2> slots,
               In<std::int32_t, 2> boost_links, In<double, 2> boost_bonuses,
               In<std::int64_t, 1> boost_rows)
      : slots_(slots),
        boost_links_(boost_links),
        boost_bonuses_(boost_bonuses),
        boost_rows_(boost_rows),
        state_(borrow(shape)) {}

  void reset(In<std::int64_t, 1> slots, const Launch& how) const {
    run_over<Device>(slots, Half::reset, how, ResetParams{state_, slots.data()});
  }

  void forget_boosts(In<std::int64_t, 1> slots, const Launch& how) const {
    run_over<Device>(slots, Half::forget_boosts, how, ResetParams{state_, slots.data()});
  }

  void advance(In<std::int64_t, 1> slots, In<float, 3> log_probs, In<std::int64_t, 1> lengths,
               Out<std::int32_t, 1> status, const Launch& how) const {
    run_over<Device>(slots, Half::advance, how,
                     AdvanceParams{state_, slots.data(), log_probs.data(), lengths.data(),
                                   static_cast<std::int64_t>(log_probs.shape(1)), status.data()});
  }

  void summarize(In<std::int64_t, 1> slots, Out<std::int64_t, 2> summary, const Launch& how) const {
    run_over<Device>(slots, Half::summarize, how,
                     SummaryParams{state_, slots.data(), summary.data()});
  }

  void read_results(In<std::int64_t, 1> slots, bool finalize, Out<std::int32_t, 3> tokens,
                    Out<std::int32_t, 3> frames, Out<float, 3> log_probs,
                    Out<std::int32_t, 2> lengths, Out<double, 3> scores,
                    Out<std::int32_t, 1> stable, const Launch& how) const {
    run_over<Device>(
        slots, Half::read_results, how,
        ResultParams{state_, slots.data(), static_cast<int>(tokens.shape(1)),
                     static_cast<int>(tokens.shape(2)), finalize, tokens.data(), frames.data(),
                     log_probs.data(), lengths.data(), scores.data(), stable.data()});
  }

 private:
  SearchState borrow(const SearchShape& shape) const {
    return SearchState{shape, reinterpret_cast<std::byte*>(slots_.data()),
                       static_cast<std::int64_t>(slots_.shape(1)),
                       borrow_boosts<Device>(boost_links_, boost_bonuses_), boost_rows_.data()};
  }

  Out<std::uint8_t, 2> slots_;
  In<std::int32_t, 2> boost_links_;
  In<double, 2> boost_bonuses_;
  In<std::int64_t, 1> boost_rows_;
  SearchState state_;
};

template <class Half>
void bind_prefix(nb::module_ submodule) {
  using namespace nb::literals;
  submodule.attr("prefix_threads") = Half::threads;
  submodule.def("slot_bytes", Half::slot_bytes, "shape"_a, "Bytes of state that one slot takes.");
  submodule.def("scratch_bytes", Half::scratch_bytes, "shape"_a,
                "Bytes that one lane works in: shared memory on CUDA.");
  using S = PrefixMemory<Half>;
  nb::class_<S>(submodule, "PrefixSearch", "The memory of one search, borrowed from its owner.")
      .def(nb::init<const SearchShape&, Array<typename Half::Device, std::uint8_t, 2>,
                    Array<typename Half::Device, const std::int32_t, 2>,
                    Array<typename Half::Device, const double, 2>,
                    Array<typename Half::Device, const std::int64_t, 1>>(),
           "shape"_a, "slots"_a, "boost_links"_a, "boost_bonuses"_a, "boost_rows"_a)
      .def("reset", &S::reset, "slots"_a, "how"_a, "Start the slots over.")
      .def("forget_boosts", &S::forget_boosts, "slots"_a, "how"_a,
           "Put all hypotheses of the slots at the root of their boost tables.")
      .def("advance", &S::advance, "slots"_a, "log_probs"_a, "lengths"_a, "status"_a, "how"_a,
           "Search all frames of a chunk.")
      .def("summarize", &S::summarize, "slots"_a, "summary"_a, "how"_a,
           "Write hypotheses, frames, tokens of the longest and overflows of each slot.")
      .def("read_results", &S::read_results, "slots"_a, "finalize"_a, "tokens"_a, "frames"_a,
           "log_probs"_a, "lengths"_a, "scores"_a, "stable"_a, "how"_a,
           "Write the best hypotheses of each slot.");
}

inline void bind_prefix_shape(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SearchShape>(module, "SearchShape", "The sizes that a search is built for.")
      .def(
          "__init__",
          [](SearchShape* shape, int beam_size, int token_beam, int blank_id, int vocab_size,
             int node_capacity, bool boost_candidates) {
            new (shape) SearchShape{beam_size,  token_beam,    blank_id,
                                    vocab_size, node_capacity, boost_candidates};
          },
          nb::kw_only(), "beam_size"_a, "token_beam"_a, "blank_id"_a, "vocab_size"_a,
          "node_capacity"_a, "boost_candidates"_a);
}

}  // namespace earshot
