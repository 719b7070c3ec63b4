// Small tables of numbers that are emptied often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace earshot {

// Spreads what two numbers say over all bits.
inline std::uint64_t mixed(std::uint64_t one, std::uint64_t other) {
  std::uint64_t bits = (one * 0x9E3779B97F4A7C15ULL) ^ (other + 0xD1B54A32D192ED03ULL);
  bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93ULL;
  return bits ^ (bits >> 32);
}

// Where each of some small numbers stands in a list. To empty it costs nothing.
class Positions {
 public:
  static constexpr int NONE = -1;

  void clear() {
    if (++round_ != 0) return;
    places_.assign(places_.size(), Place{});
    round_ = 1;
  }

  int of(int number) const {
    const auto i = static_cast<std::size_t>(number);
    return i < places_.size() && places_[i].round == round_ ? places_[i].position : NONE;
  }

  void put(int number, int position) {
    const auto i = static_cast<std::size_t>(number);
    if (i >= places_.size()) places_.resize(2 * i + 16);
    places_[i] = Place{round_, position};
  }

 private:
  struct Place {
    std::uint32_t round = 0;
    int position = NONE;
  };

  std::vector<Place> places_;
  std::uint32_t round_ = 1;
};

// Things of which the caller keeps a list: finds the one that is the same as another.
class HashIndex {
 public:
  void clear() {
    slots_.assign(slots_.empty() ? 64 : slots_.size(), Slot{});
    used_ = 0;
  }

  // The thing with this hash that is the `same`, or `added`, which is it from now on.
  template <class Same>
  int find_or_add(std::uint64_t hash, int added, Same same) {
    if (2 * used_ >= slots_.size()) grow();
    std::size_t i = hash & (slots_.size() - 1);
    for (; slots_[i].thing >= 0; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].hash == hash && same(slots_[i].thing)) return slots_[i].thing;
    }
    slots_[i] = Slot{hash, added};
    ++used_;
    return added;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    int thing = -1;
  };

  void grow() {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    for (const Slot& slot : before) {
      if (slot.thing < 0) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].thing >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace earshot
