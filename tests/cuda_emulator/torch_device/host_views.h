// The device's tensors as the host sees them.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace earshot::emulated {

// CPU tensors over the memory of device tensors, as long as one operation takes. Tensors that share
// a storage do so on the host too.
class HostViews {
 public:
  // A tensor of the CPU, or none, is its own view.
  at::Tensor of(const at::Tensor& tensor);

  // What the host's result is on the device: the tensor that it is the view of, a view of one, or
  // new memory.
  at::Tensor on_device(const at::Tensor& host) const;

 private:
  c10::Storage storage_of(const c10::Storage& device) const;

  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;  // the device's, the host's
};

inline bool is_ours(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_privateuseone();
}

// The host has written all elements of a device tensor, and nothing between them.
void host_wrote(const at::Tensor& device);

// After the host's view was written: take over its shape, and what it holds where it has grown into
// memory of its own.
void take_over(const at::Tensor& host, const at::Tensor& device);

}  // namespace earshot::emulated
