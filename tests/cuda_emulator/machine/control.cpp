// What tests set and read of the emulated device, for ctypes.
#include <cstring>
#include <string>

#include "device_memory.h"
#include "errors.h"
#include "fault.h"
#include "grid.h"
#include "host_memory.h"
#include "streams.h"

using namespace emulator;

namespace {

struct Named {
  const char* name;
  u64* value;
};

const Named NAMED[] = {
    {"seed", &settings.seed},
    {"mean_slice", &settings.mean_slice},
    {"blocks_together", &settings.blocks_together},
    {"delays_stores", &settings.delays_stores},
    {"finds_conflicts", &settings.finds_conflicts},
    {"finds_unwritten", &settings.finds_unwritten},
    {"counts", &settings.counts},
    {"watched_from", &settings.watched_from},
    {"watched_bytes", &settings.watched_bytes},
    {"memory_bytes", &settings.memory_bytes},
    {"multiprocessors", &settings.multiprocessors},
    {"launches", &grid().tally.launches},
    {"host_launches", &grid().tally.host_launches},
    {"graph_launches", &grid().tally.graph_launches},
    {"intervals", &grid().tally.intervals},
    {"switches", &grid().tally.switches},
    {"most_threads", &grid().tally.most_threads},
};

}  // namespace

extern "C" {

// Returns 0 if there is no such setting.
int emulator_set(const char* name, u64 value) {
  for (const Named& each : NAMED) {
    if (std::strcmp(each.name, name) != 0) continue;
    *each.value = value;
    return 1;
  }
  return 0;
}

u64 emulator_get(const char* name) {
  for (const Named& each : NAMED) {
    if (std::strcmp(each.name, name) == 0) return *each.value;
  }
  return ~u64{0};
}

void emulator_fail_launch(u64 skipped) {
  launch_injection.arm(skipped);
}

void emulator_fail_call(const char* name, int error, u64 skipped) {
  fail_call(name, static_cast<cudaError_t>(error), skipped);
}
// Of what emulator_recover does not know.
void emulator_recover_calls() {
  forget_failures();
  forget_captures();
}

// Pieces of the host's memory that kernels may read.
std::size_t emulator_host_pieces() {
  return host_memory().size();
}

// Valid until the next call.
const char* emulator_counts() {
  static std::string text;
  text = grid().counts.json();
  return text.c_str();
}
void emulator_clear_counts() {
  grid().counts.clear();
}
}
