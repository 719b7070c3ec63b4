// Memory that begins with a line of the cache: a register of 64 bytes then never lies in two.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace earshot::EARSHOT_PROCESSOR {

// Elements that are not written yet.
template <class Element>
class CacheLines {
  static_assert(std::is_trivial_v<Element>);

 public:
  explicit CacheLines(std::size_t count)
      : elements_(static_cast<Element*>(::operator new(count * sizeof(Element), LINE))) {}

  Element* data() { return elements_.get(); }
  const Element* data() const { return elements_.get(); }

 private:
  static constexpr std::align_val_t LINE{64};

  struct Free {
    void operator()(Element* elements) const { ::operator delete(elements, LINE); }
  };

  std::unique_ptr<Element, Free> elements_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
