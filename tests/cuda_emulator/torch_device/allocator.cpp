#include "allocator.h"

#include <c10/util/Exception.h>

#include <cstring>

#include "../machine/memory/device_memory.h"
#include "../machine/memory/fault.h"

namespace earshot::emulated {
namespace {

constexpr int kStickyErrorCode = 1;

// cudaErrorStreamCaptureUnsupported: torch would ask CUDA for memory.
constexpr int kCaptureErrorCode = 900;

void require_no_capture() {
  if (!emulator_refuses_allocation()) return;
  throw c10::AcceleratorError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},
                              kCaptureErrorCode,
                              "emulated device: operation not permitted when stream is capturing");
}

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    require_working();
    require_no_capture();
    void* memory = bytes ? emulator_allocate(bytes) : nullptr;
    if (bytes && !memory) {
      require_working();
      TORCH_CHECK_WITH(OutOfMemoryError, false,
                       "emulated device: out of memory: tried to allocate ", bytes, " bytes");
    }
    return {memory, memory, &emulator_release, kDevice};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &emulator_release; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    require_working();
    std::memcpy(to, from, bytes);
    emulator_host_wrote(to, bytes);
  }
};

DeviceAllocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator);

}  // namespace

void require_working() {
  if (const char* error = emulator_sticky_error()) {
    throw c10::AcceleratorError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},
                                kStickyErrorCode, std::string("emulated device: ") + error);
  }
}

c10::Allocator* device_allocator() {
  return &allocator;
}

}  // namespace earshot::emulated
