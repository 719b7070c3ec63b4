#include "transducer/label_loop.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>

#include "boost/boost_automaton.h"
#include "dense/processor.h"
#include "head/lane_walk.h"
// What is included from here on is for one kind of processor.
#include "transducer/beam_search.h"
#include "transducer/joint.h"
#include "transducer/label_choice.h"
#include "transducer/predictor.h"

namespace earshot::EARSHOT_PROCESSOR {
namespace {

// A lane on its way through a chunk.
struct WalkingLane {
  LaneWalk walk;
  int length;
  const Rows* heard;
  int first_heard;
  float* memory;
  float* blank_log_probs;
  BoostedLane boosts;
  FoundLabels* found;
  int asked = 0;

  bool going() const { return found->finite && walk.frame < length; }
  const float* frame(int at) const { return (*heard)[first_heard + at]; }
};

class TiledLabelLoop : public LabelLoop {
 public:
  explicit TiledLabelLoop(const LoopWeights& weights)
      : inputs_(weights.encoder.inputs),
        blank_(weights.blank()),
        max_symbols_(weights.max_symbols),
        duration_frames_(weights.duration_frames),
        joint_(weights),
        predictor_(weights) {}

  int memory_size() const override { return predictor_.layout().size(); }

  void begin(float* memory) const override {
    std::fill_n(memory, memory_size(), 0.0F);
    memory[predictor_.layout().skipped_blank()] = NEVER;
    const Saying nothing{blank_, memory};
    predictor_({&nothing, 1});
  }

  std::vector<FoundLabels> run(const LoopChunk& chunk, int workers) const override {
    std::vector<FoundLabels> found(chunk.lanes);
    std::vector<std::int64_t> firsts(chunk.lanes + 1);
    std::partial_sum(chunk.lengths, chunk.lengths + chunk.lanes, firsts.begin() + 1);
    share_out(chunk.lanes, workers, [&](int first, int count) {
      run_some(chunk, &firsts[first], first, count, &found[first]);
    });
    return found;
  }

  std::vector<FoundBeam> search(const BeamChunk& chunk, const BeamRules& rules,
                                int workers) const override {
    const BeamHead head{&joint_, &predictor_, &duration_frames_, inputs_, blank_, max_symbols_};
    return search_beams(head, chunk, rules, workers);
  }

 private:
  // Frames of one lane that are asked about at once, in case the first of them are blanks.
  static constexpr int MOST_AHEAD = 8;

  // firsts: where the lanes' frames begin, and where those of the last end.
  void run_some(const LoopChunk& chunk, const std::int64_t* firsts, int first, int count,
                FoundLabels* found) const {
    const int frames = static_cast<int>(firsts[count] - firsts[0]);
    Rows heard(frames, predictor_.layout().joint);
    joint_.hear(chunk.encoded + firsts[0] * inputs_, frames, inputs_, heard);
    std::vector<WalkingLane> lanes;
    for (int i = 0; i < count; ++i) {
      lanes.push_back(started(chunk, first + i, firsts[i], heard,
                              static_cast<int>(firsts[i] - firsts[0]), &found[i]));
    }
    walk(lanes);
    for (int i = 0; i < count; ++i) {
      std::int64_t* carried = chunk.carried + static_cast<std::ptrdiff_t>(first + i) * CARRIED;
      carried[AHEAD] = lanes[i].walk.frame - lanes[i].length;
      carried[BOOST_STATE] = lanes[i].boosts.state;
    }
  }

  WalkingLane started(const LoopChunk& chunk, int lane, std::int64_t first_frame, const Rows& heard,
                      int first_heard, FoundLabels* found) const {
    const std::int64_t* carried = chunk.carried + static_cast<std::ptrdiff_t>(lane) * CARRIED;
    const std::int64_t* table = chunk.tables + static_cast<std::ptrdiff_t>(lane) * 2;
    const bool has_state = carried[BOOST_STATE] < table[1];
    WalkingLane own{
        .walk = {static_cast<int>(carried[AHEAD])},
        .length = static_cast<int>(chunk.lengths[lane]),
        .heard = &heard,
        .first_heard = first_heard,
        .memory = chunk.memory + static_cast<std::ptrdiff_t>(lane) * memory_size(),
        .blank_log_probs = chunk.blank_log_probs + first_frame,
        .boosts = {cpu::BoostAutomaton(chunk.boosts, table[0]),
                   has_state ? static_cast<int>(carried[BOOST_STATE]) : 0},
        .found = found,
    };
    const int skipped = std::min(own.walk.frame, own.length);
    std::fill_n(own.blank_log_probs, own.length, NEVER);
    std::fill_n(own.blank_log_probs, skipped, own.memory[predictor_.layout().skipped_blank()]);
    return own;
  }

  // Turn after turn until no lane has frames left.
  void walk(std::vector<WalkingLane>& lanes) const {
    std::vector<Asked> asked;
    std::vector<Saying> saying;
    const int rows = std::max(static_cast<int>(lanes.size()), TILE_ROWS);
    Rows joined(rows, predictor_.layout().joint);
    Answers answers(rows, blank_ + 1, static_cast<int>(duration_frames_.size()));
    for (ask(lanes, asked); !asked.empty(); ask(lanes, asked)) {
      joint_(asked, joined, answers);
      saying.clear();
      int row = 0;
      for (WalkingLane& lane : lanes) {
        if (follow(lane, answers, row)) saying.push_back({lane.found->tokens.back(), lane.memory});
        row += lane.asked;
      }
      if (!saying.empty()) predictor_(saying);
    }
  }

  // The rows of this turn: each lane's next frame, and while a tile has room some behind it.
  static void ask(std::vector<WalkingLane>& lanes, std::vector<Asked>& asked) {
    asked.clear();
    const auto going = static_cast<int>(std::ranges::count_if(lanes, &WalkingLane::going));
    const int ahead = going == 0 ? 0 : std::clamp(TILE_ROWS / going, 1, MOST_AHEAD);
    for (WalkingLane& lane : lanes) {
      lane.asked = lane.going() ? std::min(ahead, lane.length - lane.walk.frame) : 0;
      for (int i = 0; i < lane.asked; ++i) {
        asked.push_back({lane.frame(lane.walk.frame + i), lane.memory + MemoryLayout::SAID});
      }
    }
  }

  // Walks over the frames that were asked about; true where it comes upon a label.
  bool follow(WalkingLane& lane, Answers& answers, int first_row) const {
    const int first = lane.walk.frame;
    while (lane.walk.frame < first + lane.asked) {
      const int row = first_row + lane.walk.frame - first;
      const LabelChoice said =
          choose_label(answers.labels[row], answers.labels.stride, blank_, lane.boosts);
      const std::optional<int> frames = duration(answers.durations, row, said.is_label);
      if (!std::isfinite(said.log_prob) || !frames) {
        lane.found->finite = false;
        return false;
      }
      take(lane, said, *frames);
      if (said.is_label) return true;
    }
    return false;
  }

  // In frames; none where the network's output is not finite.
  std::optional<int> duration(const Rows& durations, int row, bool is_label) const {
    if (duration_frames_.empty()) return is_label ? 0 : 1;
    const LikeliestLabel found = likeliest(durations[row], durations.stride);
    if (!std::isfinite(found.logit)) return std::nullopt;
    return duration_frames_[found.token];
  }

  void take(WalkingLane& lane, const LabelChoice& said, int duration) const {
    const int frame = lane.walk.frame;
    if (said.is_label) {
      lane.found->tokens.push_back(said.token);
      lane.found->frames.push_back(frame);
      lane.found->durations.push_back(duration_frames_.empty() ? 1 : duration);
      lane.found->log_probs.push_back(said.log_prob);
      lane.boosts.hear(said.token);
    }
    const int advance = lane.walk.take(said.is_label, duration, max_symbols_);
    if (advance == 0) return;
    const float blank = said.is_label ? NEVER : said.log_prob;
    const int passed = std::min(advance, lane.length - frame);
    std::fill_n(lane.blank_log_probs + frame, passed, blank);
    lane.memory[predictor_.layout().skipped_blank()] = blank;
  }

  int inputs_;
  int blank_;
  int max_symbols_;
  std::vector<int> duration_frames_;
  Joint joint_;
  Predictor predictor_;
};

}  // namespace

std::unique_ptr<LabelLoop> build(const LoopWeights& weights) {
  return std::make_unique<TiledLabelLoop>(weights);
}

}  // namespace earshot::EARSHOT_PROCESSOR
