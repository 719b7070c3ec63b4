#include "memory_work.h"

#include <cstring>
#include <vector>

#include "device_memory.h"
#include "progress.h"

namespace emulator {

namespace {

bool is_device(const void* memory) {
  return device_arena().holds(reinterpret_cast<u64>(memory));
}

// Of memory that need not be the device's.
bool is_there(const void* memory, std::size_t bytes) {
  const auto at = reinterpret_cast<u64>(memory);
  return bytes == 0 || !is_device(memory) || device_arena().state(at, bytes) != FREE;
}

// Bytes that nobody has written stay so when they are copied.
void copy_states(const Copy& copy) {
  if (!is_device(copy.to)) return;
  Arena& arena = device_arena();
  const auto to = reinterpret_cast<u64>(copy.to);
  const auto from = reinterpret_cast<u64>(copy.from);
  if (!is_device(copy.from)) return arena.set_state(to, copy.bytes, WRITTEN);
  std::vector<State> states(copy.bytes);
  for (std::size_t i = 0; i < copy.bytes; ++i) states[i] = arena.state(from + i, 1);
  for (std::size_t i = 0; i < copy.bytes; ++i) arena.set_state(to + i, 1, states[i]);
}

void put(void* to, const void* from, std::size_t bytes) {
  if (std::memcmp(to, from, bytes) == 0) return;
  std::memmove(to, from, bytes);
  ++memory_changes;
}

}  // namespace

cudaError_t Copy::check(cudaMemcpyKind kind) const {
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (to_device != is_device(to) || from_device != is_device(from))) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return is_there(to, bytes) && is_there(from, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

std::string Copy::run() const {
  if (!is_there(to, bytes) || !is_there(from, bytes)) {
    return "a copy of " + std::to_string(bytes) + " bytes outside all allocations";
  }
  put(to, from, bytes);
  copy_states(*this);
  return "";
}

cudaError_t Fill::check() const {
  const bool has_width = element_bytes == 1 || element_bytes == 2 || element_bytes == 4;
  const bool fits = height == 1 || pitch >= width * element_bytes;
  if (!is_device(to) || !has_width || !fits || height == 0) return cudaErrorInvalidValue;
  return is_there(to, (height - 1) * pitch + width * element_bytes) ? cudaSuccess
                                                                    : cudaErrorInvalidValue;
}

std::string Fill::run() const {
  if (check() != cudaSuccess) return "memory is set outside all allocations";
  std::vector<u8> row(width * element_bytes);
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = reinterpret_cast<const u8*>(&value)[i % element_bytes];
  }
  for (std::size_t y = 0; y < height; ++y) {
    u8* const start = static_cast<u8*>(to) + y * pitch;
    put(start, row.data(), row.size());
    device_arena().set_state(reinterpret_cast<u64>(start), row.size(), WRITTEN);
  }
  return "";
}

}  // namespace emulator
