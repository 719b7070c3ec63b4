// Lookups that are made together wait for memory together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lm/lm_lookup.h"

namespace earshot {

class LmBatch {
 public:
  explicit LmBatch(const cpu::LmLookup& lookup) : lookup_(lookup) {}

  // Of `size` states and words the costs, and the states after them.
  void find(const std::uint32_t* states, const std::uint32_t* words, std::size_t size,
            std::int32_t* costs, std::uint32_t* after) {
    std::size_t next = 0;
    std::size_t flying = std::min(size, IN_FLIGHT);
    for (; next < flying; ++next) start(flights_[next], states, words, next);
    while (flying > 0) {
      for (std::size_t i = 0; i < flying;) {
        Flight& flight = flights_[i];
        if (lookup_.step(flight.query)) {
          ++i;
          continue;
        }
        costs[flight.place] = flight.query.found.cost;
        after[flight.place] = flight.query.found.state;
        if (next < size) {
          start(flight, states, words, next++);
        } else {
          flight = flights_[--flying];
        }
      }
    }
  }

 private:
  static constexpr std::size_t IN_FLIGHT = 16;

  struct Flight {
    cpu::LmQuery query;
    std::size_t place;
  };

  void start(Flight& flight, const std::uint32_t* states, const std::uint32_t* words,
             std::size_t place) const {
    flight = Flight{lookup_.begin(states[place], words[place]), place};
  }

  cpu::LmLookup lookup_;
  std::array<Flight, IN_FLIGHT> flights_;
};

}  // namespace earshot
