#include "lm/vocabulary.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace earshot {

std::string_view Vocabulary::text_of(std::uint32_t number) const {
  const std::uint64_t begin = number == 0 ? 0 : ends_[number - 1];
  return std::string_view(text_).substr(begin, ends_[number] - begin);
}

bool Vocabulary::add(std::string_view word) {
  if (2 * (ends_.size() + 1) > slots_.size()) {
    fill_slots(std::max<std::size_t>(1024, 2 * slots_.size()));
  }
  std::uint32_t& slot = slots_[slot_of(word)];
  if (slot != MISSING) return false;
  slot = size();
  text_.append(word);
  ends_.push_back(text_.size());
  return true;
}

std::uint32_t Vocabulary::find(std::string_view word) const {
  return slots_.empty() ? MISSING : slots_[slot_of(word)];
}

std::vector<std::uint32_t> Vocabulary::sort(const std::vector<double>& probs) {
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (probs[a] != probs[b]) return probs[a] > probs[b];
    return text_of(a) < text_of(b);
  });
  std::vector<std::uint32_t> numbers(size());
  std::string text;
  std::vector<std::uint64_t> ends;
  for (const std::uint32_t old : order) {
    numbers[old] = static_cast<std::uint32_t>(ends.size());
    text.append(text_of(old));
    ends.push_back(text.size());
  }
  text_ = std::move(text);
  ends_ = std::move(ends);
  fill_slots(slots_.size());
  return numbers;
}

std::vector<std::uint32_t> Vocabulary::by_text() const {
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return text_of(a) < text_of(b); });
  return order;
}

std::size_t Vocabulary::slot_of(std::string_view word) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(word) & last;
  while (slots_[slot] != MISSING && text_of(slots_[slot]) != word) slot = (slot + 1) & last;
  return slot;
}

void Vocabulary::fill_slots(std::size_t slots) {
  slots_.assign(slots, MISSING);
  for (std::uint32_t number = 0; number < size(); ++number) {
    slots_[slot_of(text_of(number))] = number;
  }
}

}  // namespace earshot
