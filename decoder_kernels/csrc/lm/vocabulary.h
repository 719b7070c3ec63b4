// The words of a model that is packed: numbered as they come, then anew by their probability.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace earshot {

class Vocabulary {
 public:
  static constexpr std::uint32_t MISSING = 0xFFFFFFFF;

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::uint64_t text_bytes() const { return text_.size(); }
  std::string_view text_of(std::uint32_t number) const;

  // False where it is there already.
  bool add(std::string_view word);
  std::uint32_t find(std::string_view word) const;

  // Where each word is now in an order by falling `probs`, and by the bytes of the text where they
  // are equal; its numbers are that from here on.
  std::vector<std::uint32_t> sort(const std::vector<double>& probs);
  // The numbers by the bytes of their texts.
  std::vector<std::uint32_t> by_text() const;

 private:
  std::size_t slot_of(std::string_view word) const;
  void fill_slots(std::size_t slots);

  std::string text_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> slots_;  // a hash table of numbers
};

}  // namespace earshot
