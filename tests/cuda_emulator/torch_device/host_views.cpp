#include "host_views.h"

#include <ATen/core/TensorBody.h>

#include <memory>

#include "../machine/memory/device_memory.h"
#include "tensors.h"

namespace earshot::emulated {
namespace {

c10::Storage borrowed(const c10::Storage& device) {
  auto owner = std::make_unique<c10::Storage>(device);
  void* memory = owner->mutable_data();
  c10::DataPtr data(
      memory, owner.release(), [](void* kept) { delete static_cast<c10::Storage*>(kept); },
      at::kCPU);
  return {c10::Storage::use_byte_size_t(), device.nbytes(), std::move(data),
          c10::GetAllocator(c10::DeviceType::CPU),
          /*resizable=*/true};
}

// Over a storage, what another tensor is over its own.
void shape_like(const at::Tensor& tensor, const at::Tensor& like) {
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  impl->_set_conj(like.is_conj());
  impl->_set_neg(like.is_neg());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
}

// A view on the device has the keys of what it views, autograd's and that of inference mode too.
at::Tensor view_of(const at::Tensor& device, const at::Tensor& host) {
  auto view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(device.storage()), device.key_set(), host.dtype());
  shape_like(view, host);
  return view;
}

at::Tensor copied(const at::Tensor& host) {
  const bool dense = host.is_non_overlapping_and_dense();
  const auto type = host.scalar_type();
  at::Tensor device = dense ? empty_strided(host.sizes(), host.strides(), type, {}, {}, {})
                            : empty(host.sizes(), type, {}, {}, {}, {});
  copy(host, device, false);
  return device;
}

void wrote(char* at, at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t itemsize) {
  std::int64_t run = 1;  // elements of the last dimensions that lie together
  std::size_t dims = sizes.size();
  while (dims > 0 && (sizes[dims - 1] == 1 || strides[dims - 1] == run)) run *= sizes[--dims];
  if (dims == 0) return emulator_host_wrote(at, run * itemsize);
  for (std::int64_t i = 0; i < (strides[0] == 0 ? 1 : sizes[0]); ++i) {
    wrote(at + i * strides[0] * itemsize, sizes.slice(1), strides.slice(1), itemsize);
  }
}

}  // namespace

c10::Storage HostViews::storage_of(const c10::Storage& device) const {
  for (const auto& [known, host] : tensors_) {
    if (known.storage().is_alias_of(device)) return host.storage();
  }
  return borrowed(device);
}

at::Tensor HostViews::of(const at::Tensor& tensor) {
  if (!is_ours(tensor)) return tensor;
  auto host = at::detail::make_tensor<c10::TensorImpl>(
      storage_of(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  shape_like(host, tensor);
  return tensors_.emplace_back(tensor, std::move(host)).second;
}

at::Tensor HostViews::on_device(const at::Tensor& host) const {
  if (!host.defined()) return host;
  for (const auto& [device, view] : tensors_) {
    if (view.is_same(host)) return device;
  }
  for (const auto& [device, view] : tensors_) {
    if (view.storage().is_alias_of(host.storage())) return view_of(device, host);
  }
  return copied(host);
}

void host_wrote(const at::Tensor& device) {
  if (!is_ours(device) || device.numel() == 0) return;
  char* start = static_cast<char*>(device.data_ptr());
  if (device.is_non_overlapping_and_dense()) {
    emulator_host_wrote(start, device.nbytes());
  } else {
    wrote(start, device.sizes(), device.strides(), device.element_size());
  }
}

void take_over(const at::Tensor& host, const at::Tensor& device) {
  if (host.storage().data() == device.storage().data()) {
    auto* impl = device.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
    host_wrote(device);
  } else {
    resize_(device, host.sizes(), {});
    copy(host, device, false);
  }
}

}  // namespace earshot::emulated
