// Arrays that a search borrows from Python, and how its kernels are run over the chosen slots.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "arrays/borrowed_array.h"
#include "block/launch.h"
#include "boost/boost_arena.h"

namespace earshot {

// Links (4, rows), bonuses (2, rows).
template <class Device>
BoostArena borrow_boosts(const Array<Device, const std::int32_t, 2>& links,
                         const Array<Device, const double, 2>& bonuses) {
  const std::size_t rows = links.shape(1);
  const std::int32_t* link = links.data();
  const double* bonus = bonuses.data();
  return BoostArena{link, link + rows, link + 2 * rows, link + 3 * rows, bonus, bonus + rows};
}

// On the CPU blocks of one thread and of several have kernels of their own.
template <auto Solo, auto Team>
struct ByThreads;
template <class Params, void (*Solo)(Launch, const Params&), void (*Team)(Launch, const Params&)>
struct ByThreads<Solo, Team> {
  static void run(Launch how, const Params& params) {
    (how.threads == 1 ? Solo : Team)(how, params);
  }
};
template <auto Solo, auto Team>
inline constexpr auto by_threads = ByThreads<Solo, Team>::run;

[[noreturn]] inline void raise_device_error(const char* why) {
  const nb::object type =
      nb::module_::import_("earshot.decoder_kernels.errors").attr("DeviceError");
  PyErr_SetString(type.ptr(), why);
  throw nb::python_error();
}

// A block for each slot; Python runs on meanwhile.
template <class Device, class Params>
void run_over(const Array<Device, const std::int64_t, 1>& slots,
              void (*kernel)(Launch, const Params&), Launch how, const Params& params) {
  how.blocks = static_cast<int>(slots.shape(0));
  try {
    nb::gil_scoped_release released;
    kernel(how, params);
  } catch (const LaunchFailed& failed) {
    raise_device_error(failed.what());
  }
}

}  // namespace earshot
