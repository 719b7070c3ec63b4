// Arcs that are to be followed, a few at a time: memory is asked for all of them before the first
// is looked at, as each arc and each key it leads to lie somewhere else.
#pragma once

#include "block/block.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_prices.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

class Ways {
 public:
  KERNEL_FN Ways(const Prices& prices, const Frontier& frontier)
      : prices_(prices), frontier_(frontier) {}

  // From a token of this key at this cost, the label paid, or from ~entry by epsilon.
  KERNEL_FN void ask_for(const WfstArc& arc, Key key, Cost cost, int label, int from) {
    if (count_ == FETCHED_TOGETHER) take();
    prefetch(&arc);
    asked_[count_++] = Asked{&arc, key, cost, label, from};
  }

  // Offers all that lie below the cut.
  KERNEL_CALL void take() {
    const int count = price();
    for (int i = 0; i < count; ++i) frontier_.prefetch_entry(priced_[i].position);
    for (int i = 0; i < count; ++i) {
      const Priced& way = priced_[i];
      frontier_.offer_from(way.position, way.key, way.kind, OPEN, way.cost, way.from, way.word);
    }
    count_ = 0;
  }

 private:
  struct Asked {
    const WfstArc* arc;
    Key key;  // of the source
    Cost cost;
    int label;
    int from;
  };
  struct Priced {
    Key key;  // of the target
    Cost cost;
    int kind;
    int from;
    int word;
    int position;
  };

  // Returns how many lie below the cut.
  KERNEL_FN int price() {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Asked& way = asked_[i];
      const WfstArc& arc = *way.arc;
      int context;
      const Cost own = prices_.of_arc(arc, context_of(way.key), &context);
      if (way.from < 0) reach_for(~way.from, own);
      const Cost cost = way.cost + own;
      if (prices_.is_hopeless(cost, arc.target_kind, frontier_.cut())) continue;
      const Key key = make_key(arc.target, way.label, context);
      const int position = frontier_.prefetch_position(key);
      priced_[kept++] = Priced{key, cost, arc.target_kind, way.from, arc.word, position};
    }
    return kept;
  }

  // The dearest of an entry's epsilon arcs.
  KERNEL_FN void reach_for(int place, Cost own) const {
    int* reach = &frontier_.entries().reaches[place];
    if (own > *reach) *reach = own < OPEN ? static_cast<int>(own) : OPEN;
  }

  const Prices& prices_;
  const Frontier& frontier_;
  int count_ = 0;
  Asked asked_[FETCHED_TOGETHER];
  Priced priced_[FETCHED_TOGETHER];
};

}  // namespace earshot::EARSHOT_BACKEND
