// Follows the arcs of tokens through one frame, then epsilon arcs. The rules are wfst_oracle.py's.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "wfst/wfst_bands.h"
#include "wfst/wfst_crowd.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_labels.h"
#include "wfst/wfst_nodes.h"
#include "wfst/wfst_prices.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_ways.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int HUB_ARCS = 512;
inline constexpr int AT_A_TIME = 32;  // arcs, whose labels are compared before any is followed
inline constexpr int BISECTION_STEPS = 12;  // what finding a label costs, in labels compared

// Which of many a thread takes: every `stride`-th from `first` on.
struct Share {
  int first;
  int stride;
};

class Expansion {
 public:
  KERNEL_FN Expansion(const Block& block, const WfstState& state, std::int64_t slot,
                      const Workspace& work, const Frontier& frontier)
      : block_(block),
        state_(state),
        shape_(state.shape),
        options_(state.options[slot]),
        work_(work),
        entries_(work.entries),
        frontier_(frontier),
        labels_(block, state.shape, work, state.scales[slot], state.options[slot].beam),
        prices_(state, slot),
        crowd_(block, work, options_, frontier),
        bands_(block, work, options_, frontier),
        nodes_(block, state, slot, frontier) {}

  KERNEL_FN void read_labels(const float* row) const { labels_.read(row); }

  // A cost that some token of the frame will surely have: where the cheapest of the last one leads.
  KERNEL_FN void bound() const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      if (entries_.costs[place] == totals.least) block_.exchange(&totals.best_token, place);
    }
    block_.sync();
    bound_by(entries_.keys[totals.best_token], totals.least);
    block_.sync();
  }

  // In blank, or in the same token. Notes who can afford an arc as well.
  KERNEL_FN void stay() const {
    nodes_.know_arcs();
    if (shape_.topology != WFST_EXPLICIT) {
      repeat();
      fall_silent();
    }
    crowd_.crowd_out();
    list_able(frontier_.cut() - labels_.least() - prices_.cheapest_arc());
    block_.sync();
    bands_.sort();
  }

  KERNEL_FN void follow_labels() const {
    for (int band = 0; band < bands_.count(); ++band) {
      choose_rich(bands_.begin(band), bands_.end(band));
      follow_rich();
      crowd_.crowd_out();
    }
  }

  // Level by level, so that what an entry costs is final when it is passed on.
  KERNEL_FN void follow_epsilons() const {
    const FrameTotals& totals = frontier_.totals();
    Ways ways(prices_, frontier_);
    for (int level = 0; level + 1 < shape_.num_levels; ++level) {
      nodes_.know_arcs();
      const int size = totals.num_pending;
      block_.sync();
      for (int i = block_.thread; i < size; i += block_.threads) {
        const int place = work_.pending[i];
        if (level_of(entries_.kinds[place]) != level || !is_open(place)) continue;
        follow_epsilons_of(place, ways);
      }
      ways.take();
      block_.sync();
    }
  }

  // All tokens as they are.
  KERNEL_FN void keep_tokens() const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      frontier_.offer_at(place, entries_.kinds[place], OPEN, entries_.costs[place], place, 0);
    }
    block_.sync();
  }

  // All tokens without a phrase or grafted word under way.
  KERNEL_FN void forget_boosts() const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      const Key key = entries_.keys[place];
      const int node = node_of(key) < shape_.num_nodes ? node_of(key) : shape_.loop_node;
      const Cost cost = entries_.costs[place] + prices_.pending(context_of(key));
      const Key kept = make_key(node, label_of(key), BoostAutomaton::ROOT);
      frontier_.offer(kept, state_.graph.nodes[node].kind, OPEN, cost, place, 0);
    }
    block_.sync();
  }

  KERNEL_FN const Prices& prices() const { return prices_; }
  KERNEL_FN const Crowd& crowd() const { return crowd_; }

  // What a token pays to stay where it is for the frame.
  KERNEL_FN Cost cost_to_stay(int place) const {
    return entries_.costs[place] + labels_.cost(label_of(entries_.keys[place]));
  }

 private:
  // Those who could pay the cheapest arc of all, or may stand before one that no bound knows.
  KERNEL_FN void list_able(Cost richest) const {
    Block::Appender able(work_.able, &frontier_.totals().num_able);
    const int size = frontier_.num_alive();
    for (int i = block_.thread; i < size; i += block_.threads) {
      const int place = work_.alive[i];
      bool is_able = entries_.costs[place] <= richest;
      if (nodes_.has_graft()) is_able |= nodes_.sees_graft(entries_.keys[place]);
      able.append_if(is_able, place);
    }
  }

  // Of the tokens that can afford some arc, those at whose nodes there is one. What grafted words
  // begin with is followed here.
  KERNEL_FN void choose_rich(int first, int last) const {
    FrameTotals& totals = frontier_.totals();
    block_.sync();
    if (block_.thread == 0) totals.num_rich = totals.num_hubs = 0;
    block_.sync();
    Ways ways(prices_, frontier_);
    list_rich(first, last, ways);
    ways.take();
    block_.sync();
  }

  KERNEL_FN void list_rich(int first, int last, Ways& ways) const {
    Block::Appender rich(work_.rich, &frontier_.totals().num_rich);
    const int* order = bands_.order();
    for (int i = first + block_.thread; i < last; i += block_.threads) {
      const int place = order[i];
      rich.append_if(is_rich_at(place), place);
      if (nodes_.is_hook(entries_.keys[place])) {
        const Cost cut = frontier_.cut();
        follow_node(nodes_.graft(), nodes_.root_of_graft(), place, cut, Share{0, 1}, ways);
      }
    }
  }

  KERNEL_FN bool is_rich_at(int place) const {
    const NodeArcs& node = entries_.arcs[place];
    prefetch(&nodes_.arcs_of(entries_.keys[place]).labels[node.first_label]);
    return is_rich(node, room_at(node.min_weight, entries_.costs[place], frontier_.cut()));
  }

  // A node of many arcs is followed by all threads of the block.
  KERNEL_FN void follow_rich() const {
    FrameTotals& totals = frontier_.totals();
    Ways ways(prices_, frontier_);
    for (int i = block_.thread; i < totals.num_rich; i += block_.threads) {
      const int place = work_.rich[i];
      if (block_.threads > 1 && entries_.arcs[place].num_labels() > HUB_ARCS) {
        work_.hubs[block_.fetch_add(&totals.num_hubs, 1)] = place;
      } else {
        follow_labels_of(place, frontier_.cut(), Share{0, 1}, ways);
      }
    }
    block_.sync();
    if (totals.num_hubs > 0) follow_hubs(ways);
    ways.take();
    block_.sync();
  }

  // The cut falls while threads are at work, and how arcs are shared out depends on it.
  KERNEL_FN void follow_hubs(Ways& ways) const {
    FrameTotals& totals = frontier_.totals();
    if (block_.thread == 0) totals.hub_cut = frontier_.cut();
    block_.sync();
    for (int i = 0; i < totals.num_hubs; ++i) {
      follow_labels_of(work_.hubs[i], totals.hub_cut, Share{block_.thread, block_.threads}, ways);
    }
  }

  KERNEL_FN void follow_labels_of(int place, Cost cut, Share share, Ways& ways) const {
    const WfstArcs& arcs = nodes_.arcs_of(entries_.keys[place]);
    follow_node(arcs, entries_.arcs[place], place, cut, share, ways);
  }

  KERNEL_FN bool is_rich(const NodeArcs& node, Cost room) const {
    const bool pays = room >= labels_.least();
    return pays & ((node.labels & labels_.bits(labels_.shelf(pays ? room : labels_.least()))) != 0);
  }

  KERNEL_FN void bound_by(Key key, Cost base) const {
    if (shape_.topology != WFST_EXPLICIT && block_.thread == 0) {
      if (labels_.blank() < NO_COST) frontier_.lower_ceiling(base + labels_.blank());
    }
    const WfstArcs& arcs = nodes_.arcs_of(key);
    const NodeArcs node = nodes_.node_at(key);
    Cost least = NO_COST;
    for (int i = node.first_label + block_.thread; i < node.end; i += block_.threads) {
      const int label = label_in(arcs.labels[i]);
      const Cost acoustic = labels_.cost(label);
      if (acoustic == NO_COST || acoustic + prices_.at_least(node.min_weight) > least) continue;
      if (shape_.topology == WFST_NORMAL && label == label_of(key)) continue;
      int context;
      const Cost cost = acoustic + prices_.of_arc(arcs.arcs[i], context_of(key), &context);
      least = cost < least ? cost : least;
    }
    if (least < NO_COST) frontier_.lower_ceiling(base + least);
  }

  // The way of each token to itself is in no list: most have no other.
  KERNEL_FN void repeat() const {
    const Cost cut = frontier_.cut();
    block_.sync();
    if (block_.thread == 0) frontier_.totals().has_stays = 1;
    const Cost best = repeat_below(cut);
    if (best < NO_COST) block_.lower(&frontier_.totals().best, best);
    frontier_.lower_ceiling(best);
    block_.sync();
  }

  // Returns the least that it costs one of the thread's tokens; those in a label may fall silent.
  KERNEL_FN Cost repeat_below(Cost cut) const {
    Block::Appender falling(work_.falling, &frontier_.totals().num_falling);
    const int size = frontier_.num_alive();
    Cost best = NO_COST;
    for (int i = block_.thread; i < size; i += block_.threads) {
      const int place = work_.alive[i];
      const Cost next = repeat_at(place, cut);
      best = next < best ? next : best;
      falling.append_if(label_of(entries_.keys[place]) != 0, place);
    }
    return best;
  }

  // Returns what that costs, NO_COST if it is hopeless.
  KERNEL_FN Cost repeat_at(int place, Cost cut) const {
    const Cost cost = cost_to_stay(place);
    const bool stays = cost <= cut + prices_.slack(entries_.kinds[place]);
    const Cost next = choose(stays, cost, NO_COST);
    entries_.nexts[place] = next;
    if (stays & (frontier_.reach(place) == OPEN)) frontier_.open(place, BY_STAYING);
    return next;
  }

  // From a label to blank.
  KERNEL_FN void fall_silent() const {
    const Cost cut = frontier_.cut();
    for (int i = block_.thread; i < frontier_.totals().num_falling; i += block_.threads) {
      const int place = work_.falling[i];
      const Cost cost = entries_.costs[place] + labels_.blank();
      if (!prices_.is_hopeless(cost, entries_.kinds[place], cut)) fall_silent_at(place, cost);
    }
    block_.sync();
  }

  // The entry is looked up once.
  KERNEL_FN void fall_silent_at(int place, Cost cost) const {
    const int kind = entries_.kinds[place];
    const int reach = frontier_.reach(place);
    int* blank = &entries_.blanks[place];
    if (*blank != NONE) return frontier_.offer_at(*blank, kind, reach, cost, place, 0);
    const Key key = entries_.keys[place];
    const Key silent = make_key(node_of(key), 0, context_of(key));
    *blank = frontier_.offer(silent, kind, reach, cost, place, 0);
  }

  // The arcs whose labels are affordable at this cut.
  KERNEL_FN void follow_node(const WfstArcs& arcs, const NodeArcs& node, int place, Cost cut,
                             Share share, Ways& ways) const {
    const Cost room = room_at(node.min_weight, entries_.costs[place], cut);
    if (!is_rich(node, room) || frontier_.is_full()) return;
    const int shelf = labels_.shelf(room);
    const int count = labels_.count(shelf);
    if (shelf < SHELVES - 1 && count * BISECTION_STEPS < node.num_labels()) {
      find_labels(arcs, node, count, place, room, share, ways);
    } else {
      scan_labels(arcs, node, place, room, share, ways);
    }
  }

  // The thread's share of the labels, each looked for among the arcs.
  KERNEL_FN void find_labels(const WfstArcs& arcs, const NodeArcs& node, int count, int place,
                             Cost room, Share share, Ways& ways) const {
    for (int i = share.first; i < count; i += share.stride) {
      const int label = labels_.label(i);
      int arc = first_with(arcs, node.first_label, node.end, label);
      for (; arc < node.end && label_in(arcs.labels[arc]) == label; ++arc) {
        if (is_affordable(arcs.labels[arc], room)) follow_arc(arcs, arc, place, ways);
      }
    }
  }

  // The thread's share of the arcs.
  KERNEL_FN void scan_labels(const WfstArcs& arcs, const NodeArcs& node, int place, Cost room,
                             Share share, Ways& ways) const {
    const int stride = share.stride * AT_A_TIME;
    for (int i = node.first_label + share.first * AT_A_TIME; i < node.end; i += stride) {
      const int stop = node.end - i < AT_A_TIME ? node.end - i : AT_A_TIME;
      std::uint64_t passed = 0;
      for (int j = 0; j < stop; ++j) {
        passed |= std::uint64_t{is_affordable(arcs.labels[i + j], room)} << j;
      }
      for (; passed != 0; passed &= passed - 1) {
        follow_arc(arcs, i + lowest_bit(passed), place, ways);
      }
    }
  }

  // What a token can pay for a label at a node, at least for its cheapest arc.
  KERNEL_FN Cost room_at(double min_weight, Cost base, Cost cut) const {
    const Cost room = cut - base - prices_.at_least(min_weight);
    return room < NO_COST ? room : NO_COST - 1;
  }

  KERNEL_FN int first_with(const WfstArcs& arcs, int low, int high, int label) const {
    while (low < high) {
      const int middle = (low + high) / 2;
      const bool is_left = label_in(arcs.labels[middle]) < label;
      low = choose(is_left, middle + 1, low);
      high = choose(is_left, high, middle);
    }
    return low;
  }

  // Most arcs fail this test, which sees their labels only.
  KERNEL_FN bool is_affordable(std::uint32_t label, Cost room) const {
    return labels_.cost(label_in(label)) + prices_.excess(label) <= room;
  }

  KERNEL_FN void follow_arc(const WfstArcs& arcs, int arc, int place, Ways& ways) const {
    const Key key = entries_.keys[place];
    const int label = label_in(arcs.labels[arc]);
    if (shape_.topology == WFST_NORMAL && label == label_of(key)) return;
    const int next_label = shape_.topology == WFST_EXPLICIT ? 0 : label;
    const Cost cost = entries_.costs[place] + labels_.cost(label);
    ways.ask_for(arcs.arcs[arc], key, cost, next_label, place);
  }

  // Whether a way came to the node just now that is near enough to matter. Which dearer ones are
  // noted depends on the order of threads.
  KERNEL_FN bool is_open(int place) const {
    const Cost limit = entries_.nexts[place] + options_.lattice_beam;
    if (entries_.opens[place] == BY_STAYING && cost_to_stay(place) <= limit) return true;
    for (int way = entries_.ways[place]; way != NONE; way = work_.candidates[way].next) {
      const Candidate& own = work_.candidates[way];
      if (own.reach == OPEN && own.cost <= limit) return true;
    }
    return false;
  }

  KERNEL_FN void follow_epsilons_of(int place, Ways& ways) const {
    const Key key = entries_.keys[place];
    const Cost base = entries_.nexts[place];
    const bool is_hopeless = prices_.is_hopeless(base, entries_.kinds[place], frontier_.cut());
    entries_.reaches[place] = is_hopeless ? OPEN : 0;
    if (is_hopeless || frontier_.is_full()) return;
    const NodeArcs& node = entries_.arcs[place];
    for (int i = node.first_arc; i < node.first_label; ++i) {
      ways.ask_for(state_.graph.arcs[i], key, base, label_of(key), ~place);
    }
  }

  const Block& block_;
  const WfstState& state_;
  const WfstShape& shape_;
  const WfstOptionRow& options_;
  const Workspace& work_;
  const Entries& entries_;
  const Frontier& frontier_;
  FrameLabels labels_;
  Prices prices_;
  Crowd crowd_;
  Bands bands_;
  Nodes nodes_;
};

}  // namespace earshot::EARSHOT_BACKEND
