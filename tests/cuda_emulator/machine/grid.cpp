#include "grid.h"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "device_memory.h"

namespace emulator {

namespace {

constexpr std::size_t SHARED_GUARD_BYTES = 256;
constexpr u64 LONG_SLICE = 1 << 14;       // so that whoever waits for another thread gives way
constexpr u64 RESIDENT_SLICE = 1 << 8;    // where blocks wait for each other all the time
constexpr std::size_t MOST_PENDING = 48;  // stores of a thread; then one arrives by chance

std::string place_of(const Fiber& fiber) {
  return ", thread " + std::to_string(fiber.thread) + " of block " + std::to_string(fiber.block);
}

}  // namespace

Grid& grid() {
  static Grid only;
  return only;
}

std::string Grid::run(const Kernel& kernel, const LaunchSize& size, const u8* param) {
  ++tally.launches;
  tally.most_threads = std::max<u64>(tally.most_threads, size.threads);
  kernel_ = &kernel;
  param_ = param;
  fault_.clear();
  progress_.begin();
  published_.clear();
  accesses_.begin(kernel, param);
  chance_.seed(settings.seed * 0x9E3779B97F4A7C15ULL + tally.launches);
  if (settings.counts != 0) counts.begin(kernel.name, size.blocks);
  walk(size);
  while (!together_.empty()) {  // what a fault has left behind
    come_back(std::move(together_.back()));
    together_.pop_back();
  }
  return fault_.empty() ? accesses_.conflicts() : fault_;
}

// --- blocks and threads

void Grid::walk(const LaunchSize& size) {
  long_slice_ = size.is_cooperative ? RESIDENT_SLICE : LONG_SLICE;
  std::vector<u32> waiting(size.blocks);
  std::iota(waiting.rbegin(), waiting.rend(), 0u);
  if (settings.seed != 0) std::shuffle(waiting.begin(), waiting.end(), chance_);
  while (fault_.empty() && (!waiting.empty() || !together_.empty())) {
    fill(waiting, size);
    run_ready();
    if (fault_.empty()) meet_all();
    if (fault_.empty()) look_for_waiting(waiting.size());
  }
}

// Starts as many blocks as run together.
void Grid::fill(std::vector<u32>& waiting, const LaunchSize& size) {
  const u64 most = size.is_cooperative ? size.blocks : std::max<u64>(1, settings.blocks_together);
  while (!waiting.empty() && together_.size() < most) {
    together_.push_back(start(waiting.back(), size));
    waiting.pop_back();
  }
}

std::unique_ptr<Block> Grid::start(u32 index, const LaunchSize& size) {
  auto block = std::make_unique<Block>();
  block->shared_bytes = size.shared_bytes;
  block->shared.assign(size.shared_bytes + SHARED_GUARD_BYTES, 0xA5);
  block->shared_states.assign(size.shared_bytes + STATE_MARGIN, UNWRITTEN);
  block->shared_words.assign(size.shared_bytes / 4 + 1, Word{});
  block->interval = ++next_interval_;
  if (size.is_cooperative) block->published = &published_;
  prepare_fibers(*block, index, size);
  return block;
}

void Grid::prepare_fibers(Block& block, u32 index, const LaunchSize& size) {
  for (u32 thread = 0; thread < size.threads; ++thread) {
    auto fiber = std::make_unique<Fiber>();
    fiber->thread = thread;
    fiber->threads = size.threads;
    fiber->block = index;
    fiber->blocks = size.blocks;
    fiber->shared = block.shared.data();
    fiber->home = &block;
    fiber->stack = take_stack();
    if (size.is_cooperative) fiber->barrier_places = size.blocks * size.threads;
    fiber->clock.start(index, size.is_cooperative ? index * size.threads : 0, thread);
    if (settings.counts != 0) counts.start(*fiber);
    prepare(*fiber, enter);
    block.fibers.push_back(std::move(fiber));
  }
}

void Grid::enter() {
  Fiber& fiber = running();
  grid().kernel_->run(fiber, grid().param_, nullptr);
  fiber.done = true;
  switch_to_host();
  std::abort();  // nobody goes on with a thread that has ended
}

// Each thread that can until it gives way.
void Grid::run_ready() {
  std::vector<Fiber*> ready;
  for (const auto& block : together_) {
    for (const auto& fiber : block->fibers) {
      if (!fiber->done && fiber->waits_at == NO_SITE) ready.push_back(fiber.get());
    }
  }
  if (settings.seed != 0) std::shuffle(ready.begin(), ready.end(), chance_);
  bool has_moved = ready.empty();
  progress_.begin_round();
  for (Fiber* fiber : ready) {
    left_in_slice_ = next_slice();
    switch_to(*fiber);
    if (!fault_.empty()) return;
    if (fiber->done || fiber->waits_at != NO_SITE) {
      has_moved = true;
    } else {
      progress_.look_at(*fiber);
    }
  }
  progress_.end_round(has_moved);
}

// Ends the launch if no thread will ever go on: each that could waits for another.
void Grid::look_for_waiting(u64 not_started) {
  const Fiber* one = nullptr;
  for (const auto& block : together_) {
    for (const auto& fiber : block->fibers) {
      if (fiber->done || fiber->waits_at != NO_SITE) continue;
      if (!progress_.waits(*fiber)) return;
      one = fiber.get();
    }
  }
  if (one == nullptr) return;
  fault_ = not_started == 0 ? "threads wait for what no thread will do: "
                            : "a block waits for one that is not resident: ";
  fault_ += text_of(one->last_site) + place_of(*one);
}

u64 Grid::next_slice() {
  if (settings.mean_slice > 0) return 1 + chance_() % (2 * settings.mean_slice);
  return long_slice_;
}

void Grid::give_way() {
  ++tally.switches;
  PendingStores& pending = running().pending;
  if (!pending.empty() && chance_() % 4 == 0) pending.settle_one(chance_());
  switch_to_host();
}

// Lets the blocks go on whose threads have all come to a barrier, or come back at their end.
void Grid::meet_all() {
  for (std::size_t i = 0; i < together_.size() && fault_.empty();) {
    if (meet(*together_[i])) {
      come_back(std::move(together_[i]));
      together_.erase(together_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// Returns whether all threads have ended.
bool Grid::meet(Block& block) {
  u32 waiting = 0;
  int site = NO_SITE;
  for (const auto& fiber : block.fibers) {
    if (fiber->done) continue;
    if (fiber->waits_at == NO_SITE) return false;
    if (site == NO_SITE) site = fiber->waits_at;
    if (site != fiber->waits_at) {
      fault_ = "threads of a block wait at two barriers: " + text_of(site) + " and " +
               text_of(fiber->waits_at);
      return false;
    }
    ++waiting;
  }
  if (waiting != 0 && waiting != block.fibers.size()) {
    fault_ = "threads of a block have ended while others wait at " + text_of(site);
    return false;
  }
  pass(block, waiting != 0);
  return waiting == 0;
}

void Grid::pass(Block& block, bool at_barrier) {
  ++tally.intervals;
  if (settings.counts != 0) counts.interval(block, at_barrier);
  block.interval = ++next_interval_;
  ++block.barriers;
  block.own_published.clear();
  for (const auto& fiber : block.fibers) {
    fiber->waits_at = NO_SITE;
    fiber->pending.settle_all();  // of threads that have ended
  }
  if (block.is_together()) return tell_each_other(block);
  for (const auto& fiber : block.fibers) fiber->clock.start(fiber->block, 0, fiber->thread);
}

// Of blocks that run together clocks go on: what one thread knows of other blocks, all do now.
void Grid::tell_each_other(Block& block) {
  Times together;
  for (const auto& fiber : block.fibers) together.join(fiber->clock.known());
  for (const auto& fiber : block.fibers) together.raise(fiber->clock.place(), fiber->clock.time());
  together.raise(block.fibers.front()->barrier_places + block.fibers.front()->block,
                 block.barriers);
  for (const auto& fiber : block.fibers) fiber->clock.go_on(together);
}

u8* Grid::take_stack() {
  if (free_stacks_.empty()) {
    auto* const stack = static_cast<u8*>(reserve(STACK_BYTES));
    mprotect(stack, 4096, PROT_NONE);
    return stack;
  }
  u8* const stack = free_stacks_.back();
  free_stacks_.pop_back();
  return stack;
}

void Grid::come_back(std::unique_ptr<Block> block) {
  for (const auto& fiber : block->fibers) free_stacks_.push_back(fiber->stack);
}

// --- what the running thread does

void Grid::before(Fiber& fiber, u64 at, u32 bytes, Access access, Order how, int site) {
  if (left_in_slice_-- == 0) give_way();
  fiber.last_site = site;
  accesses_.before(fiber, at, bytes, access, how, site);
}

void Grid::fence(Fiber& fiber, Order order) {
  fiber.pending.settle_all();
  fiber.clock.fence(order);
  if (settings.counts != 0) counts.fence();
}

void Grid::wait(Fiber& fiber, int site) {
  fiber.pending.settle_all();
  fiber.waits_at = site;
  switch_to_host();
}

void Grid::add_store(Fiber& fiber, u64 at, const void* bytes, u32 size) {
  fiber.pending.add(at, bytes, size);
  if (fiber.pending.size() > MOST_PENDING) fiber.pending.settle_one(chance_());
}

void Grid::fault(const std::string& why, int site) {
  fault_ = why + ": " + text_of(site) + place_of(running());
  switch_to_host();
  std::abort();  // nobody goes on with a thread that has failed
}

}  // namespace emulator
