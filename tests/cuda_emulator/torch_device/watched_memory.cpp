// Memory of a device that runs no kernels: the host's, watched, and refused on demand. Where the
// emulated machine is not built it stands in for it.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../machine/device_memory.h"

namespace {

constexpr unsigned char kGarbage = 0xA5;  // what nobody has written

struct Memory {
  std::mutex mutex;
  std::map<char*, std::vector<bool>> written;  // of each allocation, its bytes
  std::optional<std::size_t> until_refusal;
  std::string error;
};

Memory& memory() {
  static auto* all = new Memory;  // tensors may outlive what is destroyed at exit
  return *all;
}

// The allocation that holds an address, and how far in it lies.
std::pair<std::vector<bool>*, std::size_t> find(Memory& all, const void* at) {
  auto* address = static_cast<char*>(const_cast<void*>(at));
  auto next = all.written.upper_bound(address);
  if (next == all.written.begin()) return {nullptr, 0};
  --next;
  const auto into = static_cast<std::size_t>(address - next->first);
  return {into < next->second.size() ? &next->second : nullptr, into};
}

}  // namespace

extern "C" {

void* emulator_allocate(std::size_t bytes) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  if (all.until_refusal && (*all.until_refusal)-- == 0) {
    all.until_refusal.reset();
    return nullptr;
  }
  auto* taken = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  if (taken == nullptr) return nullptr;
  std::memset(taken, kGarbage, bytes);
  all.written.emplace(taken, std::vector<bool>(bytes));
  return taken;
}

void emulator_release(void* taken) {
  const std::lock_guard lock(memory().mutex);
  if (memory().written.erase(static_cast<char*>(taken)) == 0) std::abort();
  std::free(taken);
}

void emulator_host_wrote(void* at, std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  const auto [written, into] = find(memory(), at);
  if (written == nullptr || into + bytes > written->size()) std::abort();
  std::fill_n(written->begin() + static_cast<std::ptrdiff_t>(into), bytes, true);
}

const char* emulator_sticky_error() {
  thread_local std::string why;
  const std::lock_guard lock(memory().mutex);
  why = memory().error;
  return why.empty() ? nullptr : why.c_str();
}

// What tests do to it, and see of it.

// Refuse one allocation, after so many that are not.
void emulator_fail_allocation(std::size_t after) {
  const std::lock_guard lock(memory().mutex);
  memory().until_refusal = after;
}

void emulator_break(const char* why) {
  const std::lock_guard lock(memory().mutex);
  memory().error = why;
}

void emulator_recover() {
  const std::lock_guard lock(memory().mutex);
  memory().until_refusal.reset();
  memory().error.clear();
}

bool emulator_is_written(const void* at) {
  const std::lock_guard lock(memory().mutex);
  const auto [written, into] = find(memory(), at);
  return written != nullptr && (*written)[into];
}

std::size_t emulator_allocations() {
  const std::lock_guard lock(memory().mutex);
  return memory().written.size();
}
}
