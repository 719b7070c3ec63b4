// Tensors of the device: their memory, and copies to and from them.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace earshot::emulated {

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pinned, std::optional<at::MemoryFormat> format);

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                         std::optional<at::Device> device, std::optional<bool> pinned);

// What is there stays; what is added is uninitialised.
void resize_storage(const c10::Storage& storage, std::size_t bytes);

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef sizes,
                          std::optional<at::MemoryFormat> format);

// Let self be what lies in another's storage; no strides: contiguous.
at::Tensor& set_storage(at::Tensor& self, at::Storage source, std::int64_t offset,
                        at::IntArrayRef sizes, at::IntArrayRef strides);
at::Tensor& set_whole_storage(at::Tensor& self, at::Storage source);
at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source);

// Between the host and the device, either way, or inside the device. Returns `to`.
at::Tensor copy(const at::Tensor& from, const at::Tensor& to, bool non_blocking);

}  // namespace earshot::emulated
