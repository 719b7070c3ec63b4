// The CUDA half for the emulated device: what bindings.cpp binds for a real one.
#include <nanobind/nanobind.h>

#include "bindings/looping_bindings.h"
#include "bindings/prefix_bindings.h"
#include "bindings/wfst_bindings.h"

namespace {
struct EmulatedDevice {
  static constexpr std::int32_t value = 12;  // DLPack's kDLExtDev, as torch says of its own
  static constexpr auto name = nanobind::detail::const_name("emulated");
  static constexpr bool is_device_type = true;
};
}  // namespace

NB_MODULE(_emulated, module) {
  module.doc() = "The CUDA half of the kernels, for the emulated device.";
  earshot::bind_prefix<earshot::CudaPrefix<EmulatedDevice>>(module);
  earshot::bind_wfst<earshot::CudaWfst<EmulatedDevice>>(module);
  earshot::bind_looping<EmulatedDevice>(module);
}
