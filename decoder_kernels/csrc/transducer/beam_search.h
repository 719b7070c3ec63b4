// Beams of many lanes by one head: their hypotheses are rows of the same tiles.
//
// Alignment-length synchronous decoding (Saon 2020), modified for batches (Grigoryan 2025):
// `tests/decoder_kernels/transducer/beam_oracle.py` says it in plain loops. In each turn the
// hypotheses of all lanes that are to say something put a row each into one list for the joint;
// what was said and not yet heard by the predictor is put into another before. As in greedy
// decoding, no row is padded, and no lane waits for another.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "threads/shares.h"
#include "transducer/beam_lane.h"
#include "transducer/joint.h"
#include "transducer/predictor.h"

namespace earshot::EARSHOT_PROCESSOR {

// What the beams of one head have in common.
struct BeamHead {
  const Joint* joint;
  const Predictor* predictor;
  const std::vector<int>* duration_frames;
  int inputs;
  int blank;
  int max_symbols;

  const MemoryLayout& layout() const { return predictor->layout(); }
};

// A lane's frames among those that were heard together.
struct HeardLane {
  BeamLane lane;
  int first_heard;
};

// Some lanes of a chunk, which one thread walks over.
class BeamWalk {
 public:
  BeamWalk(const BeamHead& head, const BeamChunk& chunk, const BeamRules& rules)
      : head_(head), chunk_(chunk), rules_(rules) {}

  // first_frames, first_rows: where frames and hypotheses of each lane begin, and where the last
  // one's end.
  void operator()(int first, int count, const std::int64_t* first_frames,
                  const std::int64_t* first_rows, FoundBeam* found) {
    const int frames = static_cast<int>(first_frames[count] - first_frames[0]);
    Rows heard(frames, head_.layout().joint);
    head_.joint->hear(chunk_.encoded + first_frames[0] * head_.inputs, frames, head_.inputs, heard);
    for (int i = 0; i < count; ++i) {
      lanes_.push_back(
          {started(first + i, first_rows[i]), static_cast<int>(first_frames[i] - first_frames[0])});
    }
    walk(heard);
    speak_all();
    for (int i = 0; i < count; ++i) finish(lanes_[i].lane, first + i, found[i]);
  }

 private:
  BeamLane started(int lane, std::int64_t first_row) const {
    const std::int64_t* table = chunk_.tables + static_cast<std::ptrdiff_t>(lane) * 2;
    BeamLane own(rules_, cpu::BoostAutomaton(chunk_.boosts, table[0]), chunk_.lm_weights[lane],
                 static_cast<int>(chunk_.lengths[lane]), head_.blank, head_.max_symbols, size());
    for (std::int64_t row = first_row; row < first_row + chunk_.counts[lane]; ++row) {
      const float* memory = chunk_.before.memory + row * size();
      own.add(memory, chunk_.before.carried + row * BEAM_CARRIED, chunk_.before.scores[row],
              table[1], memory[head_.layout().skipped_blank()]);
    }
    return own;
  }

  int size() const { return head_.layout().size(); }

  // Turn after turn until no hypothesis has frames left.
  void walk(const Rows& heard) {
    const int rows = static_cast<int>(lanes_.size()) * rules_.width;
    Rows joined(rows, head_.layout().joint);
    Answers answers(rows, head_.blank + 1, static_cast<int>(head_.duration_frames->size()));
    for (ask(heard); !asked_.empty(); ask(heard)) {
      speak();
      (*head_.joint)(asked_, joined, answers);
      for (HeardLane& each : lanes_) move(each.lane, answers);
    }
  }

  void ask(const Rows& heard) {
    asked_.clear();
    for (HeardLane& each : lanes_) {
      SaidPool& pool = each.lane.pool();
      each.lane.ask([&](const BeamHypothesis& said) {
        to_be_spoken(pool, said.said);
        asked_.push_back(
            {heard[each.first_heard + said.frame], pool.row(said.said) + MemoryLayout::SAID});
        return static_cast<int>(asked_.size()) - 1;
      });
    }
  }

  void to_be_spoken(SaidPool& pool, int said) {
    if (pool.to_be_spoken(said)) saying_.push_back({pool.label(said), pool.row(said)});
  }

  void speak() {
    if (!saying_.empty()) (*head_.predictor)(saying_);
    saying_.clear();
  }

  // What the last labels leave for the next chunk.
  void speak_all() {
    for (HeardLane& each : lanes_) {
      if (!each.lane.finite()) continue;
      for (const BeamHypothesis& said : each.lane.beam()) to_be_spoken(each.lane.pool(), said.said);
    }
    speak();
  }

  void move(BeamLane& lane, Answers& answers) {
    lane.move([&](const BeamHypothesis& said) {
      float* row = answers.labels[said.row];
      const BeamRow labels{row, answers.labels.stride, head_.blank,
                           log_sum(row, answers.labels.stride)};
      if (!std::isfinite(labels.total)) return false;
      if (!durations_.empty() &&
          !durations_.read(answers.durations[said.row], answers.durations.stride)) {
        return false;
      }
      lane.hear(said, labels, durations_, room_);
      return true;
    });
  }

  void finish(BeamLane& lane, int number, FoundBeam& found) const {
    found.finite = lane.finite();
    if (!found.finite) return;
    std::ptrdiff_t row = static_cast<std::ptrdiff_t>(number) * rules_.width;
    for (const BeamHypothesis& said : lane.beam()) {
      float* memory = chunk_.after.memory + row * size();
      std::copy_n(lane.pool().row(said.said), size(), memory);
      memory[head_.layout().skipped_blank()] = said.passing;
      lane.carry(said, chunk_.after.carried + row * BEAM_CARRIED);
      chunk_.after.scores[row++] = said.score;
      found.hypotheses.push_back(lane.found(said));
    }
  }

  const BeamHead& head_;
  const BeamChunk& chunk_;
  const BeamRules& rules_;
  LikelyDurations durations_{head_.duration_frames, {}};
  BeamScratch room_;
  std::vector<HeardLane> lanes_;
  std::vector<Asked> asked_;
  std::vector<Saying> saying_;
};

// `workers` threads share the lanes. A lane's bits depend on nothing but itself.
inline std::vector<FoundBeam> search_beams(const BeamHead& head, const BeamChunk& chunk,
                                           const BeamRules& rules, int workers) {
  std::vector<FoundBeam> found(chunk.lanes);
  std::vector<std::int64_t> frames(chunk.lanes + 1), rows(chunk.lanes + 1);
  std::partial_sum(chunk.lengths, chunk.lengths + chunk.lanes, frames.begin() + 1);
  std::partial_sum(chunk.counts, chunk.counts + chunk.lanes, rows.begin() + 1);
  share_out(chunk.lanes, workers, [&](int first, int count) {
    BeamWalk walk(head, chunk, rules);
    walk(first, count, &frames[first], &rows[first], &found[first]);
  });
  return found;
}

}  // namespace earshot::EARSHOT_PROCESSOR
