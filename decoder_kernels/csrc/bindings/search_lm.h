// The language models that a search of a slot is given, borrowed from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "arrays/borrowed_array.h"
#include "bindings/lm_bindings.h"
#include "pricing/lm_row.h"
#include "pricing/lm_words.h"

namespace earshot {

// An image, and its numbers of a graph's words.
struct NumberedLm {
  NumberedLm(const BorrowedImage& image, HostArray<const std::uint32_t, 1> numbers)
      : image(image), owner(nb::find(image)), numbers(numbers) {}

  LmPart part(double log_share) const {
    const LmImage& model = image.image();
    return LmPart{.view = model.view(),
                  .numbers = numbers.data(),
                  .start = model.find("<s>"),
                  .end = model.find("</s>"),
                  .pairs = model.lookup().first_pair(),
                  .triples = model.lookup().first_triple(),
                  .classes = {},
                  .log_share = log_share};
  }

  const BorrowedImage& image;
  nb::object owner;
  HostArray<const std::uint32_t, 1> numbers;
};

// Members of classes (M, 2), int64, as LmMember has them.
template <class Device>
using LmMembers = Array<Device, const std::int64_t, 2>;

// A row with a slot's words beyond the graph's.
template <class Device>
LmRow with_members(LmRow row, const LmMembers<Device>& members) {
  if (members.size() != 2 * members.shape(0)) {
    throw std::invalid_argument("a member has a class and a cost");
  }
  row.num_members = static_cast<std::int32_t>(members.shape(0));
  row.members = reinterpret_cast<const LmMember*>(members.data());
  return row;
}

class SearchLm {
 public:
  // Row i of `classes` has the numbers of the classes in large model i. `before`: words as a state
  // has them that are told before the first, the newest last; none where a sentence begins.
  SearchLm(const NumberedLm& small, const std::vector<const NumberedLm*>& large,
           HostArray<const double, 1> log_shares, HostArray<const std::uint32_t, 2> classes,
           HostArray<const std::int64_t, 1> before, double scale, std::int64_t gain,
           std::int64_t history_beam)
      : row_{++last_id_,
             static_cast<std::int32_t>(large.size()),
             static_cast<std::int32_t>(small.numbers.size()),
             static_cast<std::int32_t>(classes.shape(1)),
             0,
             nullptr,
             scale,
             gain,
             history_beam,
             small.part(0.0),
             {}} {
    if (large.empty() || large.size() > LM_MOST_PARTS || log_shares.size() != large.size()) {
      throw std::invalid_argument("there are too few or too many models, or shares");
    }
    if (classes.shape(0) != large.size() || classes.shape(1) > LM_MOST_CLASSES) {
      throw std::invalid_argument("the numbers of classes are not those of the models");
    }
    own(small);
    std::fill_n(row_.small.classes, LM_MOST_CLASSES, LM_NO_WORD);
    for (std::size_t i = 0; i < large.size(); ++i) {
      if (large[i] == nullptr || large[i]->numbers.size() != small.numbers.size()) {
        throw std::invalid_argument("the models have numbers of other graphs' words");
      }
      row_.large[i] = large[i]->part(log_shares.data()[i]);
      std::copy_n(classes.data() + i * classes.shape(1), classes.shape(1), row_.large[i].classes);
      own(*large[i]);
    }
    begin_behind(before.data(), before.size());
  }

  const LmRow& row() const { return row_; }

  // The state before the first word.
  std::uint64_t beginning() const { return beginning_; }

 private:
  static inline std::atomic<std::uint32_t> last_id_ = 0;

  void own(const NumberedLm& model) { owned_.push_back(model); }

  // What the graph's arcs have paid is the small model's start of a sentence; to the large ones the
  // same place in a state is the last word told. Those before it stand before it, where the small
  // model, in which no word comes before a start, knows nothing of them.
  void begin_behind(const std::int64_t* before, std::size_t size) {
    for (std::size_t i = 0; i + 1 < size; ++i) {
      beginning_ = beginning_ << cpu::LM_WORD_BITS | static_cast<cpu::LmWords>(before[i]);
    }
    if (size > 0) {
      for (int i = 0; i < row_.num_large; ++i) {
        row_.large[i].start = number_of(row_.large[i], before[size - 1]);
      }
    }
    beginning_ =
        cpu::lm_suffix(beginning_ << cpu::LM_WORD_BITS | cpu::LM_START, cpu::LM_STATE_WORDS);
  }

  // A word of a state by a large model's numbers.
  std::uint32_t number_of(const LmPart& part, std::int64_t word) const {
    std::uint32_t number = LM_NO_WORD;
    if (word < row_.num_words) {
      number = part.numbers[word];
    } else if (word - row_.num_words < row_.num_classes) {
      number = part.classes[word - row_.num_words];
    }
    return number < part.view.num_words ? number : part.view.unknown;
  }

  LmRow row_;
  std::uint64_t beginning_ = 0;
  std::vector<NumberedLm> owned_;
};

inline void bind_search_lm(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<NumberedLm>(module, "NumberedLm", "An image, and its numbers of a graph's words.")
      .def(nb::init<const BorrowedImage&, HostArray<const std::uint32_t, 1>>(), "image"_a,
           "numbers"_a);
  nb::class_<SearchLm>(module, "SearchLm", "The language models of a slot's search.")
      .def(nb::init<const NumberedLm&, const std::vector<const NumberedLm*>&,
                    HostArray<const double, 1>, HostArray<const std::uint32_t, 2>,
                    HostArray<const std::int64_t, 1>, double, std::int64_t, std::int64_t>(),
           "small"_a, "large"_a, "log_shares"_a, "classes"_a, "before"_a, nb::kw_only(), "scale"_a,
           "gain"_a, "history_beam"_a)
      .def_prop_ro("beginning", &SearchLm::beginning,
                   "The state before the first word, packed (lm_words.h).");
}

}  // namespace earshot
