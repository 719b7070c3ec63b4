// What a lane does with what was said, and in which turn it asks again.
#pragma once

#include "head/lane_walk.h"
#include "looping/label_choice_work.h"

namespace earshot::cuda {

// In turn t a lane looks for its label number t: the others wait for whoever has blanks before it
// (Bataev 2024, Algorithm 3).
struct ByLabels {
  static constexpr bool SAYS_AT_ONCE = false;  // the predictor hears all lanes' labels of a turn

  static KERNEL_FN int first_turn(int /*frame*/) { return 0; }
  static KERNEL_FN int next_turn(int turn, int /*frame*/, bool is_label) {
    return is_label ? turn + 1 : turn;
  }
};

// In turn t all lanes are at frame t (Bataev 2024, Algorithm 1; Galvez 2024, Algorithm 1).
struct ByFrames {
  static constexpr bool SAYS_AT_ONCE = true;  // and then what else this frame holds is asked

  static KERNEL_FN int first_turn(int frame) { return frame; }
  static KERNEL_FN int next_turn(int /*turn*/, int frame, bool /*is_label*/) { return frame; }
};

// There is one turn, in which nobody waits for anybody: whoever has a blank is at its next frame
// when the others' labels are heard. As the CPU's loop does it (transducer/label_loop.h).
struct Free {
  static constexpr bool SAYS_AT_ONCE = true;

  static KERNEL_FN int first_turn(int /*frame*/) { return 0; }
  static KERNEL_FN int next_turn(int turn, int /*frame*/, bool /*is_label*/) { return turn; }
};

// One lane's numbers, changed by one thread.
class LaneProgress {
 public:
  KERNEL_FN LaneProgress(const LoopParams& params, int lane) : params_(params), lane_(lane) {}

  template <class Order>
  KERNEL_FN void begin() const {
    const int ahead = of(FRAME), passed = min(ahead, of(LENGTH));
    if (of(BOOST_STATE_HERE) >= of(BOOST_STATES)) of(BOOST_STATE_HERE) = 0;
    of(LABELS_IN_FRAME) = 0;
    of(TURN_OF_LABEL) = NO_TURN;
    of(FOUND) = 0;
    of(FINITE) = 1;
    of(TURN_OF_SEARCH) = ahead < of(LENGTH) ? Order::first_turn(ahead) : NO_TURN;
    pass(0, passed, skipped_blank());
    pass(passed, of(LENGTH), never());
  }

  template <class Order>
  KERNEL_FN void take(const LabelSaid& said, int turn, int label_turn) const {
    if (!said.finite) {
      of(FINITE) = 0;
      of(TURN_OF_SEARCH) = NO_TURN;
      return;
    }
    if (said.is_label) write(said, label_turn);
    advance(said);
    const int frame = of(FRAME);
    of(TURN_OF_SEARCH) =
        frame < of(LENGTH) ? Order::next_turn(turn, frame, said.is_label) : NO_TURN;
  }

 private:
  KERNEL_FN std::int32_t& of(LaneNumber what) const { return params_.of(lane_, what); }
  KERNEL_FN float& skipped_blank() const {
    const MemoryLayout& layout = params_.layout;
    return params_.memory[static_cast<long long>(lane_) * layout.size() + layout.skipped_blank()];
  }
  KERNEL_FN void pass(int frame, int end, float blank) const {
    float* log_probs = params_.blank_log_probs + static_cast<long long>(lane_) * params_.frames;
    for (; frame < end; ++frame) log_probs[frame] = blank;
  }

  KERNEL_FN void write(const LabelSaid& said, int label_turn) const {
    const long long place = static_cast<long long>(lane_) * params_.room() + of(FOUND)++;
    params_.tokens[place] = said.token;
    params_.frames_found[place] = of(FRAME);
    params_.durations[place] = params_.head.durations == 0 ? 1 : said.duration;
    params_.log_probs[place] = said.log_prob;
    of(TOKEN) = said.token;
    of(TURN_OF_LABEL) = label_turn;
    const BoostAutomaton boosts(params_.boosts, of(BOOST_ROW));
    of(BOOST_STATE_HERE) = boosts.next(of(BOOST_STATE_HERE), said.token);
  }

  KERNEL_FN void advance(const LabelSaid& said) const {
    LaneWalk walk{of(FRAME), of(LABELS_IN_FRAME)};
    const int frame = walk.frame;
    const int by = walk.take(said.is_label, said.duration, params_.head.max_symbols);
    of(FRAME) = walk.frame;
    of(LABELS_IN_FRAME) = walk.labels_in_frame;
    if (by == 0) return;
    const float blank = said.is_label ? never() : said.log_prob;
    pass(frame, min(walk.frame, of(LENGTH)), blank);
    skipped_blank() = blank;
  }

  const LoopParams& params_;
  int lane_;
};

}  // namespace earshot::cuda
