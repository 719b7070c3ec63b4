#include "accesses.h"

#include <cstring>

#include "device_memory.h"
#include "grid.h"
#include "host_memory.h"

namespace emulator {

namespace {

WordMap& device_words() {
  static WordMap only(device_arena().base(), device_arena().size());
  return only;
}

std::string asked(Access access, u32 bytes) {
  const char* const verb = access == Access::READ ? "reads " : "writes ";
  return std::string("a thread ") + verb + std::to_string(bytes) + " bytes";
}

}  // namespace

void Accesses::begin(const Kernel& kernel, const u8* param) {
  ++launch_;
  kernel_ = &kernel;
  param_ = param;
  conflicts_.clear();
}

void Accesses::before(Fiber& fiber, u64 at, u32 bytes, Access access, Order how, int site) {
  const Space space = space_of(fiber, at, bytes);
  check(fiber, space, at, bytes, access, site);
  if (settings.counts != 0) {
    grid().counts.access(fiber, space, at, bytes, access, site);
  }
  if (space != Space::GLOBAL && space != Space::SHARED) return;
  if (access != Access::WRITE && settings.finds_unwritten != 0) {
    check_written(fiber, space, at, bytes, site);
  }
  if (settings.finds_conflicts != 0) note(fiber, space, at, bytes, access, how, site);
  if (how != Order::WEAK) order(fiber, at, access, how);
  if (access != Access::READ) mark_written(fiber, space, at, bytes);
}

Space Accesses::space_of(const Fiber& fiber, u64 at, u32 bytes) const {
  if (arena_.holds(at)) return Space::GLOBAL;
  if (fiber.home->holds(at, bytes)) return Space::SHARED;
  if (fiber.owns(at, bytes)) return Space::OWN;
  if (is_host(at)) return Space::HOST;
  const auto lies_in = [&](const void* start, u64 size) {
    const auto first = reinterpret_cast<u64>(start);
    return at >= first && at + bytes <= first + size;
  };
  if (lies_in(param_, static_cast<u64>(kernel_->param_bytes))) return Space::CONSTANT;
  for (const Variable* variable = variables; variable->name != nullptr; ++variable) {
    if (variable->is_constant && lies_in(variable->at, variable->bytes)) return Space::CONSTANT;
  }
  return Space::NOWHERE;
}

void Accesses::check(const Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site) {
  if (at % bytes != 0) {
    grid().fault(asked(access, bytes) + " at an address that is not aligned to them", site);
  }
  const bool is_outside =
      space == Space::NOWHERE ||
      (space == Space::GLOBAL && arena_.access_state(at, bytes) == FREE) ||
      (space == Space::CONSTANT && access != Access::READ) ||
      (space == Space::HOST && (access != Access::READ || !host_memory().allows(at, bytes)));
  if (is_outside) {
    grid().fault(asked(access, bytes) + " outside all allocations (block of " +
                     std::to_string(fiber.threads) + " threads)",
                 site);
  }
}

void Accesses::check_written(const Fiber& fiber, Space space, u64 at, u32 bytes, int site) {
  if (space == Space::GLOBAL) {
    if (arena_.access_state(at, bytes) == WRITTEN) return;
    grid().fault("a thread reads global memory that nobody has written", site);
  }
  if (!all_written(fiber.home->shared_states.data() + fiber.home->shared_offset(at), bytes)) {
    grid().fault("a thread reads shared memory that nobody has written", site);
  }
}

void Accesses::mark_written(const Fiber& fiber, Space space, u64 at, u32 bytes) {
  if (space == Space::GLOBAL) return arena_.set_state(at, bytes, WRITTEN);
  std::memset(fiber.home->shared_states.data() + fiber.home->shared_offset(at), WRITTEN, bytes);
}

void Accesses::note(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, Order how,
                    int site) {
  const bool is_together = space == Space::GLOBAL && fiber.home->is_together();
  for (u64 word = at / 4 * 4; word < at + bytes; word += 4) {
    if (is_together) {
      conflicts_.note_together(fiber, word, access, how, site);
      continue;
    }
    Word& own = space == Space::GLOBAL
                    ? device_words().at(word)
                    : fiber.home->shared_words[fiber.home->shared_offset(word) / 4];
    conflicts_.note(fiber, own, fiber.home->interval, launch_, access, how, site);
  }
}

void Accesses::order(Fiber& fiber, u64 at, Access access, Order how) {
  Published& published = *fiber.home->published;
  if (access != Access::WRITE) fiber.clock.strong_read(at, how, published);
  if (access != Access::READ) {
    fiber.clock.strong_write(at, how, published, access == Access::UPDATE);
  }
}

}  // namespace emulator
