// A FastConformer's stem and step for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace earshot {

// After the weights that they share with other networks.
void bind_fast_conformer(nanobind::module_& module);

}  // namespace earshot
