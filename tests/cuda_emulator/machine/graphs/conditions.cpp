#include "conditions.h"

#include <mutex>
#include <unordered_map>

#include "device_memory.h"

namespace emulator {

namespace {

constexpr u64 FIRST_HANDLE = 0x51E7;  // neither 0 nor anything that kernels hold by chance

std::mutex conditions_mutex;
std::unordered_map<u64, std::weak_ptr<Condition>>& all_conditions() {
  static auto& only = *new std::unordered_map<u64, std::weak_ptr<Condition>>;
  return only;
}

u64 next_handle() {
  static u64 next = FIRST_HANDLE;
  return next++;
}

}  // namespace

Condition::Condition(const Graph* graph, u32 default_value, bool has_default, void* cell)
    : handle(next_handle()),
      graph(graph),
      default_value(default_value),
      has_default(has_default),
      cell(cell) {}

Condition::~Condition() {
  emulator_release(cell);
  const std::lock_guard guard(conditions_mutex);
  all_conditions().erase(handle);
}

void Condition::begin() {
  const auto at = reinterpret_cast<u64>(cell);
  std::memcpy(cell, &default_value, sizeof default_value);
  device_arena().set_state(at, sizeof default_value, has_default ? WRITTEN : UNWRITTEN);
}

bool Condition::read(u32& value) const {
  std::memcpy(&value, cell, sizeof value);
  return device_arena().state(reinterpret_cast<u64>(cell), sizeof value) == WRITTEN;
}

std::shared_ptr<Condition> make_condition(const Graph* graph, u32 default_value, bool has_default) {
  void* const cell = emulator_allocate(sizeof(u32));
  if (cell == nullptr) return nullptr;
  auto made = std::make_shared<Condition>(graph, default_value, has_default, cell);
  const std::lock_guard guard(conditions_mutex);
  all_conditions()[made->handle] = made;
  return made;
}

std::shared_ptr<Condition> find_condition(u64 handle) {
  const std::lock_guard guard(conditions_mutex);
  const auto found = all_conditions().find(handle);
  return found == all_conditions().end() ? nullptr : found->second.lock();
}

}  // namespace emulator
