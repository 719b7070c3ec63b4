#include "grid.h"

#include <sys/mman.h>

#include <numeric>

#include "device_memory.h"

namespace emulator {

namespace {

constexpr std::size_t SHARED_GUARD_BYTES = 256;
constexpr u64 LONG_SLICE = 1 << 14;       // so that whoever waits for another thread gives way
constexpr std::size_t MOST_PENDING = 48;  // stores of a thread; then one arrives by chance

WordMap& device_words() {
  static WordMap only(device_arena().base(), device_arena().size());
  return only;
}

}  // namespace

Grid& grid() {
  static Grid only;
  return only;
}

std::string Grid::run(const Kernel& kernel, const LaunchSize& size, const u8* param) {
  ++tally.launches;
  ++launch_;
  kernel_ = &kernel;
  param_ = param;
  fault_.clear();
  conflicts_.clear();
  chance_.seed(settings.seed * 0x9E3779B97F4A7C15ULL + tally.launches);
  if (settings.counts != 0) counts.begin(kernel.name, size.blocks);
  walk(size);
  while (!together_.empty()) {  // what a fault has left behind
    come_back(std::move(together_.back()));
    together_.pop_back();
  }
  return fault_.empty() ? conflicts_.text() : fault_;
}

// --- blocks and threads

void Grid::walk(const LaunchSize& size) {
  std::vector<u32> waiting(size.blocks);
  std::iota(waiting.rbegin(), waiting.rend(), 0u);
  if (settings.seed != 0) std::shuffle(waiting.begin(), waiting.end(), chance_);
  while (!waiting.empty() || !together_.empty()) {
    while (!waiting.empty() && together_.size() < std::max<u64>(1, settings.blocks_together)) {
      together_.push_back(start(waiting.back(), size));
      waiting.pop_back();
    }
    run_ready();
    if (!fault_.empty()) return;
    for (std::size_t i = 0; i < together_.size();) {
      const bool is_over = meet(*together_[i]);
      if (!fault_.empty()) return;
      if (is_over) {
        come_back(std::move(together_[i]));
        together_.erase(together_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
}

std::unique_ptr<Block> Grid::start(u32 index, const LaunchSize& size) {
  auto block = std::make_unique<Block>();
  block->shared_bytes = size.shared_bytes;
  block->shared.assign(size.shared_bytes + SHARED_GUARD_BYTES, 0xA5);
  block->shared_states.assign(size.shared_bytes, UNWRITTEN);
  block->shared_words.assign(size.shared_bytes / 4 + 1, Word{});
  block->interval = ++next_interval_;
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
    fiber->clock.start(thread, size.threads);
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
  for (Fiber* fiber : ready) {
    left_in_slice_ = next_slice();
    switch_to(*fiber);
    if (!fault_.empty()) return;
  }
}

u64 Grid::next_slice() {
  return settings.mean_slice == 0 ? LONG_SLICE : 1 + chance_() % (2 * settings.mean_slice);
}

void Grid::give_way() {
  ++tally.switches;
  PendingStores& pending = running().pending;
  if (!pending.empty() && chance_() % 4 == 0) pending.settle_one(chance_());
  switch_to_host();
}

// Lets the threads go on if all have come to the barrier; returns whether all have ended.
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
  ++tally.intervals;
  if (settings.counts != 0) counts.interval(block, waiting != 0);
  block.interval = ++next_interval_;
  block.published.clear();
  for (const auto& fiber : block.fibers) {
    fiber->waits_at = NO_SITE;
    fiber->pending.settle_all();  // of threads that have ended
    fiber->clock.start(fiber->thread, fiber->threads);
  }
  return waiting == 0;
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
  const Space space = space_of(fiber, at, bytes);
  check(fiber, space, at, bytes, access, site);
  if (settings.counts != 0) {
    counts.access(fiber, space, bytes, access == Access::UPDATE, site);
  }
  if (space != Space::GLOBAL && space != Space::SHARED) return;
  if (access != Access::WRITE && settings.finds_unwritten != 0) {
    check_written(fiber, space, at, bytes, site);
  }
  if (settings.finds_conflicts != 0) note(fiber, space, at, bytes, access, how, site);
  if (how != Order::WEAK) order(fiber, at, access, how);
  if (access != Access::READ) mark_written(fiber, space, at, bytes);
}

Space Grid::space_of(const Fiber& fiber, u64 at, u32 bytes) const {
  if (device_arena().holds(at)) return Space::GLOBAL;
  if (fiber.home->holds(at, bytes)) return Space::SHARED;
  if (fiber.owns(at, bytes)) return Space::OWN;
  const auto lies_in = [&](const void* start, u64 size) {
    const auto first = reinterpret_cast<u64>(start);
    return at >= first && at + bytes <= first + size;
  };
  if (lies_in(param_, static_cast<u64>(kernel_->param_bytes))) return Space::CONSTANT;
  for (const Variable* variable = variables; variable->name != nullptr; ++variable) {
    if (variable->is_constant && lies_in(variable->at, variable->bytes)) return Space::CONSTANT;
  }
  return Space::NOWHERE;
}

void Grid::check(const Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site) {
  const char* const verb = access == Access::READ ? "reads" : "writes";
  const std::string what = "a thread " + std::string(verb) + " " + std::to_string(bytes) + " bytes";
  if (at % bytes != 0) fault(what + " at an address that is not aligned to them", site);
  const bool is_outside = space == Space::NOWHERE ||
                          (space == Space::GLOBAL && device_arena().state(at, bytes) == FREE) ||
                          (space == Space::CONSTANT && access != Access::READ);
  if (is_outside)
    fault(
        what + " outside all allocations (block of " + std::to_string(fiber.threads) + " threads)",
        site);
}

void Grid::check_written(const Fiber& fiber, Space space, u64 at, u32 bytes, int site) {
  if (space == Space::GLOBAL) {
    if (device_arena().state(at, bytes) == WRITTEN) return;
    fault("a thread reads global memory that nobody has written", site);
  }
  const u8* const states = fiber.home->shared_states.data() + fiber.home->shared_offset(at);
  if (!std::all_of(states, states + bytes, [](u8 state) { return state == WRITTEN; })) {
    fault("a thread reads shared memory that nobody has written", site);
  }
}

void Grid::mark_written(const Fiber& fiber, Space space, u64 at, u32 bytes) {
  if (space == Space::GLOBAL) return device_arena().set_state(at, bytes, WRITTEN);
  std::memset(fiber.home->shared_states.data() + fiber.home->shared_offset(at), WRITTEN, bytes);
}

void Grid::note(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, Order how, int site) {
  for (u64 word = at / 4 * 4; word < at + bytes; word += 4) {
    Word& own = space == Space::GLOBAL
                    ? device_words().at(word)
                    : fiber.home->shared_words[fiber.home->shared_offset(word) / 4];
    conflicts_.note(fiber, own, fiber.home->interval, launch_, access, how, site);
  }
}

void Grid::order(Fiber& fiber, u64 at, Access access, Order how) {
  if (access != Access::WRITE) fiber.clock.strong_read(at, how, fiber.home->published);
  if (access != Access::READ) {
    fiber.clock.strong_write(at, how, fiber.home->published, access == Access::UPDATE);
  }
}

void Grid::fence(Fiber& fiber) {
  fiber.pending.settle_all();
  fiber.clock.fence();
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
  const Fiber& fiber = running();
  fault_ = why + ": " + text_of(site) + ", thread " + std::to_string(fiber.thread) + " of block " +
           std::to_string(fiber.block);
  switch_to_host();
  std::abort();  // nobody goes on with a thread that has failed
}

// --- what translated kernels call

namespace {
bool may_wait(const Fiber& fiber, u64 at, u32 size) {
  return settings.delays_stores != 0 && (device_arena().holds(at) || fiber.home->holds(at, size));
}
}  // namespace

void Thread::barrier(int site) {
  grid().wait(static_cast<Fiber&>(*this), site);
}

void Thread::trap(int site) {
  grid().fault("a kernel gives up", site);
}

void Thread::fence() {
  grid().fence(static_cast<Fiber&>(*this));
}

void Thread::reads(u64 at, u32 bytes, int site, Order order) {
  grid().before(static_cast<Fiber&>(*this), at, bytes, Access::READ, order, site);
}

void Thread::writes(u64 at, u32 bytes, int site, Order order) {
  grid().before(static_cast<Fiber&>(*this), at, bytes, Access::WRITE, order, site);
}

void Thread::updates(u64 at, u32 bytes, int site, Order order) {
  auto& fiber = static_cast<Fiber&>(*this);
  grid().before(fiber, at, bytes, Access::UPDATE, order, site);
  if (order == Order::RELEASE || order == Order::BOTH) fiber.pending.settle_all();
  if (!fiber.pending.empty()) fiber.pending.settle(at, bytes);
}

void Thread::get_bytes(u64 at, void* bytes, u32 size, Order) const {
  const auto& fiber = static_cast<const Fiber&>(*this);
  if (fiber.pending.empty()) {
    std::memcpy(bytes, reinterpret_cast<const void*>(at), size);
  } else {
    fiber.pending.read(at, bytes, size);
  }
}

void Thread::put_bytes(u64 at, const void* bytes, u32 size, Order order) {
  auto& fiber = static_cast<Fiber&>(*this);
  if (order == Order::WEAK && may_wait(fiber, at, size)) {
    return grid().add_store(fiber, at, bytes, size);
  }
  if (order == Order::RELEASE || order == Order::BOTH) fiber.pending.settle_all();
  if (!fiber.pending.empty()) fiber.pending.settle(at, size);
  std::memcpy(reinterpret_cast<void*>(at), bytes, size);
}

}  // namespace emulator
