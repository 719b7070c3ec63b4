// What the host holds of our objects: pointers that the runtime never looks into before it knows
// that they are its own.
#pragma once

#include <unordered_set>

namespace emulator {

template <class Object, class Handle>
class Handles {
 public:
  Handle add(Object* object) {
    objects_.insert(object);
    return reinterpret_cast<Handle>(object);
  }
  void remove(Object* object) { objects_.erase(object); }
  // nullptr where it is none of ours, or none any more.
  Object* find(Handle handle) const {
    auto* const object = reinterpret_cast<Object*>(handle);
    return objects_.count(object) != 0 ? object : nullptr;
  }
  const std::unordered_set<Object*>& all() const { return objects_; }

 private:
  std::unordered_set<Object*> objects_;
};

}  // namespace emulator
