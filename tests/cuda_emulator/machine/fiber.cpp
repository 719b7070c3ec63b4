#include "fiber.h"

#include <sys/mman.h>

#include "device_memory.h"

#if !defined(__x86_64__)
#error "the emulator switches fibers by x86-64 instructions: see the README"
#endif

extern "C" void emulator_switch(void** from, void* to);
asm(R"(
.text
.globl emulator_switch
.hidden emulator_switch
emulator_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");

namespace emulator {

namespace {
constexpr int SAVED_REGISTERS = 6;
void* host_stack_pointer;
Fiber* now;
}  // namespace

void prepare(Fiber& fiber, void (*entry)()) {
  // The return address lies where calls would have put it: 8 bytes below a multiple of 16.
  auto* top = reinterpret_cast<u64*>(fiber.stack + STACK_BYTES - 64);
  *--top = 0;
  *--top = reinterpret_cast<u64>(entry);
  for (int i = 0; i < SAVED_REGISTERS; ++i) *--top = 0;
  fiber.stack_pointer = top;
}

void switch_to(Fiber& fiber) {
  now = &fiber;
  emulator_switch(&host_stack_pointer, fiber.stack_pointer);
}

void switch_to_host() {
  emulator_switch(&now->stack_pointer, host_stack_pointer);
}

Fiber& running() {
  return *now;
}

}  // namespace emulator
