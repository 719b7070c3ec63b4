// Binds what reads lists, lattices and confidences out of slots' records on the host.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/borrowed.h"
#include "bindings/lm_bindings.h"
#include "bindings/search_lm.h"
#include "results/lm_lattice.h"
#include "results/slot_results.h"
#include "results/word_confidence.h"

namespace earshot {

// Where a slot's records begin in the memory that is passed with it, in bytes, and the rest of
// SlotRecords.
struct ResultLane {
  std::int64_t keys;
  std::int64_t costs;
  std::int64_t histories;
  std::int64_t backpointers;
  int num_tokens;
  int num_frames;
  std::int64_t lattice_beam;
  double graph_scale;
  bool finalize;
  const SlotBoosts* boosts;
  const SearchLm* lm;  // null without
  std::int64_t words;
  bool has_whole_lm;
  LmRow row;  // theirs, with the slot's members

  SlotRecords in(const std::uint8_t* memory) const {
    return SlotRecords{reinterpret_cast<const std::uint64_t*>(memory + keys),
                       reinterpret_cast<const std::int64_t*>(memory + costs),
                       reinterpret_cast<const std::int32_t*>(memory + histories),
                       reinterpret_cast<const WfstBackpointer*>(memory + backpointers),
                       num_tokens,
                       num_frames,
                       lattice_beam,
                       graph_scale,
                       finalize,
                       boosts,
                       lm == nullptr ? nullptr : &row,
                       reinterpret_cast<const std::uint64_t*>(memory + words),
                       has_whole_lm,
                       lm == nullptr ? 0 : lm->beginning()};
  }
};

using Integers = nb::typed<nb::tuple, int, nb::ellipsis>;

// Words, frames, cost and boost in the search's unit, reached final.
using Listed = nb::typed<nb::tuple, Integers, Integers, std::int64_t, std::int64_t, bool>;
using ListsOfLanes = nb::typed<nb::list, std::optional<nb::typed<nb::list, Listed>>>;

template <class T>
using NumPyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Frames, sources, targets, words and costs of the arcs, beam, reached final.
using Drawn =
    nb::typed<nb::tuple, NumPyArray<std::int32_t>, NumPyArray<std::int32_t>,
              NumPyArray<std::int32_t>, NumPyArray<std::int32_t>, NumPyArray<double>, double, bool>;
using LatticesOfLanes = nb::typed<nb::list, std::optional<Drawn>>;

inline nb::tuple tuple_of(const std::vector<int>& numbers) {
  nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLong(numbers[i]));
  }
  return made;
}

template <class T>
NumPyArray<T> array_of(std::vector<T> numbers) {
  auto kept = std::make_unique<std::vector<T>>(std::move(numbers));
  T* data = kept->data();
  const std::size_t size = kept->size();
  nb::capsule owner(kept.release(),
                    [](void* own) noexcept { delete static_cast<std::vector<T>*>(own); });
  return NumPyArray<T>(data, {size}, owner);
}

// The results of a search's slots. The final costs are borrowed for as long as this object lives.
class ResultReader {
  static nb::object list_of(const std::vector<ListedWords>& listed) {
    nb::list made;
    for (const ListedWords& each : listed) {
      made.append(nb::make_tuple(tuple_of(each.ranked.words), tuple_of(each.ranked.frames),
                                 each.ranked.cost, each.boost, each.reached_final));
    }
    return made;
  }

  static LatticeView view_of(const DrawnLattice& drawn) {
    return LatticeView{drawn.frames, drawn.sources, drawn.targets, drawn.words, drawn.costs};
  }

  // What `ask` finds in each lane; Python runs on meanwhile.
  template <class Ask>
  static auto read(const HostArray<const std::uint8_t, 2>& memory,
                   const std::vector<ResultLane>& lanes, Ask ask) {
    nb::gil_scoped_release released;
    std::vector<decltype(ask(lanes.front().in(nullptr)))> found;
    for (const ResultLane& lane : lanes) found.push_back(ask(lane.in(memory.data())));
    return found;
  }

 public:
  explicit ResultReader(HostArray<const float, 1> finals)
      : finals_(finals), slots_(span_of(finals)) {}

  // For each lane (words, frames, cost, boost, reached final) of each hypothesis, or None.
  ListsOfLanes nbest(HostArray<const std::uint8_t, 2> memory, const std::vector<ResultLane>& lanes,
                     int count, std::int64_t max_steps) {
    const auto found = read(memory, lanes, [&](const SlotRecords& slot) {
      return slots_.nbest(slot, count, max_steps);
    });
    nb::list lists;
    for (const auto& each : found) lists.append(each ? list_of(*each) : nb::none());
    return ListsOfLanes(lists);
  }

  // For each lane (frames, sources, targets, words, costs, beam, reached final), or None.
  LatticesOfLanes lattices(HostArray<const std::uint8_t, 2> memory,
                           const std::vector<ResultLane>& lanes, std::int64_t max_steps) {
    auto found = read(memory, lanes, [&](const SlotRecords& slot) {
      auto drawn = slots_.lattice(slot, max_steps);
      return std::pair(std::move(drawn), slots_.reached_final());
    });
    nb::list lattices;
    for (auto& [drawn, reached] : found) {
      if (!drawn) {
        lattices.append(nb::none());
        continue;
      }
      lattices.append(
          nb::make_tuple(array_of(std::move(drawn->frames)), array_of(std::move(drawn->sources)),
                         array_of(std::move(drawn->targets)), array_of(std::move(drawn->words)),
                         array_of(std::move(drawn->costs)), drawn->beam, reached));
    }
    return LatticesOfLanes(lattices);
  }

  // For each lane its WordConfidences, or None.
  std::vector<std::optional<WordConfidences>> confidences(HostArray<const std::uint8_t, 2> memory,
                                                          const std::vector<ResultLane>& lanes,
                                                          double scale, double coverage) {
    return read(memory, lanes, [&](const SlotRecords& slot) {
      const auto drawn = slots_.lattice(slot);
      return drawn ? std::optional(WordConfidences(view_of(*drawn), scale, coverage))
                   : std::nullopt;
    });
  }

 private:
  HostArray<const float, 1> finals_;
  SlotResults slots_;
};

inline void bind_slot_boosts(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SlotBoosts>(module, "SlotBoosts", "The boost tables that a slot has had.")
      .def(nb::init<>())
      .def(
          "change",
          [](SlotBoosts& boosts, std::int64_t frame, HostArray<const std::int32_t, 2> links,
             HostArray<const double, 2> bonuses) {
            boosts.change(
                frame, borrow_boosts<nb::device::cpu>(links, bonuses),
                std::make_shared<std::pair<decltype(links), decltype(bonuses)>>(links, bonuses));
          },
          "frame"_a, "links"_a, "bonuses"_a, "Another table from a frame on.")
      .def(
          "remove",
          [](SlotBoosts& boosts, std::int64_t frame) { boosts.change(frame, {}, nullptr); },
          "frame"_a, "No table from a frame on.")
      .def("restart", &SlotBoosts::restart, "The same table from the first frame on.")
      .def(
          "earned",
          [](const SlotBoosts& boosts, const std::vector<int>& words,
             const std::vector<int>& frames) { return boosts.earned(words, frames); },
          "words"_a, "frames"_a, "What completed phrases have earned, in the search's unit.");
}

// Words and frames of a path, what it costs, and what the models add to that.
using Priced = nb::typed<nb::tuple, Integers, Integers, double, double>;

inline std::optional<nb::typed<nb::list, Priced>> price_lattice(
    HostArray<const std::int32_t, 1> frames, HostArray<const std::int32_t, 1> sources,
    HostArray<const std::int32_t, 1> targets, HostArray<const std::int32_t, 1> words,
    HostArray<const double, 1> costs,
    const std::vector<std::pair<const BorrowedMixture*, double>>& terms, std::vector<int> beginning,
    std::size_t count, bool ended, std::int64_t max_lookups) {
  const LatticeView lattice{span_of(frames), span_of(sources), span_of(targets), span_of(words),
                            span_of(costs)};
  check_lattice(lattice);
  std::vector<LmTerm> priced;
  for (const auto& [mixture, factor] : terms) {
    if (mixture == nullptr || mixture->num_words() != words.size() + 1) {
      throw std::invalid_argument("a model needs a word for each arc, and the sentence's end");
    }
    priced.push_back(LmTerm{&mixture->mixture(), factor});
  }
  std::optional<std::vector<PricedPath>> paths;
  {
    nb::gil_scoped_release released;
    paths =
        LmLattice(lattice, std::move(priced)).list(std::move(beginning), count, ended, max_lookups);
  }
  if (!paths) return std::nullopt;
  nb::list listed;
  for (const PricedPath& path : *paths) {
    listed.append(
        nb::make_tuple(tuple_of(path.words), tuple_of(path.frames), path.cost, path.price));
  }
  return nb::typed<nb::list, Priced>(listed);
}

inline void bind_lattices(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<WordConfidences>(module, "WordConfidences", "How sure a lattice is of words.")
      .def(
          "__init__",
          [](WordConfidences* self, HostArray<const std::int32_t, 1> frames,
             HostArray<const std::int32_t, 1> sources, HostArray<const std::int32_t, 1> targets,
             HostArray<const std::int32_t, 1> words, HostArray<const double, 1> costs, double scale,
             double coverage) {
            const LatticeView lattice{span_of(frames), span_of(sources), span_of(targets),
                                      span_of(words), span_of(costs)};
            new (self) WordConfidences(lattice, scale, coverage);
          },
          nb::kw_only(), "frames"_a, "sources"_a, "targets"_a, "words"_a, "costs"_a, "scale"_a,
          "coverage"_a)
      .def(
          "of",
          [](const WordConfidences& sure, const std::vector<int>& words,
             const std::vector<int>& frames) { return sure.of(words, frames); },
          "words"_a, "frames"_a, "Confidence in 0..1 of each word.");
  module.def(
      "arc_posteriors",
      [](HostArray<const std::int32_t, 1> frames, HostArray<const std::int32_t, 1> sources,
         HostArray<const std::int32_t, 1> targets, HostArray<const double, 1> costs, double scale) {
        const LatticeView lattice{
            span_of(frames), span_of(sources), span_of(targets), {}, span_of(costs)};
        return array_of(arc_posteriors(lattice, scale));
      },
      nb::kw_only(), "frames"_a, "sources"_a, "targets"_a, "costs"_a, "scale"_a,
      "The share of all paths that goes through each arc.");
  module.def("price_lattice", &price_lattice, nb::kw_only(), "frames"_a, "sources"_a, "targets"_a,
             "words"_a, "costs"_a, "terms"_a, "beginning"_a, "count"_a, "ended"_a, "max_lookups"_a,
             "The cheapest paths once models have priced them, or None.");
}

inline void bind_results(nb::module_& module) {
  using namespace nb::literals;
  bind_slot_boosts(module);
  bind_lattices(module);
  nb::class_<ResultLane>(module, "ResultLane", "Where a slot's records are, and how to read them.")
      .def(
          "__init__",
          [](ResultLane* lane, std::int64_t keys, std::int64_t costs, std::int64_t histories,
             std::int64_t backpointers, int num_tokens, int num_frames, std::int64_t lattice_beam,
             double graph_scale, bool finalize, const SlotBoosts& boosts, const SearchLm* lm,
             std::int64_t words, bool has_whole_lm,
             const std::optional<LmMembers<nb::device::cpu>>& members) {
            LmRow row = lm == nullptr ? LmRow{} : lm->row();
            if (members) row = with_members<nb::device::cpu>(row, *members);
            new (lane) ResultLane{keys,       costs,        histories,    backpointers, num_tokens,
                                  num_frames, lattice_beam, graph_scale,  finalize,     &boosts,
                                  lm,         words,        has_whole_lm, row};
          },
          nb::kw_only(), "keys"_a, "costs"_a, "histories"_a, "backpointers"_a, "num_tokens"_a,
          "num_frames"_a, "lattice_beam"_a, "graph_scale"_a, "finalize"_a, "boosts"_a,
          "lm"_a.none() = nb::none(), "words"_a = 0, "has_whole_lm"_a = false,
          "members"_a.none() = nb::none(), nb::keep_alive<1, 11>(), nb::keep_alive<1, 12>(),
          nb::keep_alive<1, 15>());
  nb::class_<ResultReader>(module, "ResultReader", "Reads the results of a search's slots.")
      .def(nb::init<HostArray<const float, 1>>(), "finals"_a)
      .def("nbest", &ResultReader::nbest, "memory"_a, "lanes"_a, "count"_a,
           "max_steps"_a = MAX_STEPS, "Each lane's hypotheses, cheapest first, or None.")
      .def("lattices", &ResultReader::lattices, "memory"_a, "lanes"_a, "max_steps"_a = MAX_STEPS,
           "Each lane's lattice, or None.")
      .def("confidences", &ResultReader::confidences, "memory"_a, "lanes"_a, "scale"_a,
           "coverage"_a, "Each lane's WordConfidences, or None.");
}

}  // namespace earshot
