#include "progress.h"

namespace emulator {

namespace {

constexpr u64 PATIENCE = 2;  // rounds without a change, before states are looked at

// FNV-1a over words of the stack, from what was saved last up to its top.
u64 state_of(const Fiber& fiber) {
  const auto* word = static_cast<const u64*>(fiber.stack_pointer);
  const auto* const top = reinterpret_cast<const u64*>(fiber.stack + STACK_BYTES);
  u64 hash = 0xCBF29CE484222325ULL ^ reinterpret_cast<u64>(word);
  for (; word < top; ++word) hash = (hash ^ *word) * 0x100000001B3ULL;
  return hash;
}

}  // namespace

void Progress::end_round(bool has_moved) {
  if (has_moved || memory_changes != changes_before_) {
    idle_rounds_ = 0;
    ++epoch_;
  } else {
    ++idle_rounds_;
  }
}

void Progress::look_at(Fiber& fiber) {
  if (idle_rounds_ < PATIENCE || !fiber.pending.empty()) return;
  if (fiber.idle_since != epoch_) {
    fiber.idle_since = epoch_;
    fiber.is_waiting = false;
    fiber.idle_states.clear();
  }
  fiber.is_waiting |= !fiber.idle_states.insert(state_of(fiber)).second;
}

}  // namespace emulator
