// Binds each target's kernels as a submodule: prefix_bindings.h, wfst_bindings.h. What is read on
// the host, for any device, is bound in the module itself.
#include <nanobind/nanobind.h>

#include "bindings/alignment.h"
#include "bindings/borrowed.h"
#include "bindings/lm_bindings.h"
#include "bindings/looping_bindings.h"
#include "bindings/prefix_bindings.h"
#include "bindings/results_bindings.h"
#include "bindings/search_lm.h"
#include "bindings/transducer_bindings.h"
#include "bindings/wfst_bindings.h"

using namespace nanobind::literals;

namespace earshot {
namespace {

void bind_launch(nb::module_& module) {
  nb::class_<Launch>(module, "Launch", "Threads per block, CPU workers, and the CUDA stream.")
      .def(
          "__init__",
          [](Launch* how, int threads, int workers, std::intptr_t stream, bool with_lm) {
            new (how) Launch{0, threads, workers, stream, with_lm, 0};
          },
          nb::kw_only(), "threads"_a, "workers"_a, "stream"_a, "with_lm"_a = false);
}

void bind_alignment(nb::module_& module) {
  module.def(
      "find_peaks",
      [](HostArray<const float, 2> emissions, HostArray<const std::uint8_t, 1> skippable,
         HostArray<std::int64_t, 1> peaks) {
        const Emissions told{emissions.data(), static_cast<int>(emissions.shape(0)),
                             static_cast<int>(emissions.shape(1)), skippable.data()};
        nb::gil_scoped_release released;
        find_peaks(told, peaks.data());
      },
      "emissions"_a, "skippable"_a, "peaks"_a,
      "Write the frame at which each token is likeliest on the best path.");
}

}  // namespace
}  // namespace earshot

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);  // an interpreter that ends does not free what is in use
  module.doc() = "Native kernels: the CPU half, and the CUDA half where it was built.";
  earshot::bind_launch(module);
  earshot::bind_prefix_shape(module);
  earshot::bind_wfst_shape(module);
  earshot::bind_alignment(module);
  earshot::bind_lm(module);
  earshot::bind_search_lm(module);
  earshot::bind_results(module);
  earshot::bind_transducer(module);
  nanobind::module_ cpu_half = module.def_submodule("cpu", "The CPU half.");
  earshot::bind_prefix<earshot::CpuPrefix>(cpu_half);
  earshot::bind_wfst<earshot::CpuWfst>(cpu_half);
#ifdef EARSHOT_WITH_CUDA
  nanobind::module_ cuda_half = module.def_submodule("cuda", "The CUDA half.");
  earshot::bind_prefix<earshot::CudaPrefix<nanobind::device::cuda>>(cuda_half);
  earshot::bind_wfst<earshot::CudaWfst<nanobind::device::cuda>>(cuda_half);
  earshot::bind_looping<nanobind::device::cuda>(cuda_half);
#endif
}
