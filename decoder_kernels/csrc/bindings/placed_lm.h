// The language models of a slot's search where one target's kernels read them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/borrowed.h"
#include "bindings/search_lm.h"

namespace earshot {

// An image of the host that a CPU's kernels read where it lies.
class UnpinnedBytes {
 public:
  UnpinnedBytes(const std::uint8_t* content, std::size_t) : content_(content) {}
  const std::uint8_t* there() const { return content_; }
  bool is_copied() const { return false; }

 private:
  const std::uint8_t* content_;
};

template <class Half>
class PlacedLm {
 public:
  using Numbers = Array<typename Half::Device, const std::uint32_t, 1>;
  using Content = Array<typename Half::Device, const std::uint8_t, 1>;

  // Without content of its own the device reads the host's.
  PlacedLm(const NumberedLm& model, Numbers numbers, std::optional<Content> content)
      : model_(model), numbers_(numbers), content_(content) {
    if (numbers.size() != model.numbers.size()) {
      throw std::invalid_argument("these are not the numbers of the model");
    }
    if (!content) {
      bytes_.emplace(model.image.content(), model.image.size());
    } else if (content->size() != model.image.size()) {
      throw std::invalid_argument("this is not the content of the model");
    }
  }

  // A part of a row of the host's, by what the device sees.
  LmPart part(const LmPart& here) const {
    LmPart there = here;
    there.view = model_.image.image().view_at(bytes_ ? bytes_->there() : content_->data());
    there.numbers = numbers_.data();
    return there;
  }
  bool is_copied() const { return bytes_ && bytes_->is_copied(); }

 private:
  NumberedLm model_;
  Numbers numbers_;
  std::optional<Content> content_;
  std::optional<typename Half::HostBytes> bytes_;
};

// What kernels read of a search's models, which whoever holds this holds.
template <class Half>
nb::bytes placed_row(const SearchLm& lm, const PlacedLm<Half>& small,
                     const std::vector<const PlacedLm<Half>*>& large,
                     LmMembers<typename Half::Device> members) {
  LmRow row = with_members<typename Half::Device>(lm.row(), members);
  if (static_cast<int>(large.size()) != row.num_large) {
    throw std::invalid_argument("the models are not those of the search");
  }
  row.small = small.part(row.small);
  for (std::size_t i = 0; i < large.size(); ++i) row.large[i] = large[i]->part(row.large[i]);
  return nb::bytes(reinterpret_cast<const char*>(&row), sizeof row);
}

template <class Half>
void bind_placed_lm(nb::module_ submodule) {
  using namespace nb::literals;
  using Placed = PlacedLm<Half>;
  nb::class_<Placed>(submodule, "PlacedLm", "A model where the kernels of this half read it.")
      .def(
          "__init__",
          [](Placed* self, const NumberedLm& model, typename Placed::Numbers numbers,
             std::optional<typename Placed::Content> content) {
            try {
              new (self) Placed(model, numbers, content);
            } catch (const LaunchFailed& failed) {
              raise_device_error(failed.what());
            }
          },
          "model"_a, "numbers"_a, "content"_a.none() = nb::none())
      .def_prop_ro("is_copied", &Placed::is_copied,
                   "Whether the device reads a copy, as it did not take the image where it lies.");
  submodule.attr("lm_row_bytes") = sizeof(LmRow);
  submodule.def("placed_row", &placed_row<Half>, "lm"_a, "small"_a, "large"_a, "members"_a,
                "What kernels read of a search's models.");
}

}  // namespace earshot
