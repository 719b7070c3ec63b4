#include "counts.h"

#include "grid.h"

namespace emulator {

namespace {

constexpr std::size_t LANES = 32;
constexpr u64 SECTOR_BYTES = 32;

// Lanes of a warp that take different ways walk them one after the other: of each instruction the
// warp issues as many as the lane that executes it most often.
struct Issued {
  u64 instructions = 0;
  u64 doubles = 0;
  u64 accesses = 0;
};

int num_sites() {
  static const int found = [] {
    int count = 0;
    while (sites[count].file != nullptr) ++count;
    return count;
  }();
  return found;
}

using Row = std::vector<u32>;

void raise(Row& most, const Row& own) {
  for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], own[i]);
}

// A lane's counts lie side by side: to walk them column by column takes ten times as long.
Issued issued_by(const Block& block, std::size_t first, std::size_t last) {
  Row entered(static_cast<std::size_t>(num_code_blocks));
  Row accesses(static_cast<std::size_t>(num_sites()));
  for (std::size_t lane = first; lane < last; ++lane) {
    raise(entered, block.fibers[lane]->entered);
    raise(accesses, block.fibers[lane]->accesses);
  }
  Issued issued;
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const u64 times = entered[i];
    for (const int count : code_blocks[i].count) issued.instructions += times * count;
    issued.doubles += times * code_blocks[i].count[DOUBLE];
  }
  for (const u32 times : accesses) issued.accesses += times;
  issued.instructions += issued.accesses;
  return issued;
}

std::string field(const char* name, u64 value) {
  return std::string("\"") + name + "\": " + std::to_string(value);
}

std::string json_of(const KernelCounts& own) {
  return "{" + field("launches", own.launches) + ", " + field("blocks", own.blocks) + ", " +
         field("barriers", own.barriers) + ", " +
         field("critical_instructions", own.critical_instructions) + ", " +
         field("critical_doubles", own.critical_doubles) + ", " +
         field("critical_accesses", own.critical_accesses) + ", " +
         field("global_atomics", own.global_atomics) + ", " +
         field("shared_atomics", own.shared_atomics) + ", " + field("fences", own.fences) + ", " +
         field("global_bytes", own.global_bytes) + ", " + field("shared_bytes", own.shared_bytes) +
         ", " + field("own_bytes", own.own_bytes) + ", " + field("host_reads", own.host_reads) +
         ", " + field("host_bytes", own.host_bytes) + ", " +
         field("host_sectors", own.host_sectors) + ", " +
         field("watched_reads", own.watched_reads) + ", " +
         field("watched_writes", own.watched_writes) + "}";
}

}  // namespace

void Counts::begin(const std::string& kernel, u32 blocks) {
  now_ = &kernels_[kernel];
  ++now_->launches;
  now_->blocks += blocks;
}

void Counts::start(Fiber& fiber) {
  fiber.entered.assign(static_cast<std::size_t>(num_code_blocks), 0);
  fiber.accesses.assign(static_cast<std::size_t>(num_sites()), 0);
  fiber.executed = fiber.entered.data();
}

void Counts::watched_access(u64 at, Access access) {
  if (at - settings.watched_from >= settings.watched_bytes) return;
  ++(access == Access::READ ? now_->watched_reads : now_->watched_writes);
}

void Counts::host_access(const Fiber& fiber, u64 at, u32 bytes) {
  ++now_->host_reads;
  now_->host_bytes += bytes;
  for (u64 sector = at / SECTOR_BYTES; sector <= (at + bytes - 1) / SECTOR_BYTES; ++sector) {
    if (host_sectors_[fiber.home].insert(sector).second) ++now_->host_sectors;
  }
}

void Counts::access(Fiber& fiber, Space space, u64 at, u32 bytes, Access access, int site) {
  const bool is_atomic = access == Access::UPDATE;
  ++fiber.accesses[static_cast<std::size_t>(site)];
  if (space == Space::GLOBAL) {
    watched_access(at, access);
    now_->global_bytes += bytes;
    now_->global_atomics += is_atomic ? 1 : 0;
  } else if (space == Space::SHARED) {
    now_->shared_bytes += bytes;
    now_->shared_atomics += is_atomic ? 1 : 0;
  } else if (space == Space::HOST) {
    host_access(fiber, at, bytes);
  } else {
    now_->own_bytes += bytes;
  }
}

void Counts::interval(Block& block, bool at_barrier) {
  if (at_barrier) ++now_->barriers;
  host_sectors_.erase(&block);
  Issued critical;
  for (std::size_t first = 0; first < block.fibers.size(); first += LANES) {
    const Issued own = issued_by(block, first, std::min(first + LANES, block.fibers.size()));
    if (own.instructions > critical.instructions) critical = own;
  }
  now_->critical_instructions += critical.instructions;
  now_->critical_doubles += critical.doubles;
  now_->critical_accesses += critical.accesses;
  for (const auto& fiber : block.fibers) {
    std::fill(fiber->entered.begin(), fiber->entered.end(), 0);
    std::fill(fiber->accesses.begin(), fiber->accesses.end(), 0);
  }
}

std::string Counts::json() const {
  std::string all = "{";
  for (const auto& [kernel, own] : kernels_) {
    all += (all.size() > 1 ? ", " : "") + std::string("\"") + kernel + "\": " + json_of(own);
  }
  return all + "}";
}

}  // namespace emulator
