// Which device and which stream is current: there is one of each, and its work is done when asked.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "allocator.h"

namespace earshot::emulated {
namespace {

const c10::Stream stream(c10::Stream::DEFAULT, kDevice);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice.type(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Device getDevice() const override { return kDevice; }
  c10::Device exchangeDevice(c10::Device device) const override {
    setDevice(device);
    return kDevice;
  }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() <= 0, "emulated device: invalid device ordinal: ", device);
  }
  void uncheckedSetDevice(c10::Device) const noexcept override {}

  c10::Stream getStream(c10::Device) const override { return stream; }
  c10::Stream getDefaultStream(c10::Device) const override { return stream; }
  c10::Stream exchangeStream(c10::Stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { require_working(); }
  void synchronizeDevice(const c10::DeviceIndex) const override { require_working(); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace
}  // namespace earshot::emulated
