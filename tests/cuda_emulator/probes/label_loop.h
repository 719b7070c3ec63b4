// A loop of the shape of label looping (Bataev 2024, Algorithm 3) over small whole numbers, so that
// its results are the same bits however its threads are laid out.
//
// A lane has frames and a hash, which stands for what a predictor remembers. The joint gives each
// label a score by the lane's frame and hash; label 0 is the blank, behind which comes the next
// frame. Behind another label the hash changes, and the lane stays where it is, but for the last
// label that a frame may have.
#pragma once

#include <driver_types.h>

namespace probes {

struct LabelLoop {
  int lanes, frames, labels, room;  // room: labels that a lane can find
  const int* encoded;               // (lanes, frames)
  const int* lengths;               // (lanes,), and so below
  unsigned* hashes;
  int* frame;      // where the lane is
  int* in_frame;   // labels found there
  int* searching;  // whether it looks for a label
  int* found;      // how many it has found
  unsigned* best;  // score and label of the joint; 0 before
  int* said;       // (lanes, room)
  int* more;       // whether a lane still looks for a label, and whether one has frames
  cudaGraphConditionalHandle looks, goes_on;
};

constexpr unsigned LABEL_BITS = 8;
constexpr int MOST_IN_FRAME = 3;

__device__ inline unsigned mixed(unsigned value) {
  value ^= value >> 16;
  value *= 0x7FEB352DU;
  value ^= value >> 15;
  return value;
}

__device__ inline unsigned score(const LabelLoop& loop, int lane, int label) {
  const unsigned frame = loop.encoded[lane * loop.frames + loop.frame[lane]];
  const unsigned mix = mixed(frame * 31U + loop.hashes[lane] * 17U + label);
  return ((mix >> LABEL_BITS) + (label == 0 ? 0x400000U : 0U)) << LABEL_BITS;
}

// By all threads of the grid: the best label of each lane that looks for one.
__device__ inline void join(const LabelLoop& loop, int thread, int threads) {
  for (int i = thread; i < loop.lanes * loop.labels; i += threads) {
    const int lane = i / loop.labels;
    const int label = i % loop.labels;
    if (loop.searching[lane] != 0) atomicMax(&loop.best[lane], score(loop, lane, label) + label);
  }
}

__device__ inline bool has_frames(const LabelLoop& loop, int lane) {
  return loop.frame[lane] < loop.lengths[lane];
}

// Of the threads of a block, told to all of them.
__device__ inline bool any_of(bool mine) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (mine) atomicOr(&any, 1);
  __syncthreads();
  const bool found = any != 0;
  __syncthreads();
  return found;
}

// By the threads of one block: lanes with a blank take the next frame, others wait. Returns, to
// all, whether some lane still looks.
__device__ inline bool choose(const LabelLoop& loop) {
  bool looks = false;
  for (int lane = threadIdx.x; lane < loop.lanes; lane += blockDim.x) {
    if (loop.searching[lane] == 0) continue;
    const bool is_blank = loop.best[lane] % (1U << LABEL_BITS) == 0;
    if (is_blank) {
      loop.best[lane] = 0;
      loop.frame[lane] += 1;
      loop.in_frame[lane] = 0;
    }
    loop.searching[lane] = is_blank && has_frames(loop, lane) ? 1 : 0;
    looks |= loop.searching[lane] != 0;
  }
  return any_of(looks);
}

// By the threads of one block: lanes that have found a label remember it, and look for the next.
__device__ inline bool remember(const LabelLoop& loop) {
  bool goes_on = false;
  for (int lane = threadIdx.x; lane < loop.lanes; lane += blockDim.x) {
    const unsigned label = loop.best[lane] % (1U << LABEL_BITS);
    loop.best[lane] = 0;
    if (label != 0) {
      loop.said[lane * loop.room + loop.found[lane]++] = static_cast<int>(label);
      loop.hashes[lane] = loop.hashes[lane] * 31U + label;
      if (++loop.in_frame[lane] == MOST_IN_FRAME) {
        loop.frame[lane] += 1;
        loop.in_frame[lane] = 0;
      }
    }
    loop.searching[lane] = has_frames(loop, lane) ? 1 : 0;
    goes_on |= loop.searching[lane] != 0;
  }
  return any_of(goes_on);
}

}  // namespace probes
