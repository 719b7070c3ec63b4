// Values that kernels set and conditional nodes read: each is a word of the device's memory, so
// that sets are ordered, or found not to be, as other writes are.
#pragma once

#include <memory>

#include "thread.h"

namespace emulator {

struct Graph;

struct Condition {
  u64 handle;
  const Graph* graph;  // that it was made for
  u32 default_value;
  bool has_default;
  void* cell;
  bool has_node = false;
  bool is_instantiated = false;
  bool is_running = false;

  Condition(const Graph* graph, u32 default_value, bool has_default, void* cell);
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();

  // At each launch of its graph: the default, or what nobody has written.
  void begin();
  // False where nobody has set it.
  bool read(u32& value) const;
};

// nullptr where the device has no memory left.
std::shared_ptr<Condition> make_condition(const Graph* graph, u32 default_value, bool has_default);
// nullptr where there is none of that handle.
std::shared_ptr<Condition> find_condition(u64 handle);

}  // namespace emulator
