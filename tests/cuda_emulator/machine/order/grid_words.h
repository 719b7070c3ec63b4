// Words of global memory that blocks which run together read and write: who last did what, and
// whether that happened before an access now.
//
// Of each block is kept its last access of each kind; where several of its threads made that
// between two barriers, whoever comes later has to know of the second barrier.
#pragma once

#include <unordered_map>
#include <vector>

#include "fiber.h"
#include "thread.h"

namespace emulator {

enum class Access : u8 { READ, WRITE, UPDATE };

// Two accesses that nothing orders.
struct Clash {
  const char* kind;
  int earlier_site;
};

class GridWords {
 public:
  void clear() { words_.clear(); }
  // Notes an access of the running thread; returns what it clashes with, until the next call.
  const std::vector<Clash>& note(const Fiber& fiber, u64 word, Access access, Order order,
                                 int site);

 private:
  struct Mark {
    bool is_set = false;
    bool of_many = false;
    bool reaches_all = false;
    u32 place = 0;  // of the thread
    u32 time = 0;
    u32 barriers = 0;
    int site = 0;
  };
  struct OfBlock {
    u32 index;
    Mark weak_read, strong_read, weak_write, strong_write;
  };

  static bool is_before(const OfBlock& of, const Mark& mark, const Fiber& fiber);
  void compare(const OfBlock& of, const Mark& mark, bool is_ordered_if_strong, const Fiber& fiber,
               const char* kind);
  static void set(Mark& mark, const OfBlock& of, const Fiber& fiber, Order order, int site);

  std::unordered_map<u64, std::vector<OfBlock>> words_;
  std::vector<Clash> clashes_;
};

}  // namespace emulator
