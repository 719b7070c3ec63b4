// How a kernel's blocks are spread over CPU threads; `run_block` is each target's own.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "block/launch.h"
#include "threads/thread_pool.h"

#define KERNEL_FN inline
#define KERNEL_CALL inline
#define KERNEL_HOST_FN inline

namespace earshot::EARSHOT_BACKEND {

KERNEL_FN int bit_width(std::uint64_t bits) {
  return std::bit_width(bits);
}
// Where the lowest bit is that is set; some bit is.
KERNEL_FN int lowest_bit(std::uint64_t bits) {
  return std::countr_zero(bits);
}

KERNEL_FN void prefetch(const void* address) {
  __builtin_prefetch(address);
}
inline constexpr int FETCHED_TOGETHER = 24;  // what memory is asked for before the first is used

template <class Kernel, class Params>
void run_block(const Launch& how, int index, int worker, std::byte* scratch, const Params& params);

template <class Kernel, class Params>
void launch(const Launch& how, const Params& params) {
  const int workers = std::max(1, std::min(how.workers, how.blocks));
  // max_align_t cells, so that every worker's scratch is aligned for any type.
  const std::size_t cells = how.scratch_bytes / sizeof(std::max_align_t) + 1;
  std::vector<std::max_align_t> scratch(cells * static_cast<std::size_t>(workers));
  std::atomic<int> next{0};
  const auto work = [&](int worker) {
    auto* own =
        reinterpret_cast<std::byte*>(scratch.data() + cells * static_cast<std::size_t>(worker));
    for (int index = next++; index < how.blocks; index = next++) {
      run_block<Kernel>(how, index, worker, own, params);
    }
  };
  run_shares(workers, workers, work);
}

}  // namespace earshot::EARSHOT_BACKEND
