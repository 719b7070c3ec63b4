// Arrays of Python's that C++ borrows: for one call, or for as long as it holds them. Python lends
// them by `dlpack_capsule` (native/dlpack.py) and checks shapes; element type, layout and device
// are checked by nanobind.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace earshot {

namespace nb = nanobind;

template <class Device, class T, std::size_t Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, Device>;

template <class T, std::size_t Dimensions>
using HostArray = Array<nb::device::cpu, T, Dimensions>;

template <class T>
std::span<T> span_of(const HostArray<T, 1>& array) {
  return {array.data(), array.size()};
}

// The numbers of a HostArray, in C order.
auto copied(const auto& array) {
  using Number = std::remove_cvref_t<decltype(*array.data())>;
  return std::vector<Number>(array.data(), array.data() + array.size());
}

}  // namespace earshot
