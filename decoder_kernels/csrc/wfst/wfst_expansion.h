// Follows the arcs of tokens through one frame, then epsilon arcs. The rules are wfst_oracle.py's.
#pragma once

#include <cstdint>

#include "block/block.h"
#include "wfst/wfst_arc_costs.h"
#include "wfst/wfst_arcs.h"
#include "wfst/wfst_cost_buckets.h"
#include "wfst/wfst_frontier.h"
#include "wfst/wfst_histogram_pruning.h"
#include "wfst/wfst_labels.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int BISECTION_STEPS = 12;  // what finding a label costs, in labels compared

class Expansion {
 public:
  KERNEL_FN Expansion(const Block& block, const WfstState& state, std::int64_t slot,
                      const Workspace& work, const Frontier& frontier, const LmPrices& lm)
      : block_(block),
        state_(state),
        shape_(state.shape),
        options_(state.options[slot]),
        work_(work),
        entries_(work.entries),
        frontier_(frontier),
        labels_(block, state.shape, work, state.scales[slot], state.options[slot].beam),
        arc_costs_(state, slot, lm),
        pruning_(block, work, options_, frontier),
        buckets_(block, work, options_, frontier),
        nodes_(block, state, slot, frontier) {}

  KERNEL_FN void read_labels(const float* row) const { labels_.read(row); }

  // A cost that some token of the frame will surely have: where the cheapest of the last one leads.
  KERNEL_FN void bound_best() const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      if (entries_.costs[place] == totals.least) block_.exchange(&totals.best_token, place);
    }
    block_.sync();
    bound_best_by(entries_.keys[totals.best_token], totals.least);
    block_.sync();
  }

  // The CTC topology's own transitions, for LG graphs: self-loops and blanks. Lists the affordable
  // tokens as well.
  KERNEL_FN void follow_ctc_topology() const {
    nodes_.know_arcs();
    if (shape_.topology != WFST_EXPLICIT) {
      follow_self_loops();
      follow_blanks();
    }
    pruning_.tighten_cutoff();
    list_affordable(frontier_.cutoff() - labels_.least() - arc_costs_.cheapest_arc() +
                    arc_costs_.lm_room());
    block_.sync();
    buckets_.sort();
  }

  KERNEL_FN void follow_labels() const {
    for (int bucket = 0; bucket < buckets_.count(); ++bucket) {
      choose_expandable(buckets_.begin(bucket), buckets_.end(bucket));
      expand_tokens();
      pruning_.tighten_cutoff();
    }
  }

  // Level by level, so that what an entry costs is final when it is passed on.
  KERNEL_FN void follow_epsilons() const {
    const FrameTotals& totals = frontier_.totals();
    ArcBatch batch(arc_costs_, frontier_);
    for (int level = 0; level + 1 < shape_.num_levels; ++level) {
      nodes_.know_arcs();
      const int size = totals.num_pending;
      block_.sync();
      for (int i = block_.thread; i < size; i += block_.threads) {
        const int place = work_.pending[i];
        if (level_of(entries_.kinds[place]) != level || !is_open(place)) continue;
        follow_epsilons_of(place, batch);
      }
      batch.flush();
      block_.sync();
    }
  }

  // All tokens, but for words that models cannot tell apart; `anew`: these are other models.
  KERNEL_FN void keep_tokens(bool anew) const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      const Key key = entries_.keys[place];
      const Key kept = make_key(place_of(key), arc_costs_.words_now(key, anew));
      frontier_.offer(kept, entries_.kinds[place], OPEN, entries_.costs[place], place, 0);
    }
    block_.sync();
  }

  // All tokens without a phrase or OOV word under way.
  KERNEL_FN void forget_boosts() const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      const Key key = entries_.keys[place];
      const int node = node_of(key) < shape_.num_nodes ? node_of(key) : shape_.loop_node;
      const Cost cost = entries_.costs[place] + arc_costs_.pending(context_of(key));
      const Key kept =
          make_key(node, label_of(key), BoostAutomaton::ROOT, arc_costs_.words_now(key));
      frontier_.offer(kept, state_.graph.nodes[node].kind, OPEN, cost, place, 0);
    }
    block_.sync();
  }

  KERNEL_FN const ArcCosts& arc_costs() const { return arc_costs_; }
  KERNEL_FN const HistogramPruning& pruning() const { return pruning_; }

  // What a token pays to stay where it is for the frame, in blank or in its label.
  KERNEL_FN Cost self_loop_cost(int place) const {
    return entries_.costs[place] + labels_.cost(label_of(entries_.keys[place]));
  }

 private:
  // Tokens that could pay the cheapest arc of all, or may stand before one that no bound knows.
  KERNEL_FN void list_affordable(Cost most) const {
    Block::Appender affordable(work_.affordable, &frontier_.totals().num_affordable);
    const int size = frontier_.num_alive();
    for (int i = block_.thread; i < size; i += block_.threads) {
      const int place = work_.alive[i];
      bool affords = entries_.costs[place] <= most;
      if (nodes_.has_oov()) affords |= nodes_.sees_oov(entries_.keys[place]);
      affordable.append_if(affords, place);
    }
  }

  // The affordable tokens at whose nodes there is an arc that they can pay; OOV words begin here.
  KERNEL_FN void choose_expandable(int first, int last) const {
    FrameTotals& totals = frontier_.totals();
    block_.sync();
    if (block_.thread == 0) totals.num_expandable = totals.num_high_degree = 0;
    block_.sync();
    ArcBatch batch(arc_costs_, frontier_);
    list_expandable(first, last, batch);
    batch.flush();
    block_.sync();
  }

  KERNEL_FN void list_expandable(int first, int last, ArcBatch& batch) const {
    Block::Appender expandable(work_.expandable, &frontier_.totals().num_expandable);
    const int* order = buckets_.order();
    for (int i = first + block_.thread; i < last; i += block_.threads) {
      const int place = order[i];
      expandable.append_if(is_expandable_at(place), place);
      if (nodes_.is_oov_entry(entries_.keys[place])) {
        const Cost cutoff = frontier_.cutoff();
        follow_node(nodes_.oov_arcs(), nodes_.oov_root(), place, cutoff, Share{0, 1}, batch);
      }
    }
  }

  KERNEL_FN bool is_expandable_at(int place) const {
    const NodeArcs& node = entries_.arcs[place];
    prefetch(&nodes_.arcs_of(entries_.keys[place]).labels[node.first_label]);
    return is_expandable(node, room_at(node.min_weight, entries_.costs[place],
                                       frontier_.cutoff() + arc_costs_.lm_room()));
  }

  // A node of many arcs is followed by all threads of the block.
  KERNEL_FN void expand_tokens() const {
    FrameTotals& totals = frontier_.totals();
    ArcBatch batch(arc_costs_, frontier_);
    for (int i = block_.thread; i < totals.num_expandable; i += block_.threads) {
      const int place = work_.expandable[i];
      if (block_.threads > 1 && entries_.arcs[place].num_labels() > HIGH_DEGREE) {
        work_.high_degree[block_.fetch_add(&totals.num_high_degree, 1)] = place;
      } else {
        follow_labels_of(place, frontier_.cutoff(), Share{0, 1}, batch);
      }
    }
    block_.sync();
    if (totals.num_high_degree > 0) expand_high_degree(batch);
    batch.flush();
    block_.sync();
  }

  // The cutoff falls while threads are at work, and how arcs are shared out depends on it.
  KERNEL_FN void expand_high_degree(ArcBatch& batch) const {
    FrameTotals& totals = frontier_.totals();
    if (block_.thread == 0) totals.high_degree_cutoff = frontier_.cutoff();
    block_.sync();
    for (int i = 0; i < totals.num_high_degree; ++i) {
      follow_labels_of(work_.high_degree[i], totals.high_degree_cutoff,
                       Share{block_.thread, block_.threads}, batch);
    }
  }

  KERNEL_FN void follow_labels_of(int place, Cost cutoff, Share share, ArcBatch& batch) const {
    const WfstArcs& arcs = nodes_.arcs_of(entries_.keys[place]);
    follow_node(arcs, entries_.arcs[place], place, cutoff, share, batch);
  }

  KERNEL_FN bool is_expandable(const NodeArcs& node, Cost room) const {
    const bool pays = room >= labels_.least();
    return pays &
           ((node.labels & labels_.bits(labels_.bin_of(pays ? room : labels_.least()))) != 0);
  }

  KERNEL_FN void bound_best_by(Key key, Cost base) const {
    if (shape_.topology != WFST_EXPLICIT && block_.thread == 0) {
      if (labels_.blank() < NO_COST) frontier_.lower_best_bound(base + labels_.blank());
    }
    const WfstArcs& arcs = nodes_.arcs_of(key);
    const NodeArcs node = nodes_.node_at(key);
    Cost least = NO_COST;
    for (int i = node.first_label + block_.thread; i < node.end; i += block_.threads) {
      const int label = label_in(arcs.labels[i]);
      const Cost acoustic = labels_.cost(label);
      const Cost at_least = arc_costs_.at_least(node.min_weight) - arc_costs_.lm_room();
      if (acoustic == NO_COST || acoustic + at_least > least) continue;
      if (shape_.topology == WFST_NORMAL && label == label_of(key)) continue;
      Said said;
      const Cost cost = acoustic + arc_costs_.of_arc(arcs.arcs[i], key, &said);
      least = cost < least ? cost : least;
    }
    if (least < NO_COST) frontier_.lower_best_bound(base + least);
  }

  // The self-loop of each token is in no list: most have no other candidate.
  KERNEL_FN void follow_self_loops() const {
    const Cost cutoff = frontier_.cutoff();
    block_.sync();
    if (block_.thread == 0) frontier_.totals().has_self_loops = 1;
    const Cost best = self_loops_below(cutoff);
    if (best < NO_COST) block_.lower(&frontier_.totals().best, best);
    frontier_.lower_best_bound(best);
    block_.sync();
  }

  // Returns the least that it costs one of the thread's tokens; those in a label may go to blank.
  KERNEL_FN Cost self_loops_below(Cost cutoff) const {
    Block::Appender to_blank(work_.to_blank, &frontier_.totals().num_to_blank);
    const int size = frontier_.num_alive();
    Cost best = NO_COST;
    for (int i = block_.thread; i < size; i += block_.threads) {
      const int place = work_.alive[i];
      const Cost next = self_loop_at(place, cutoff);
      best = next < best ? next : best;
      to_blank.append_if(label_of(entries_.keys[place]) != 0, place);
    }
    return best;
  }

  // Returns what the self-loop costs, NO_COST if it is hopeless.
  KERNEL_FN Cost self_loop_at(int place, Cost cutoff) const {
    const Cost cost = self_loop_cost(place);
    const bool is_kept = cost <= cutoff + arc_costs_.slack(entries_.kinds[place]);
    const Cost next = choose(is_kept, cost, NO_COST);
    entries_.nexts[place] = next;
    frontier_.note_best(place, next);
    if (is_kept & (frontier_.closure_bound(place) == OPEN)) frontier_.open(place, BY_SELF_LOOP);
    return next;
  }

  // The blank transition: from a label to blank, in the same node.
  KERNEL_FN void follow_blanks() const {
    const Cost cutoff = frontier_.cutoff();
    for (int i = block_.thread; i < frontier_.totals().num_to_blank; i += block_.threads) {
      const int place = work_.to_blank[i];
      const Cost cost = entries_.costs[place] + labels_.blank();
      if (!arc_costs_.is_hopeless(cost, entries_.kinds[place], cutoff))
        blank_transition_at(place, cost);
    }
    block_.sync();
  }

  // The entry is looked up once.
  KERNEL_FN void blank_transition_at(int place, Cost cost) const {
    const int kind = entries_.kinds[place];
    const int closure_bound = frontier_.closure_bound(place);
    int* blank = &entries_.blanks[place];
    if (*blank != NONE) return frontier_.offer_at(*blank, kind, closure_bound, cost, place, 0);
    const Key key = entries_.keys[place];
    const Key in_blank = make_key(node_of(key), 0, context_of(key), words_of(key));
    *blank = frontier_.offer(in_blank, kind, closure_bound, cost, place, 0);
  }

  // The arcs whose labels are affordable at this cutoff.
  KERNEL_FN void follow_node(const WfstArcs& arcs, const NodeArcs& node, int place, Cost cutoff,
                             Share share, ArcBatch& batch) const {
    const Cost room = room_at(node.min_weight, entries_.costs[place], cutoff);
    const Cost most = with_words(room, arc_costs_.lm_room());
    if (!is_expandable(node, most) || frontier_.is_full()) return;
    const int bin = labels_.bin_of(most);
    const int count = labels_.count(bin);
    if (bin < COST_BINS - 1 && count * BISECTION_STEPS < node.num_labels()) {
      find_labels(arcs, node, count, place, room, share, batch);
    } else {
      scan_labels(arcs, node, place, room, share, batch);
    }
  }

  // The thread's share of the labels, each looked for among the arcs.
  KERNEL_FN void find_labels(const WfstArcs& arcs, const NodeArcs& node, int count, int place,
                             Cost room, Share share, ArcBatch& batch) const {
    for (int i = share.first; i < count; i += share.stride) {
      const int label = labels_.label(i);
      int arc = first_with(arcs, node.first_label, node.end, label);
      for (; arc < node.end && label_in(arcs.labels[arc]) == label; ++arc) {
        if (is_affordable(arcs.labels[arc], room)) follow_arc(arcs, arc, place, batch);
      }
    }
  }

  // The thread's share of the arcs.
  KERNEL_FN void scan_labels(const WfstArcs& arcs, const NodeArcs& node, int place, Cost room,
                             Share share, ArcBatch& batch) const {
    const int stride = share.stride * AT_A_TIME;
    for (int i = node.first_label + share.first * AT_A_TIME; i < node.end; i += stride) {
      const int stop = node.end - i < AT_A_TIME ? node.end - i : AT_A_TIME;
      std::uint64_t passed = 0;
      for (int j = 0; j < stop; ++j) {
        passed |= std::uint64_t{is_affordable(arcs.labels[i + j], room)} << j;
      }
      for (; passed != 0; passed &= passed - 1) {
        follow_arc(arcs, i + lowest_bit(passed), place, batch);
      }
    }
  }

  // What a token can pay for a label at a node, at least for its cheapest arc.
  KERNEL_FN Cost room_at(double min_weight, Cost base, Cost cutoff) const {
    const Cost room = cutoff - base - arc_costs_.at_least(min_weight);
    return room < NO_COST ? room : NO_COST - 1;
  }

  // The same for a label that comes with words, which can gain so much.
  KERNEL_FN Cost with_words(Cost room, Cost gain) const {
    const Cost most = room + gain;
    return most < NO_COST ? most : NO_COST - 1;
  }

  // Most arcs fail this test, which sees their labels only.
  KERNEL_FN bool is_affordable(std::uint32_t label, Cost room) const {
    if constexpr (HAS_LM) room = with_words(room, arc_costs_.lm_room(label));
    return labels_.cost(label_in(label)) + arc_costs_.excess(label) <= room;
  }

  KERNEL_FN void follow_arc(const WfstArcs& arcs, int arc, int place, ArcBatch& batch) const {
    const Key key = entries_.keys[place];
    const int label = label_in(arcs.labels[arc]);
    if (shape_.topology == WFST_NORMAL && label == label_of(key)) return;
    const int next_label = shape_.topology == WFST_EXPLICIT ? 0 : label;
    const Cost cost = entries_.costs[place] + labels_.cost(label);
    batch.add(arcs.arcs[arc], key, cost, next_label, place);
  }

  // Whether a candidate came to the node just now that is near enough to matter. Which dearer ones
  // are noted depends on the order of threads.
  KERNEL_FN bool is_open(int place) const {
    const Cost limit = entries_.nexts[place] + options_.lattice_beam;
    if (entries_.opens[place] == BY_SELF_LOOP && self_loop_cost(place) <= limit) return true;
    for (int at = entries_.candidates[place]; at != NONE; at = work_.candidates[at].next) {
      const Candidate& own = work_.candidates[at];
      if (own.closure_bound == OPEN && own.cost <= limit) return true;
    }
    return false;
  }

  KERNEL_FN void follow_epsilons_of(int place, ArcBatch& batch) const {
    const Key key = entries_.keys[place];
    const Cost base = entries_.nexts[place];
    const bool is_hopeless =
        arc_costs_.is_hopeless(base, entries_.kinds[place], frontier_.cutoff());
    const bool is_left = is_hopeless || frontier_.is_far(place, base);
    entries_.closure_bounds[place] = is_left ? OPEN : 0;
    if (is_left || frontier_.is_full()) return;
    const NodeArcs& node = entries_.arcs[place];
    for (int i = node.first_arc; i < node.first_label; ++i) {
      batch.add(state_.graph.arcs[i], key, base, label_of(key), ~place);
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
  ArcCosts arc_costs_;
  HistogramPruning pruning_;
  CostBuckets buckets_;
  Nodes nodes_;
};

}  // namespace earshot::EARSHOT_BACKEND
