// A launch: blocks of fibers that meet at barriers, in an order that a seed chooses.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "accesses.h"
#include "block.h"
#include "counts.h"
#include "fiber.h"
#include "progress.h"
#include "settings.h"
#include "thread.h"

namespace emulator {

struct LaunchSize {
  u32 blocks;
  u32 threads;
  std::size_t shared_bytes;
  bool is_cooperative = false;  // all blocks run together, and may wait for each other
};

// What happened since the start, or since it was asked for anew.
struct Tally {
  u64 launches = 0;
  u64 host_launches = 0;   // of these, asked for one by one
  u64 graph_launches = 0;  // of whole graphs
  u64 intervals = 0;       // between two barriers
  u64 switches = 0;        // of threads that did not wait at a barrier
  u64 most_threads = 0;    // of a block
};

class Grid {
 public:
  // Returns what went wrong, or nothing.
  std::string run(const Kernel& kernel, const LaunchSize& size, const u8* param);

  // Of the running thread.
  void before(Fiber& fiber, u64 at, u32 bytes, Access access, Order order, int site);
  void fence(Fiber& fiber, Order order);
  void wait(Fiber& fiber, int site);
  void add_store(Fiber& fiber, u64 at, const void* bytes, u32 size);
  [[noreturn]] void fault(const std::string& why, int site);

  Tally tally;
  Counts counts;

 private:
  void walk(const LaunchSize& size);
  std::unique_ptr<Block> start(u32 index, const LaunchSize& size);
  void prepare_fibers(Block& block, u32 index, const LaunchSize& size);
  void fill(std::vector<u32>& waiting, const LaunchSize& size);
  void run_ready();
  void meet_all();
  bool meet(Block& block);
  void pass(Block& block, bool at_barrier);
  static void tell_each_other(Block& block);
  void look_for_waiting(u64 not_started);
  void give_way();
  void come_back(std::unique_ptr<Block> block);
  u64 next_slice();

  u8* take_stack();
  static void enter();

  const Kernel* kernel_ = nullptr;
  const u8* param_ = nullptr;
  std::string fault_;
  Accesses accesses_;
  Progress progress_;
  Published published_;  // of blocks that run together
  std::mt19937_64 chance_;
  u64 left_in_slice_ = 0;
  u64 long_slice_ = 0;  // where no switch is forced
  u64 next_interval_ = 0;
  std::vector<std::unique_ptr<Block>> together_;  // blocks under way
  std::vector<u8*> free_stacks_;
};

Grid& grid();

}  // namespace emulator
