// What the block of a lane shares while it walks a chunk.
#pragma once

#include "block/block.h"
#include "block/scratch.h"
#include "prefix/prefix_search.h"
#include "prefix/prefix_state.h"
#include "prefix/top_pool.h"

namespace earshot::EARSHOT_BACKEND {

struct LaneScratch {
  Hypothesis* beam;
  Hypothesis* next;
  double* score;      // of each hypothesis: log_add of its two endings
  int* parent_rank;   // the hypothesis that is this one without its last token
  int* extras_end;    // boosted tokens to try, counted up over the hypotheses
  int* time_parent;   // per new hypothesis: parent of its new time node
  int* takes_prefix;  // per new hypothesis: 1 where it takes a new prefix node
  float* log_prob;    // per new hypothesis: of the token at its new time node
  int* num_hypotheses;
  int* frame_seen;  // last frame with a finite log-probability
  int* status;
  TopPool tokens;
  TopPool candidates;
  std::size_t bytes;

  KERNEL_HOST_FN LaneScratch(Carver scratch, const SearchShape& shape)
      : beam(scratch.take<Hypothesis>(shape.beam_size)),
        next(scratch.take<Hypothesis>(shape.beam_size)),
        score(scratch.take<double>(shape.beam_size)),
        parent_rank(scratch.take<int>(shape.beam_size)),
        extras_end(scratch.take<int>(shape.beam_size)),
        time_parent(scratch.take<int>(shape.beam_size)),
        takes_prefix(scratch.take<int>(shape.beam_size)),
        log_prob(scratch.take<float>(shape.beam_size)),
        num_hypotheses(scratch.take<int>(1)),
        frame_seen(scratch.take<int>(1)),
        status(scratch.take<int>(1)),
        tokens(scratch, shape.token_beam),
        candidates(scratch, shape.beam_size),
        bytes(scratch.used()) {}
};

}  // namespace earshot::EARSHOT_BACKEND
