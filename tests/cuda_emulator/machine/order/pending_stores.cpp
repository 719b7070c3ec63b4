#include "pending_stores.h"

#include "progress.h"

namespace emulator {

void PendingStores::add(u64 at, const void* bytes, u32 size) {
  settle(at, size);  // an older one may not come after this one
  Store store{at, size, {}};
  std::memcpy(store.bytes, bytes, size);
  stores_.push_back(store);
}

void PendingStores::read(u64 at, void* bytes, u32 size) const {
  std::memcpy(bytes, reinterpret_cast<const void*>(at), size);
  for (const Store& store : stores_) {
    const u64 start = std::max(at, store.at);
    const u64 end = std::min(at + size, store.at + store.size);
    if (start >= end) continue;
    std::memcpy(static_cast<u8*>(bytes) + (start - at), store.bytes + (start - store.at),
                end - start);
  }
}

void PendingStores::settle(u64 at, u32 size) {
  const auto touches = [&](const Store& store) {
    return store.at < at + size && at < store.at + store.size;
  };
  for (std::size_t i = 0; i < stores_.size();) {
    if (touches(stores_[i])) {
      arrive(stores_[i]);
      stores_[i] = stores_.back();
      stores_.pop_back();
    } else {
      ++i;
    }
  }
}

void PendingStores::settle_all() {
  for (const Store& store : stores_) arrive(store);
  stores_.clear();
}

void PendingStores::settle_one(u64 chance) {
  const std::size_t chosen = chance % stores_.size();
  arrive(stores_[chosen]);
  stores_[chosen] = stores_.back();
  stores_.pop_back();
}

void PendingStores::arrive(const Store& store) {
  change_memory(store.at, store.bytes, store.size);
}

}  // namespace emulator
