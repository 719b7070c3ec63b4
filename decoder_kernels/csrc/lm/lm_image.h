// An image in memory: what Python has mapped, and lookups in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "lm/lm_lookup.h"
#include "lm/lm_parts.h"

namespace earshot {

class LmImage {
 public:
  // Throws std::invalid_argument where the parts do not fit into the content.
  LmImage(const std::uint8_t* content, std::size_t size, const LmCounts& counts,
          std::int32_t unknown_cost)
      : content_(content), counts_(counts), parts_(counts), view_(lm_view(content, counts)) {
    if (parts_.end > size) throw std::invalid_argument("the image is smaller than its parts");
    view_.unknown_cost = unknown_cost;
    view_.unknown = std::min(find("<unk>"), find("<UNK>"));
  }

  const LmView& view() const { return view_; }
  // The same of a copy of the image that others see at another address.
  LmView view_at(const std::uint8_t* content) const {
    LmView there = lm_view(content, counts_);
    there.unknown_cost = view_.unknown_cost;
    there.unknown = view_.unknown;
    return there;
  }
  cpu::LmLookup lookup() const { return cpu::LmLookup(view_); }

  // A word's number, or LM_NO_WORD.
  std::uint32_t find(std::string_view word) const {
    const auto* by_text = reinterpret_cast<const std::uint32_t*>(content_ + parts_.by_text);
    const auto* end = by_text + counts_.words;
    const auto* found = std::lower_bound(
        by_text, end, word,
        [this](std::uint32_t number, std::string_view text) { return text_of(number) < text; });
    const bool there = found != end && *found < counts_.words && text_of(*found) == word;
    return there ? *found : LM_NO_WORD;
  }

  std::string_view text_of(std::uint32_t number) const {
    if (number >= counts_.words) return {};
    const auto* ends = reinterpret_cast<const std::uint64_t*>(content_ + parts_.ends);
    const std::uint64_t end = std::min(ends[number], counts_.text_bytes);
    const std::uint64_t begin = number == 0 ? 0 : std::min(ends[number - 1], end);
    return {reinterpret_cast<const char*>(content_ + parts_.text) + begin, end - begin};
  }

 private:
  const std::uint8_t* content_;
  LmCounts counts_;
  LmParts parts_;
  LmView view_;
};

}  // namespace earshot
