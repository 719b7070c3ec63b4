#include "grid_words.h"

#include "block.h"

namespace emulator {

const std::vector<Clash>& GridWords::note(const Fiber& fiber, u64 word, Access access, Order order,
                                          int site) {
  clashes_.clear();
  std::vector<OfBlock>& blocks = words_[word];
  OfBlock* own = nullptr;
  const bool writes = access != Access::READ;
  const bool is_weak = order == Order::WEAK;
  for (OfBlock& of : blocks) {
    const bool is_own = of.index == fiber.block;
    if (is_own) own = &of;
    const auto is_strong_with = [&](const Mark& mark) {
      return !is_weak && (is_own || (reaches_all(order) && mark.reaches_all));
    };
    const char* const after_write = writes ? "two writes" : "a read after a write";
    compare(of, of.weak_write, false, fiber, after_write);
    compare(of, of.strong_write, is_strong_with(of.strong_write), fiber, after_write);
    if (!writes) continue;
    compare(of, of.weak_read, false, fiber, "a write after a read");
    compare(of, of.strong_read, is_strong_with(of.strong_read), fiber, "a write after a read");
  }
  if (own == nullptr) own = &blocks.emplace_back(OfBlock{fiber.block, {}, {}, {}, {}});
  Mark& mark = writes ? (is_weak ? own->weak_write : own->strong_write)
                      : (is_weak ? own->weak_read : own->strong_read);
  set(mark, *own, fiber, order, site);
  return clashes_;
}

bool GridWords::is_before(const OfBlock& of, const Mark& mark, const Fiber& fiber) {
  if (of.index == fiber.block && fiber.home->barriers > mark.barriers) return true;
  if (!mark.of_many) return fiber.clock.knows_place(mark.place, mark.time);
  return fiber.clock.known().at(fiber.barrier_places + of.index) > mark.barriers;
}

void GridWords::compare(const OfBlock& of, const Mark& mark, bool is_ordered_if_strong,
                        const Fiber& fiber, const char* kind) {
  if (!mark.is_set || is_ordered_if_strong || is_before(of, mark, fiber)) return;
  clashes_.push_back(Clash{kind, mark.site});
}

void GridWords::set(Mark& mark, const OfBlock& of, const Fiber& fiber, Order order, int site) {
  const bool adds = mark.is_set && !is_before(of, mark, fiber);
  mark.is_set = true;
  mark.of_many = adds && (mark.of_many || mark.place != fiber.clock.place());
  mark.reaches_all = reaches_all(order) && (!adds || mark.reaches_all);
  mark.place = fiber.clock.place();
  mark.time = fiber.clock.time();
  mark.barriers = fiber.home->barriers;
  mark.site = site;
}

}  // namespace emulator
