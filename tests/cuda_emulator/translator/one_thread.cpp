// A machine for the translator's tests: a block of one thread, which writes down what it is told.
#include <csetjmp>
#include <cstring>
#include <vector>

#include "machine/thread.h"

namespace emulator {

namespace {

struct Event {
  char what;  // of barrier, fence, reads, writes, updates, trap, condition
  u64 at;
  u32 bytes;
  u32 order;
  int site;
};

std::vector<Event> events;
std::jmp_buf end_of_kernel;

void note(char what, int site = -1, u64 at = 0, u32 bytes = 0, Order order = Order::WEAK) {
  events.push_back({what, at, bytes, static_cast<u32>(order), site});
}

}  // namespace

void Thread::barrier(int site) {
  note('b', site);
}
void Thread::set_condition(u64 handle, u32 value, int site) {
  note('c', site, handle, value);
}
void Thread::fence(Order order) {
  note('f', -1, 0, 0, order);
}
void Thread::trap(int site) {
  note('t', site);
  std::longjmp(end_of_kernel, 1);
}
void Thread::reads(u64 at, u32 bytes, int site, Order order) {
  note('r', site, at, bytes, order);
}
void Thread::writes(u64 at, u32 bytes, int site, Order order) {
  note('w', site, at, bytes, order);
}
void Thread::updates(u64 at, u32 bytes, int site, Order order) {
  note('u', site, at, bytes, order);
}
void Thread::get_bytes(u64 at, void* bytes, u32 size, Order) const {
  std::memcpy(bytes, reinterpret_cast<const void*>(at), size);
}
void Thread::replace(u64 at, const void* bytes, u32 size) {
  std::memcpy(reinterpret_cast<void*>(at), bytes, size);
}
void Thread::put_bytes(u64 at, const void* bytes, u32 size, Order) {
  std::memcpy(reinterpret_cast<void*>(at), bytes, size);
}

}  // namespace emulator

using namespace emulator;

extern "C" {

// False for a kernel that does not exist.
bool launch(const char* name, const u8* param, u8* shared, u32* executed) {
  events.clear();
  for (const Kernel* kernel = kernels; kernel->name != nullptr; ++kernel) {
    if (std::strcmp(kernel->name, name) != 0) continue;
    Thread thread{.thread = 0, .threads = 1, .block = 3, .blocks = 7, .shared = shared};
    thread.executed = executed;
    if (setjmp(end_of_kernel) == 0) kernel->run(thread, param, nullptr);
    return true;
  }
  return false;
}
const Event* events_begin() {
  return events.data();
}
int events_count() {
  return static_cast<int>(events.size());
}
const Site* site(int number) {
  return &sites[number];
}
const Kernel* kernel_table() {
  return kernels;
}
const CodeBlock* code_block_table() {
  return code_blocks;
}
int code_block_count() {
  return num_code_blocks;
}

}  // extern "C"
