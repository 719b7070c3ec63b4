// How a kernel is started; known to the host code of both targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace earshot {

// The device has refused a launch, or is of no more use.
struct LaunchFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Launch {
  int blocks;                 // one per lane
  int threads;                // threads per block
  int workers;                // CPU only: blocks that run at the same time
  std::intptr_t stream;       // CUDA only: the cudaStream_t
  bool with_lm;               // whether some slot of a graph's search has language models
  std::size_t scratch_bytes;  // per block; set by the kernel's own launcher
};

}  // namespace earshot
