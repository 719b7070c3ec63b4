#include "tensors.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <cstring>

#include "../machine/memory/device_memory.h"
#include "allocator.h"
#include "host_views.h"

namespace earshot::emulated {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

void check(std::optional<at::Layout> layout, std::optional<at::Device> device,
           std::optional<bool> pinned) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided,
              "emulated device: only strided tensors");
  TORCH_CHECK(!pinned.value_or(false), "emulated device: only the host's memory can be pinned");
  TORCH_CHECK(!device || device->index() <= 0,
              "emulated device: invalid device ordinal: ", *device);
}

at::ScalarType or_default(std::optional<at::ScalarType> dtype) {
  return dtype ? *dtype : c10::get_default_dtype_as_scalartype();
}

// First of all, so that where there is none nothing has changed.
void make_room(const c10::Storage& storage, std::size_t bytes) {
  if (bytes > storage.nbytes()) resize_storage(storage, bytes);
}

}  // namespace

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  check(layout, device, pinned);
  return at::Tensor(
      at::detail::empty_generic(sizes, device_allocator(), kKeys, or_default(dtype), format));
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                         std::optional<at::Device> device, std::optional<bool> pinned) {
  check(layout, device, pinned);
  return at::Tensor(at::detail::empty_strided_generic(sizes, strides, device_allocator(), kKeys,
                                                      or_default(dtype)));
}

void resize_storage(const c10::Storage& storage, std::size_t bytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  c10::DataPtr grown = device_allocator()->allocate(bytes);
  if (const std::size_t kept = std::min(bytes, storage.nbytes())) {
    device_allocator()->copy_data(grown.get(), storage.data(), kept);
  }
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(grown));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef sizes,
                          std::optional<at::MemoryFormat> format) {
  auto* impl = self.unsafeGetTensorImpl();
  make_room(self.storage(), at::detail::computeStorageNbytesContiguous(sizes, self.element_size(),
                                                                       self.storage_offset()));
  impl->set_sizes_contiguous(sizes);
  if (format) impl->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset,
                        at::IntArrayRef sizes, at::IntArrayRef strides) {
  TORCH_CHECK(source.device() == kDevice, "emulated device: cannot set a tensor to storage of ",
              source.device());
  const std::size_t item = self.element_size();
  const bool contiguous = strides.empty();
  make_room(source, contiguous ? at::detail::computeStorageNbytesContiguous(sizes, item, offset)
                               : at::detail::computeStorageNbytes(sizes, strides, item, offset));
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  if (contiguous) {
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides);
  }
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage source) {
  const auto elements = static_cast<std::int64_t>(source.nbytes() / self.element_size());
  return set_storage(self, std::move(source), 0, elements, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

at::Tensor copy(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  require_working();
  TORCH_CHECK((is_ours(from) || from.is_cpu()) && (is_ours(to) || to.is_cpu()),
              "emulated device: no copy from ", from.device(), " to ", to.device());
  const at::AutoDispatchBelowADInplaceOrView plain;
  HostViews host;
  host.of(to).copy_(host.of(from), non_blocking);
  host_wrote(to);
  return to;
}

}  // namespace earshot::emulated
