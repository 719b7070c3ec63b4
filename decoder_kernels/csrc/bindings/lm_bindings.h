// Binds images of language models: packing, opening, lookups.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "arrays/borrowed_array.h"
#include "lm/lm_batch.h"
#include "lm/lm_image.h"
#include "lm/lm_packer.h"
#include "results/lm_texts.h"

namespace earshot {

// An image, and the memory that it is in.
class BorrowedImage {
 public:
  BorrowedImage(HostArray<const std::uint8_t, 1> content, int order, std::uint64_t words,
                std::uint64_t text_bytes, std::array<std::uint64_t, LM_MAX_ORDER> rows,
                std::uint64_t tallies, std::uint64_t states, int unknown_cost)
      : content_(content),
        image_(content.data(), content.size(),
               LmCounts{order, words, text_bytes, rows, tallies, states}, unknown_cost) {}

  const LmImage& image() const { return image_; }
  const std::uint8_t* content() const { return content_.data(); }
  std::size_t size() const { return content_.size(); }

  // For each pair of a state and a word what it costs, into `costs`, and the state after it.
  void look_up(HostArray<const std::uint32_t, 1> states, HostArray<const std::uint32_t, 1> words,
               HostArray<std::int32_t, 1> costs, HostArray<std::uint32_t, 1> after) const {
    nb::gil_scoped_release released;
    const cpu::LmLookup lookup = image_.lookup();
    const std::size_t size = std::min({states.size(), words.size(), costs.size(), after.size()});
    LmBatch(lookup).find(states.data(), words.data(), size, costs.data(), after.data());
  }

  void find_words(const std::vector<std::string_view>& words,
                  HostArray<std::uint32_t, 1> numbers) const {
    nb::gil_scoped_release released;
    const std::size_t size = std::min(words.size(), numbers.size());
    for (std::size_t i = 0; i < size; ++i) numbers.data()[i] = image_.find(words[i]);
  }

  std::pair<std::int32_t, std::uint32_t> find(std::uint32_t state, std::uint32_t word) const {
    const cpu::LmFound found = image_.lookup().find(state, word);
    return {found.cost, found.state};
  }

 private:
  HostArray<const std::uint8_t, 1> content_;
  LmImage image_;
};

[[noreturn]] inline void raise_arpa_fault(const std::exception& fault, const std::string& source,
                                          const nb::object& line) {
  const nb::object type =
      nb::module_::import_("earshot.decoder_kernels.errors").attr("GraphSourceError");
  const char* message = fault.what();  // it may show what is no text
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace"));
  PyErr_SetObject(type.ptr(), type(text, source, line).ptr());
  throw nb::python_error();
}

// What a packer does, Python running on meanwhile; its faults as Python knows them.
template <class Do>
auto packing(const std::string& source, Do work) {
  try {
    nb::gil_scoped_release released;
    return work();
  } catch (const ArpaFault& fault) {
    raise_arpa_fault(fault, source, nb::int_(fault.line));
  } catch (const std::length_error& error) {
    raise_arpa_fault(error, source, nb::none());
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
}

inline void bind_lm_packer(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<LmPacked>(module, "LmPacked", "What an image has.")
      .def_prop_ro("order", [](const LmPacked& packed) { return packed.counts.order; })
      .def_prop_ro("words", [](const LmPacked& packed) { return packed.counts.words; })
      .def_prop_ro("text_bytes", [](const LmPacked& packed) { return packed.counts.text_bytes; })
      .def_prop_ro("rows", [](const LmPacked& packed) { return packed.counts.rows; })
      .def_prop_ro("tallies", [](const LmPacked& packed) { return packed.counts.tallies; })
      .def_prop_ro("states", [](const LmPacked& packed) { return packed.counts.states; })
      .def_ro("holes", &LmPacked::holes)
      .def_ro("clamped", &LmPacked::clamped);
  nb::class_<LmPacker>(module, "LmPacker", "Makes an image of ARPA text that comes in pieces.")
      .def(nb::init<std::string, std::size_t>(), "folder"_a, "memory"_a)
      .def(
          "feed",
          [](LmPacker& packer, nb::bytes piece, const std::string& source) {
            const std::string_view text(piece.c_str(), piece.size());
            packing(source, [&] { packer.feed(text); });
          },
          "piece"_a, "source"_a, "Raises GraphSourceError, naming the line, and OSError.")
      .def(
          "finish",
          [](LmPacker& packer, const std::string& path, const std::string& source) {
            return packing(source, [&] { return packer.finish(path); });
          },
          "path"_a, "source"_a, "Write all but the header and the checksums.")
      .def_prop_ro("is_complete", &LmPacker::is_complete);
}

// A mixture, and the arrays that it reads. Row i of `words` has the numbers of image i, `added`
// what each of them costs beside.
class BorrowedMixture {
 public:
  BorrowedMixture(const std::vector<const BorrowedImage*>& images,
                  HostArray<const double, 1> log_shares, HostArray<const std::uint32_t, 1> starts,
                  HostArray<const std::uint32_t, 2> words, HostArray<const double, 1> added)
      : words_(words),
        added_(added),
        mixture_(voices(images, log_shares, starts, words), added.data()) {
    if (added.size() != words.shape(1)) {
      throw std::invalid_argument("each word needs what it costs beside");
    }
  }

  const LmMixture& mixture() const { return mixture_; }
  std::size_t num_words() const { return words_.shape(1); }

  void price(HostArray<const std::int64_t, 1> ends, HostArray<double, 1> costs) const {
    nb::gil_scoped_release released;
    LmTexts(mixture_).price(ends.data(), std::min(ends.size(), costs.size()), num_words(),
                            costs.data());
  }

 private:
  static std::vector<LmVoice> voices(const std::vector<const BorrowedImage*>& images,
                                     const HostArray<const double, 1>& log_shares,
                                     const HostArray<const std::uint32_t, 1>& starts,
                                     const HostArray<const std::uint32_t, 2>& words) {
    const std::size_t size = images.size();
    if (size == 0 || log_shares.size() != size || starts.size() != size || words.shape(0) != size) {
      throw std::invalid_argument("as many shares, starts and rows of words are needed as images");
    }
    std::vector<LmVoice> made;
    for (std::size_t i = 0; i < size; ++i) {
      if (images[i] == nullptr) throw std::invalid_argument("an image is None");
      made.push_back({images[i]->image().lookup(), log_shares.data()[i], starts.data()[i],
                      words.data() + i * words.shape(1)});
    }
    return made;
  }

  HostArray<const std::uint32_t, 2> words_;
  HostArray<const double, 1> added_;
  LmMixture mixture_;
};

inline void bind_lm_mixture(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<BorrowedMixture>(module, "LmMixture",
                              "Images that are asked about the same words, and mixed.")
      .def(nb::init<const std::vector<const BorrowedImage*>&, HostArray<const double, 1>,
                    HostArray<const std::uint32_t, 1>, HostArray<const std::uint32_t, 2>,
                    HostArray<const double, 1>>(),
           "images"_a, "log_shares"_a, "starts"_a, "words"_a, "added"_a, nb::keep_alive<1, 2>())
      .def("price", &BorrowedMixture::price, "ends"_a, "costs"_a,
           "Write what texts cost, in nats, that end there in the words.");
}

inline void bind_lm(nb::module_& module) {
  using namespace nb::literals;
  bind_lm_packer(module);
  nb::class_<BorrowedImage>(module, "LmImage", "A language model's image in memory.")
      .def(nb::init<HostArray<const std::uint8_t, 1>, int, std::uint64_t, std::uint64_t,
                    std::array<std::uint64_t, LM_MAX_ORDER>, std::uint64_t, std::uint64_t, int>(),
           "content"_a, nb::kw_only(), "order"_a, "words"_a, "text_bytes"_a, "rows"_a, "tallies"_a,
           "states"_a, "unknown_cost"_a)
      .def(
          "find_word",
          [](const BorrowedImage& own, std::string_view word) { return own.image().find(word); },
          "word"_a, "A word's number, or NO_WORD.")
      .def("find_words", &BorrowedImage::find_words, "words"_a, "numbers"_a,
           "Write the numbers of words.")
      .def(
          "text_of",
          [](const BorrowedImage& own, std::uint32_t number) {
            const std::string_view text = own.image().text_of(number);
            return nb::bytes(text.data(), text.size());
          },
          "number"_a, "The UTF-8 of a word.")
      .def("find", &BorrowedImage::find, "state"_a, "word"_a,
           "What a word costs after a state, and the state after it.")
      .def("look_up", &BorrowedImage::look_up, "states"_a, "words"_a, "costs"_a, "after"_a,
           "Write for each state and word its cost, and the state after it.")
      .def(
          "back_off",
          [](const BorrowedImage& own, std::uint32_t state) {
            return own.image().lookup().back_off(state);
          },
          "state"_a, "What it costs to leave all words of a state.");
  bind_lm_mixture(module);
}

}  // namespace earshot
