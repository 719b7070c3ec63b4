// Whether a lane's log-probabilities can be searched, before anything of its slot is touched.
#pragma once

#include <cstdint>
#include <limits>

#include "block/block.h"
#include "block/input_status.h"

namespace earshot::EARSHOT_BACKEND {

// `status` and `frame_seen` are the block's own. All threads return the same.
KERNEL_FN int check_input(const Block& block, const float* log_probs, int frames, int vocab_size,
                          int* status, int* frame_seen) {
  constexpr float LARGEST_FLOAT = std::numeric_limits<float>::max();
  if (block.thread == 0) {
    *status = INPUT_OK;
    *frame_seen = -1;
  }
  for (int frame = 0; frame < frames; ++frame) {
    const float* row = log_probs + static_cast<std::int64_t>(frame) * vocab_size;
    int invalid = 0;
    int finite = 0;
    for (int token = block.thread; token < vocab_size; token += block.threads) {
      invalid |= row[token] <= LARGEST_FLOAT ? 0 : 1;
      finite |= row[token] >= -LARGEST_FLOAT ? 1 : 0;
    }
    block.sync();
    if (finite != 0) block.exchange(frame_seen, frame);
    if (invalid != 0) block.exchange(status, INPUT_NAN_OR_INFINITY);
    block.sync();
    if (*status == INPUT_OK && *frame_seen != frame) return INPUT_DEAD_FRAME;
    if (*status != INPUT_OK) return *status;
  }
  return INPUT_OK;
}

}  // namespace earshot::EARSHOT_BACKEND
