// One lane's view of its boost table: an Aho-Corasick automaton over tokens (see boost.py).
//
// States are numbered breadth first with the children of a state side by side in the order of their
// tokens; so an arc needs no record of its own: it is the state that it leads to.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "boost/boost_arena.h"

namespace earshot::EARSHOT_BACKEND {

class BoostAutomaton {
 public:
  static constexpr int ROOT = 0;

  KERNEL_FN BoostAutomaton(const BoostArena& arena, std::int64_t first_row)
      : arena_(arena), row_(first_row) {}

  KERNEL_FN bool empty() const { return row_ < 0; }
  KERNEL_FN double pending(int state) const { return empty() ? 0.0 : arena_.pending[row_ + state]; }
  KERNEL_FN double completed(int state) const {
    return empty() ? 0.0 : arena_.completed[row_ + state];
  }
  KERNEL_FN int failure(int state) const { return arena_.failure[row_ + state]; }
  KERNEL_FN int num_children(int state) const { return arena_.num_children[row_ + state]; }
  KERNEL_FN int token(int state) const { return arena_.token[row_ + state]; }

  // The state after `token`: the child, or the child of the nearest suffix that has one, or the
  // root.
  KERNEL_FN int next(int state, int token) const {
    if (empty()) return ROOT;
    for (;; state = failure(state)) {
      const int found = child(state, token);
      if (found != NONE) return found;
      if (state == ROOT) return ROOT;
    }
  }

  KERNEL_FN bool has_arc(int state, int token) const { return next(state, token) != ROOT; }

  // Number of arcs that leave the state and its suffixes, the root included.
  KERNEL_FN int num_arcs(int state) const {
    int arcs = 0;
    for (;; state = failure(state)) {
      arcs += num_children(state);
      if (state == ROOT) return arcs;
    }
  }

  // The state that one of these arcs leads to.
  KERNEL_FN int arc_target(int state, int arc) const {
    for (; arc >= num_children(state); state = failure(state)) arc -= num_children(state);
    return arena_.first_child[row_ + state] + arc;
  }

 private:
  static constexpr int NONE = -1;

  KERNEL_FN int child(int state, int token) const {
    const int first = arena_.first_child[row_ + state];
    int low = 0;
    int high = num_children(state);
    while (low < high) {
      const int middle = (low + high) / 2;
      const int found = arena_.token[row_ + first + middle];
      if (found == token) return first + middle;
      (found < token ? low : high) = found < token ? middle + 1 : middle;
    }
    return NONE;
  }

  BoostArena arena_;
  std::int64_t row_;
};

}  // namespace earshot::EARSHOT_BACKEND
