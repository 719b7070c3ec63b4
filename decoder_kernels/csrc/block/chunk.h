// What the host passes to kernels that work on slots, whatever the search.
#pragma once

#include <cstdint>

namespace earshot {

template <class State>
struct SlotParams {
  State state;
  const std::int64_t* slots;  // (B,)
};

template <class State>
struct ChunkParams {
  State state;
  const std::int64_t* slots;    // (B,)
  const float* log_probs;       // (B, max_frames, vocab_size)
  const std::int64_t* lengths;  // (B,) frames of each lane
  std::int64_t max_frames;
  std::int32_t* status;  // (B,) out: InputStatus
};

}  // namespace earshot
