// What is looked at before a thread reads or writes: whose memory it is, whether it was written,
// and whether anything orders the access against those of others.
#pragma once

#include <string>

#include "conflicts.h"
#include "counts.h"
#include "device_memory.h"
#include "fiber.h"
#include "thread.h"

namespace emulator {

class Accesses {
 public:
  // Of a launch.
  void begin(const Kernel& kernel, const u8* param);
  // Of the running thread; a fault ends the launch.
  void before(Fiber& fiber, u64 at, u32 bytes, Access access, Order order, int site);
  // Conflicts of the launch so far, or nothing.
  std::string conflicts() const { return conflicts_.text(); }

 private:
  Space space_of(const Fiber& fiber, u64 at, u32 bytes) const;
  void check(const Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site);
  void check_written(const Fiber& fiber, Space space, u64 at, u32 bytes, int site);
  void mark_written(const Fiber& fiber, Space space, u64 at, u32 bytes);
  void note(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, Order order, int site);
  void order(Fiber& fiber, u64 at, Access access, Order order);

  Arena& arena_ = device_arena();
  const Kernel* kernel_ = nullptr;
  const u8* param_ = nullptr;
  Conflicts conflicts_;
  u32 launch_ = 0;  // since the start of the process
};

}  // namespace emulator
