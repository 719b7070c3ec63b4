// One lane's walk over a chunk: the rules of greedy decoding, without a network.
#pragma once

namespace earshot {

// Bataev 2024, Algorithm 1; `max_symbols` of Galvez 2024, line 9; durations of Xu 2023,
// Algorithm 2.
//
// A label of duration 0 stays in its frame, as every label of an RNN-T does; after `max_symbols`
// labels in one frame the next frame comes. A blank advances by 1 at least.
struct LaneWalk {
  int frame;  // where it stands
  int labels_in_frame = 0;

  // Goes on by what the joint says to the frame; returns by how many frames.
  constexpr int take(bool is_label, int duration, int max_symbols) {
    const bool must_leave = !is_label || ++labels_in_frame >= max_symbols;
    const int advance = duration == 0 && must_leave ? 1 : duration;
    if (advance > 0) labels_in_frame = 0;
    frame += advance;
    return advance;
  }
};

}  // namespace earshot
