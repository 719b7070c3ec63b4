// All boost tables of all slots, in memory of the caller's.
#pragma once

#include <cstdint>

namespace earshot {

// One row per state. Indices in a table count from its first row.
struct BoostArena {
  const std::int32_t* token;  // on the arc into the state
  const std::int32_t* first_child;
  const std::int32_t* num_children;
  const std::int32_t* failure;  // the longest proper suffix that is a state
  const double* pending;        // bonus of the unfinished phrase, given back on failure
  const double* completed;      // bonus of the phrases that end here, kept
};

}  // namespace earshot
