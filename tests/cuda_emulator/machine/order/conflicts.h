// Accesses to the same memory that nothing orders: between two barriers of a block, and between
// blocks of one launch. Blocks that run together may be ordered by what they publish (see
// grid_words.h); of all others any two accesses conflict.
//
// Two accesses conflict if one of them writes, one of them is weak, and neither happens before the
// other (PTX ISA, "Data races"). Of each word is kept who wrote it last and who has read it since.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "fiber.h"
#include "grid_words.h"
#include "thread.h"

namespace emulator {

struct Word {
  u64 interval = 0;  // of the block, in which the thread-wise columns were written
  s32 write_site = 0;
  s32 read_site = 0;
  u32 write_time = 0;
  u32 read_time = 0;
  u16 writer = 0;  // thread + 1
  u16 reader = 0;
  bool weak_write = false;
  bool weak_read = false;
  bool many_readers = false;
  bool block_wrote = false;  // and the launch-wise ones
  bool block_was_weak = false;
  bool many_blocks = false;
  u32 launch = 0;
  u32 block = 0;
  s32 block_site = 0;
};

// Words of one range of addresses.
class WordMap {
 public:
  WordMap(u64 base, std::size_t bytes);
  Word& at(u64 address) { return words_[(address - base_) / 4]; }

 private:
  u64 base_;
  Word* words_;
};

// As people write it: file:line.
std::string text_of(int site);

class Conflicts {
 public:
  // `interval` tells the time between two barriers of a block from all others.
  void note(Fiber& fiber, Word& word, u64 interval, u32 launch, Access access, Order order,
            int site);
  // Of a word at that address, in a grid whose blocks run together.
  void note_together(const Fiber& fiber, u64 word, Access access, Order order, int site);
  bool empty() const { return found_.empty(); }
  // One line for each pair of places.
  std::string text() const;
  void clear() {
    found_.clear();
    grid_words_.clear();
  }

 private:
  void note_thread(const Fiber& fiber, Word& word, Access access, bool is_weak, int site);
  void note_block(const Fiber& fiber, Word& word, Access access, bool is_weak, int site);
  void report(const char* kind, int one, int other);

  std::map<std::pair<std::string, std::string>, u64> found_;
  GridWords grid_words_;
};

}  // namespace emulator
