// Costs as integers, 2^24 to a nat, so that no order of additions can change one (see
// docs/decisions/0034-backpointers.md).
#pragma once

#include <bit>
#include <cstdint>

#include "block/block.h"

namespace earshot::EARSHOT_BACKEND {

using Cost = std::int64_t;

inline constexpr double ONE_NAT = 16777216.0;          // 2^24
inline constexpr double MAX_COST = 10000.0;            // in nats, of one arc or one frame's label
inline constexpr Cost NO_COST = INT64_MAX / 4;         // far above all others; sums do not overflow
inline constexpr double ROUNDER = 6755399441055744.0;  // 1.5 * 2^52

// Rounds to the nearest, ties to even: added to ROUNDER, a number keeps no fraction.
KERNEL_FN Cost fixed_cost(double nats) {
  nats = nats < -MAX_COST ? -MAX_COST : nats > MAX_COST ? MAX_COST : nats;
  const double shifted = nats * ONE_NAT + ROUNDER;
  return std::bit_cast<Cost>(shifted) - std::bit_cast<Cost>(ROUNDER);
}

// A choice without a branch, for where data decides: a processor would guess wrong too often.
template <class T>
KERNEL_FN T choose(bool condition, T one, T other) {
  return other + ((one - other) & -static_cast<T>(condition));
}

}  // namespace earshot::EARSHOT_BACKEND
