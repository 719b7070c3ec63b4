// The kernel that walks all frames of a chunk, one lane per block.
#pragma once

#include "block/block.h"
#include "block/chunk.h"

namespace earshot::EARSHOT_BACKEND {

// Lane: made of a block, a state and a slot; `run` walks its frames and returns an InputStatus.
template <class Lane, class State>
struct WalkChunk {
  KERNEL_FN void operator()(const Block& block, const ChunkParams<State>& params) const {
    const std::int64_t lane = block.index;
    const float* log_probs =
        params.log_probs + lane * params.max_frames * params.state.shape.vocab_size;
    Lane search(block, params.state, params.slots[lane]);
    const int status = search.run(log_probs, static_cast<int>(params.lengths[lane]));
    if (block.thread == 0) params.status[lane] = status;
  }
};

}  // namespace earshot::EARSHOT_BACKEND
