// Bytes of the host that kernels on a device can read: registered where they lie, or if the driver
// does not take them so (pages of a file on some systems, limits on locked memory) copied.
#pragma once

#include <cstddef>
#include <cstdint>

namespace earshot {

class PinnedBytes {
 public:
  // Throws LaunchFailed where the device refuses both, with why it refused the copy.
  PinnedBytes(const std::uint8_t* content, std::size_t size);
  // No kernel that reads them may be under way.
  ~PinnedBytes();
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;

  // Where the current device sees them.
  const std::uint8_t* there() const { return there_; }
  bool is_copied() const { return copy_ != nullptr; }

 private:
  bool register_own(const std::uint8_t* content, std::size_t size);
  void copy(const std::uint8_t* content, std::size_t size);

  void* registered_ = nullptr;
  void* copy_ = nullptr;
  const std::uint8_t* there_ = nullptr;
};

}  // namespace earshot
