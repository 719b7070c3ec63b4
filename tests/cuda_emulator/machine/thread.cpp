#include "thread.h"

#include "conditions.h"
#include "device_memory.h"
#include "grid.h"
#include "host_memory.h"
#include "progress.h"

namespace emulator {

namespace {
bool may_wait(const Fiber& fiber, u64 at, u32 size) {
  return settings.delays_stores != 0 && (device_arena().holds(at) || fiber.home->holds(at, size));
}
}  // namespace

void Thread::barrier(int site) {
  grid().wait(static_cast<Fiber&>(*this), site);
}

void Thread::trap(int site) {
  grid().fault("a kernel gives up", site);
}

void Thread::set_condition(u64 handle, u32 value, int site) {
  const auto condition = find_condition(handle);
  if (condition == nullptr || !condition->is_running) {
    grid().fault("a kernel sets a condition of no graph that runs", site);
  }
  const auto at = reinterpret_cast<u64>(condition->cell);
  writes(at, sizeof value, site, Order::WEAK);
  put(at, value, Order::WEAK);
}

void Thread::fence(Order order) {
  grid().fence(static_cast<Fiber&>(*this), order);
}

void Thread::reads(u64 at, u32 bytes, int site, Order order) {
  grid().before(static_cast<Fiber&>(*this), at, bytes, Access::READ, order, site);
}

void Thread::writes(u64 at, u32 bytes, int site, Order order) {
  grid().before(static_cast<Fiber&>(*this), at, bytes, Access::WRITE, order, site);
}

void Thread::updates(u64 at, u32 bytes, int site, Order order) {
  auto& fiber = static_cast<Fiber&>(*this);
  grid().before(fiber, at, bytes, Access::UPDATE, order, site);
  if (releases(order)) fiber.pending.settle_all();
  if (!fiber.pending.empty()) fiber.pending.settle(at, bytes);
}

void Thread::get_bytes(u64 at, void* bytes, u32 size, Order) const {
  if (is_host(at)) at = host_address(at);
  const auto& fiber = static_cast<const Fiber&>(*this);
  if (fiber.pending.empty()) {
    std::memcpy(bytes, reinterpret_cast<const void*>(at), size);
  } else {
    fiber.pending.read(at, bytes, size);
  }
}

void Thread::put_bytes(u64 at, const void* bytes, u32 size, Order order) {
  auto& fiber = static_cast<Fiber&>(*this);
  if (order == Order::WEAK && may_wait(fiber, at, size)) {
    return grid().add_store(fiber, at, bytes, size);
  }
  if (releases(order)) fiber.pending.settle_all();
  if (!fiber.pending.empty()) fiber.pending.settle(at, size);
  replace(at, bytes, size);
}

void Thread::replace(u64 at, const void* bytes, u32 size) {
  change_memory(at, bytes, size);
}

}  // namespace emulator
