// The layers of an attention; who is listened to is for who derives from it.
#pragma once

#include "conformer_branches.h"
#include "dense/packed_linear.h"
#include "dense/row_norm.h"
#include "dense/rows.h"
#include "network_weights.h"

namespace earshot::EARSHOT_PROCESSOR {

class AttentionLayers {
 protected:
  AttentionLayers(const AttentionWeights& weights, int size, int heads)
      : size_(size),
        heads_(heads),
        head_size_(size / heads),
        norm_(weights.norm),
        query_(weights.query),
        key_(weights.key),
        value_(weights.value),
        out_(weights.out) {}

  Rows projected(const PackedLinear& layer, const Rows& from, Team& team = Team::alone()) const {
    Rows to(from.count, size_);
    project(layer, from, to, team);
    return to;
  }

  int size_;
  int heads_;
  int head_size_;
  RowNorm norm_;
  PackedLinear query_;
  PackedLinear key_;
  PackedLinear value_;
  PackedLinear out_;
};

}  // namespace earshot::EARSHOT_PROCESSOR
