// The lanes of a turn, packed, so that no row is padded or masked.
#pragma once

#include "looping/loop_grid.h"
#include "looping/loop_params.h"

namespace earshot::cuda {

// A block's own, in the order of lanes: all blocks have the same, and divide it among them.
struct LaneList {
  unsigned* marks;  // (words_of(params.lanes),)
  int* lanes;       // (params.lanes,)

  static KERNEL_HOST_FN int words_of(int lanes) { return (lanes + 31) / 32; }

  // Lanes whose number is `wanted`, which nobody changes meanwhile; returns how many.
  KERNEL_FN int fill(const GridPlace& place, const LoopParams& params, LaneNumber number,
                     int wanted) const {
    const int words = words_of(params.lanes);
    place.sync();
    for (int i = place.thread; i < words; i += place.threads) marks[i] = 0;
    place.sync();
    for (int lane = place.thread; lane < params.lanes; lane += place.threads) {
      if (params.of(lane, number) == wanted) atomicOr(&marks[lane / 32], 1U << lane % 32);
    }
    place.sync();
    for (int lane = place.thread; lane < params.lanes; lane += place.threads) {
      if (marks[lane / 32] >> lane % 32 & 1) lanes[before(lane)] = lane;
    }
    const int count = before(params.lanes);
    place.sync();
    return count;
  }

 private:
  // Marked lanes before this one.
  KERNEL_FN int before(int lane) const {
    int count = 0;
    for (int i = 0; i < lane / 32; ++i) count += __popc(marks[i]);
    if (lane % 32 == 0) return count;
    return count + __popc(marks[lane / 32] & ((1U << lane % 32) - 1));
  }
};

}  // namespace earshot::cuda
