// A launch: blocks of fibers that meet at barriers, in an order that a seed chooses.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "conflicts.h"
#include "counts.h"
#include "fiber.h"
#include "settings.h"
#include "thread.h"

namespace emulator {

// One block that is under way.
struct Block {
  std::vector<u8> shared;         // with room behind it that nobody may touch
  std::vector<u8> shared_states;  // State of each byte
  std::vector<Word> shared_words;
  std::size_t shared_bytes = 0;
  std::vector<std::unique_ptr<Fiber>> fibers;
  u64 interval = 0;
  Published published;

  bool holds(u64 at, u32 bytes) const {
    const auto start = reinterpret_cast<u64>(shared.data());
    return at >= start && at + bytes <= start + shared_bytes;
  }
  u64 shared_offset(u64 at) const { return at - reinterpret_cast<u64>(shared.data()); }
};

struct LaunchSize {
  u32 blocks;
  u32 threads;
  std::size_t shared_bytes;
};

// What happened since the start, or since it was asked for anew.
struct Tally {
  u64 launches = 0;
  u64 intervals = 0;  // between two barriers
  u64 switches = 0;   // of threads that did not wait at a barrier
};

class Grid {
 public:
  // Returns what went wrong, or nothing.
  std::string run(const Kernel& kernel, const LaunchSize& size, const u8* param);

  // Of the running thread.
  void before(Fiber& fiber, u64 at, u32 bytes, Access access, Order order, int site);
  void fence(Fiber& fiber);
  void wait(Fiber& fiber, int site);
  void add_store(Fiber& fiber, u64 at, const void* bytes, u32 size);
  [[noreturn]] void fault(const std::string& why, int site);

  Tally tally;
  Counts counts;

 private:
  void walk(const LaunchSize& size);
  std::unique_ptr<Block> start(u32 index, const LaunchSize& size);
  void prepare_fibers(Block& block, u32 index, const LaunchSize& size);
  void run_ready();
  bool meet(Block& block);
  void give_way();
  void come_back(std::unique_ptr<Block> block);
  u64 next_slice();

  Space space_of(const Fiber& fiber, u64 at, u32 bytes) const;
  void check(const Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site);
  void check_written(const Fiber& fiber, Space space, u64 at, u32 bytes, int site);
  void mark_written(const Fiber& fiber, Space space, u64 at, u32 bytes);
  void note(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, Order order, int site);
  void order(Fiber& fiber, u64 at, Access access, Order order);
  u8* take_stack();
  static void enter();

  const Kernel* kernel_ = nullptr;
  const u8* param_ = nullptr;
  std::string fault_;
  Conflicts conflicts_;
  std::mt19937_64 chance_;
  u64 left_in_slice_ = 0;
  u64 next_interval_ = 0;
  u32 launch_ = 0;                                // since the start of the process
  std::vector<std::unique_ptr<Block>> together_;  // blocks under way
  std::vector<u8*> free_stacks_;
};

Grid& grid();

}  // namespace emulator
