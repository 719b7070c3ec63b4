// Memory of the emulated device for torch, and what its failures become.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace earshot::emulated {

// There is one.
inline const c10::Device kDevice(c10::DeviceType::PrivateUse1, 0);

// Throws c10::AcceleratorError once the device is of no more use.
void require_working();

// Throws c10::OutOfMemoryError where the device has no memory left.
c10::Allocator* device_allocator();

}  // namespace earshot::emulated
