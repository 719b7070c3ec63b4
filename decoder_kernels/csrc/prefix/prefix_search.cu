// CTC prefix beam search (Hannun et al. 2014, arXiv:1408.2873, algorithm 1), one block per lane: a
// single launch walks all frames of the chunk. Scores, times and the order of ties are those of
// WeNet's ctc_prefix_beam_search; prefix_oracle.py (tests) says the same in plain Python.
#include "block/block.h"
#include "block/input_check.h"
#include "block/lane_scratch.h"
#include "block/scratch.h"
#include "block/walk_chunk.h"
#include "boost/boost_automaton.h"
#include "prefix/frame_step.h"
#include "prefix/log_add.h"
#include "prefix/prefix_search.h"
#include "prefix/prefix_state.h"
#include "prefix/top_pool.h"

namespace earshot::EARSHOT_BACKEND {

namespace {

class LaneSearch {
 public:
  KERNEL_FN LaneSearch(const Block& block, const SearchState& state, std::int64_t slot)
      : block_(block),
        shape_(state.shape),
        slot_(slot_at(state, slot)),
        lane_(Carver(block.scratch), state.shape),
        automaton_(state.boosts, state.boost_rows[slot]),
        step_(shape_, slot_, lane_, automaton_) {}

  KERNEL_FN int run(const float* log_probs, int frames) {
    const int status =
        check_input(block_, log_probs, frames, shape_.vocab_size, lane_.status, lane_.frame_seen);
    if (status != INPUT_OK) return status;
    load();
    for (int frame = 0; frame < frames; ++frame) {
      step_.read(log_probs + static_cast<std::int64_t>(frame) * shape_.vocab_size);
      if (!make_room()) continue;
      rank_tokens();
      relate_hypotheses();
      rank_candidates();
      make_hypotheses();
      store_nodes(*slot_.num_frames + frame);
    }
    store(frames);
    return INPUT_OK;
  }

 private:
  KERNEL_FN void load() {
    block_.sync();
    const int size = *slot_.num_hypotheses;
    for (int i = block_.thread; i < size; i += block_.threads) lane_.beam[i] = slot_.beam[i];
    if (block_.thread == 0) *lane_.num_hypotheses = size;
    block_.sync();
  }

  KERNEL_FN void store(int frames) {
    const int size = *lane_.num_hypotheses;
    for (int i = block_.thread; i < size; i += block_.threads) slot_.beam[i] = lane_.beam[i];
    block_.sync();
    if (block_.thread == 0) {
      *slot_.num_hypotheses = size;
      *slot_.num_frames += frames;
    }
  }

  // Whether this frame may take one node of each kind per hypothesis. Where even sweeping leaves
  // too few, the overflow is counted and the beam is cut to its best hypothesis; where that one
  // alone fills the pool, the frame is left out, so that the result stays what it was.
  KERNEL_FN bool make_room() {
    if (has_room()) return true;
    sweep();
    if (has_room()) return true;
    block_.sync();
    if (block_.thread == 0) {
      *slot_.overflows += 1;
      *lane_.num_hypotheses = 1;
    }
    sweep();
    return has_room();
  }

  KERNEL_FN bool has_room() const {
    return *slot_.prefixes.num_free >= shape_.beam_size &&
           *slot_.times.num_free >= shape_.beam_size;
  }

  KERNEL_FN void sweep() {
    block_.sync();
    slot_.prefixes.clear_marks(block_);
    slot_.times.clear_marks(block_);
    block_.sync();
    for (int i = block_.thread; i < *lane_.num_hypotheses; i += block_.threads) {
      slot_.prefixes.mark_chain(block_, lane_.beam[i].prefix);
      slot_.times.mark_chain(block_, lane_.beam[i].blank_times);
      slot_.times.mark_chain(block_, lane_.beam[i].token_times);
    }
    block_.sync();
    slot_.prefixes.free_unmarked(block_);
    slot_.times.free_unmarked(block_);
    block_.sync();
  }

  // First prune: the token_beam best tokens of the frame; equal ones by their number.
  KERNEL_FN void rank_tokens() {
    const float* row = step_.row();
    TopPool& pool = lane_.tokens;
    pool.clear(block_);
    const int batch = TopPool::batch(block_);
    for (int start = 0; start < shape_.vocab_size; start += batch) {
      const int end = min_of(start + batch, shape_.vocab_size);
      const float floor = static_cast<float>(pool.floor());
      int hopeful = 0;  // a loop of its own, which compilers turn into vector instructions
      for (int token = start + block_.thread; token < end; token += block_.threads) {
        hopeful |= row[token] >= floor ? 1 : 0;
      }
      for (int token = start + block_.thread; hopeful != 0 && token < end;
           token += block_.threads) {
        pool.offer(block_, Candidate{row[token], token, NO_PARENT, token});
      }
      pool.settle(block_);
    }
  }

  // Finds each hypothesis' own parent in the beam, and how many boosted tokens each of them tries.
  KERNEL_FN void relate_hypotheses() {
    const int size = *lane_.num_hypotheses;
    for (int i = block_.thread; i < size; i += block_.threads) {
      const Hypothesis& own = lane_.beam[i];
      lane_.score[i] = log_add(own.blank_score, own.token_score);
      lane_.parent_rank[i] = NO_PARENT;
      for (int j = 0; j < size && own.length > 0; ++j) {
        if (is_parent(lane_.beam[j], own)) lane_.parent_rank[i] = j;
      }
    }
    if (block_.thread == 0) count_extras(size);
    block_.sync();
  }

  KERNEL_FN bool is_parent(const Hypothesis& parent, const Hypothesis& child) const {
    return parent.length + 1 == child.length && parent.hash == child.rest_hash &&
           same_chain(slot_.prefixes, parent.prefix, slot_.prefixes.parent[child.prefix]);
  }

  KERNEL_FN void count_extras(int size) {
    int extras = 0;
    for (int i = 0; i < size; ++i) {
      const int state = lane_.beam[i].boost_state;
      if (step_.boosts())
        extras += automaton_.num_arcs(state) + (state == BoostAutomaton::ROOT ? 0 : 1);
      lane_.extras_end[i] = extras;
    }
  }

  // Second prune: the beam_size best of all prefixes, old and new. Candidates are numbered: first
  // the hypotheses themselves, then their extensions by the best tokens, then by boosted tokens.
  KERNEL_FN void rank_candidates() {
    const int size = *lane_.num_hypotheses;
    const int extensions = size + size * lane_.tokens.size();
    const int total = extensions + lane_.extras_end[size - 1];
    TopPool& pool = lane_.candidates;
    pool.clear(block_);
    const int batch = TopPool::batch(block_);
    for (int start = 0; start < total; start += batch) {
      const int end = min_of(start + batch, total);
      for (int i = start + block_.thread; i < end; i += block_.threads) {
        if (i < size) {
          offer_itself(i);
        } else if (i < extensions) {
          offer_extension((i - size) % size, lane_.tokens[(i - size) / size].token);
        } else {
          offer_extra(i - extensions);
        }
      }
      pool.settle(block_);
    }
  }

  KERNEL_FN void offer_itself(int rank) {
    int time_parent;
    const Hypothesis kept = step_.itself(rank, &time_parent);
    const double score = log_add(kept.blank_score, kept.token_score) + kept.completed +
                         automaton_.pending(kept.boost_state);
    if (!is_hopeless(score)) offer(Candidate{score, step_.first_touch(rank), rank, NO_TOKEN});
  }

  KERNEL_FN void offer_extension(int rank, int token) {
    if (token == shape_.blank_id) return;
    offer_extension(rank, token, automaton_.next(lane_.beam[rank].boost_state, token));
  }

  KERNEL_FN void offer_extension(int rank, int token, int boost_state) {
    const double score = extension_score(rank, token, boost_state);
    if (is_hopeless(score) || step_.is_in_beam(rank, token)) return;
    offer(Candidate{score, step_.touch(token, rank, 1), rank, token});
  }

  KERNEL_FN double extension_score(int rank, int token, int boost_state) const {
    const Hypothesis& from = lane_.beam[rank];
    const double base = token == from.token ? from.blank_score : lane_.score[rank];
    const double completed = from.completed + automaton_.completed(boost_state);
    return base + step_.row()[token] + completed + automaton_.pending(boost_state);
  }

  KERNEL_FN bool is_hopeless(double score) const {
    return score == MINUS_INFINITY || score < lane_.candidates.floor();
  }

  KERNEL_FN void offer(const Candidate& candidate) { lane_.candidates.offer(block_, candidate); }

  // Boosted tokens that the first prune cut off would never be seen otherwise: all arcs of the
  // hypothesis' state and its suffixes and, inside a phrase, before them the last token again.
  KERNEL_FN void offer_extra(int index) {
    int rank = 0;
    while (index >= lane_.extras_end[rank]) ++rank;
    index -= rank == 0 ? 0 : lane_.extras_end[rank - 1];
    const int state = lane_.beam[rank].boost_state;
    if (state == BoostAutomaton::ROOT) {
      offer_arc(rank, state, index);
    } else if (index > 0) {
      offer_arc(rank, state, index - 1);
    } else {
      const int token = lane_.beam[rank].token;
      const bool is_arc = automaton_.has_arc(state, token);
      if (!is_arc && !step_.in_token_beam(token)) offer_extension(rank, token);
    }
  }

  KERNEL_FN void offer_arc(int rank, int state, int arc) {
    const int target = automaton_.arc_target(state, arc);
    const int token = automaton_.token(target);
    if (step_.in_token_beam(token) || is_hopeless(extension_score(rank, token, target))) return;
    // An arc of a shorter suffix counts only where no longer one has an arc with the same token.
    if (automaton_.next(state, token) == target) offer_extension(rank, token, target);
  }

  KERNEL_FN void make_hypotheses() {
    for (int i = block_.thread; i < lane_.candidates.size(); i += block_.threads) {
      const Candidate& chosen = lane_.candidates[i];
      const bool extends = chosen.token != NO_TOKEN;
      lane_.takes_prefix[i] = extends ? 1 : 0;
      lane_.next[i] = extends ? step_.extension(chosen.parent, chosen.token, &lane_.time_parent[i])
                              : step_.itself(chosen.parent, &lane_.time_parent[i]);
      lane_.log_prob[i] = lane_.next[i].length > 0 ? step_.row()[lane_.next[i].token] : 0.0F;
    }
    block_.sync();
  }

  // Takes the nodes from the free lists, in the order of the ranks.
  KERNEL_FN void store_nodes(int frame) {
    const int size = lane_.candidates.size();
    for (int i = block_.thread; i < size; i += block_.threads) {
      Hypothesis& made = lane_.next[i];
      if (lane_.takes_prefix[i] != 0) {
        made.prefix = slot_.prefixes.store(prefixes_before(i), made.prefix, made.token);
      }
      if (lane_.time_parent[i] != NO_NEW_NODE) {
        made.token_times = slot_.times.store(times_before(i), lane_.time_parent[i], frame);
        slot_.times.log_prob[made.token_times] = lane_.log_prob[i];
      }
    }
    block_.sync();
    if (block_.thread == 0) {
      *slot_.prefixes.num_free -= prefixes_before(size);
      *slot_.times.num_free -= times_before(size);
      *lane_.num_hypotheses = size;
    }
    Hypothesis* const last = lane_.beam;
    lane_.beam = lane_.next;
    lane_.next = last;
    block_.sync();
  }

  KERNEL_FN int prefixes_before(int rank) const {
    int taken = 0;
    for (int i = 0; i < rank; ++i) taken += lane_.takes_prefix[i];
    return taken;
  }

  KERNEL_FN int times_before(int rank) const {
    int taken = 0;
    for (int i = 0; i < rank; ++i) taken += lane_.time_parent[i] != NO_NEW_NODE ? 1 : 0;
    return taken;
  }

  const Block& block_;
  const SearchShape& shape_;
  Slot slot_;
  LaneScratch lane_;
  BoostAutomaton automaton_;
  FrameStep step_;
};

}  // namespace

std::size_t scratch_bytes(const SearchShape& shape) {
  return LaneScratch(Carver(nullptr), shape).bytes;
}

void advance(Launch how, const AdvanceParams& params) {
  how.scratch_bytes = scratch_bytes(params.state.shape);
  launch<WalkChunk<LaneSearch, SearchState>>(how, params);
}

}  // namespace earshot::EARSHOT_BACKEND
