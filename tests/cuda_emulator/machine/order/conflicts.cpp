#include "conflicts.h"

#include "device_memory.h"

namespace emulator {

std::string text_of(int site) {
  return std::string(sites[site].file) + ":" + std::to_string(sites[site].line);
}

WordMap::WordMap(u64 base, std::size_t bytes)
    : base_(base), words_(static_cast<Word*>(reserve(bytes / 4 * sizeof(Word)))) {}

void Conflicts::note(Fiber& fiber, Word& word, u64 interval, u32 launch, Access access, Order order,
                     int site) {
  const bool is_weak = order == Order::WEAK;
  if (word.launch != launch || word.interval != interval) {
    if (word.launch != launch) word = Word{};
    word.launch = launch;
    word.interval = interval;
    word.writer = word.reader = 0;
    word.weak_write = word.weak_read = word.many_readers = false;
  }
  note_thread(fiber, word, access, is_weak, site);
  note_block(fiber, word, access, is_weak, site);
}

void Conflicts::note_together(const Fiber& fiber, u64 word, Access access, Order order, int site) {
  for (const Clash& clash : grid_words_.note(fiber, word, access, order, site)) {
    report(clash.kind, clash.earlier_site, site);
  }
}

void Conflicts::note_thread(const Fiber& fiber, Word& word, Access access, bool is_weak, int site) {
  const auto self = static_cast<u16>(fiber.thread + 1);
  const bool writes = access != Access::READ;
  if (word.writer != 0 && (is_weak || word.weak_write) &&
      !fiber.clock.knows(word.writer - 1u, word.write_time)) {
    report(writes ? "two writes" : "a read after a write", word.write_site, site);
  }
  if (writes && word.reader != 0 && (is_weak || word.weak_read) &&
      (word.many_readers || !fiber.clock.knows(word.reader - 1u, word.read_time))) {
    report("a write after a read", word.read_site, site);
  }
  if (writes) {
    word.weak_write = is_weak;
    word.writer = self;
    word.write_time = fiber.clock.time();
    word.write_site = site;
    word.reader = 0;
    word.weak_read = word.many_readers = false;
    return;
  }
  word.many_readers |= word.reader != 0 && word.reader != self;
  word.reader = self;
  word.read_time = fiber.clock.time();
  word.read_site = site;
  word.weak_read |= is_weak;
}

void Conflicts::note_block(const Fiber& fiber, Word& word, Access access, bool is_weak, int site) {
  const u32 self = fiber.block + 1;
  const bool writes = access != Access::READ;
  const bool is_other = word.block != 0 && (word.many_blocks || word.block != self);
  if (is_other && (writes || word.block_wrote) && (is_weak || word.block_was_weak)) {
    report("accesses of two blocks", word.block_site, site);
  }
  word.many_blocks |= is_other;
  word.block = self;
  word.block_wrote |= writes;
  word.block_was_weak |= is_weak;
  word.block_site = site;
}

void Conflicts::report(const char* kind, int one, int other) {
  ++found_[{std::string(kind) + " at " + text_of(one), text_of(other)}];
}

std::string Conflicts::text() const {
  std::string all;
  for (const auto& [places, count] : found_) {
    all += (all.empty() ? "" : "\n") + std::string("conflict: ") + places.first + " and " +
           places.second + ", " + std::to_string(count) + " times";
  }
  return all;
}

}  // namespace emulator
