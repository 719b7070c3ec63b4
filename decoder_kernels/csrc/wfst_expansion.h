// Follows the arcs of tokens through one frame, then epsilon arcs. The rules are wfst_oracle.py's.
#pragma once

#include <limits>

#include "block.h"
#include "boost_automaton.h"
#include "wfst_frontier.h"
#include "wfst_labels.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int HUB_ARCS = 512;
inline constexpr int PREFETCH_AHEAD = 8;    // entries
inline constexpr int BISECTION_STEPS = 12;  // what finding a label costs, in labels compared

inline constexpr Cost ROUNDING = 4;
inline constexpr double MAX_BOUND = 1e6;  // in nats
inline constexpr double MAX_PLAIN_SCALE = 5.0;

class Expansion {
 public:
  KERNEL_FN Expansion(const Block& block, const WfstState& state, std::int64_t slot,
                      const Workspace& work, const Frontier& frontier)
      : block_(block),
        state_(state),
        shape_(state.shape),
        options_(state.options[slot]),
        scales_(state.scales[slot]),
        work_(work),
        frontier_(frontier),
        labels_(block, state.shape, work, state.scales[slot], state.options[slot].beam),
        automaton_(state.boosts, state.boost_rows[slot]),
        graft_(graft_of(state, slot)),
        boost_step_(automaton_.empty() ? 0 : options_.boost_step),
        boost_slack_(boost_step_ * state.max_eps_words),
        excess_step_(excess_step_at(scales_.graph)),
        gain_step_(static_cast<Cost>(GAIN_STEP * ONE_NAT * scales_.graph) + 1),
        max_gain_(fixed_cost(MAX_COST) * state.shape.num_levels),
        margin_(boost_step_ + boost_slack_ + ROUNDING + state.shape.num_levels),
        cheapest_arc_(bound_cost(state.min_weight) - margin_) {}

  KERNEL_FN void read_labels(const float* row) const { labels_.read(row); }

  // A cost that some token of the frame will surely have: where the cheapest of the last one leads.
  KERNEL_FN void bound() const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      if (frontier_.alive(i).cost != totals.least) continue;
      block_.exchange(&totals.best_token, work_.alive[i]);
    }
    block_.sync();
    bound_by(frontier_.entry(totals.best_token).key, totals.least);
    block_.sync();
  }

  // In blank, or in the same token. Notes who can afford an arc as well.
  KERNEL_FN void stay() const {
    FrameTotals& totals = frontier_.totals();
    const bool stays = shape_.topology != WFST_EXPLICIT;
    const Cost cheapest = labels_.least() + cheapest_arc_;
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const int place = work_.alive[i];
      Entry& token = frontier_.entry(place);
      if (stays) stay_at(place, token);
      if (token.cost + cheapest > frontier_.cut() && !sees_graft(token.key)) continue;
      work_.able[block_.fetch_add(&totals.num_able, 1)] = place;
    }
    block_.sync();
  }

  KERNEL_FN void follow_labels() const {
    choose_rich();
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < totals.num_rich; i += block_.threads) {
      const int place = work_.rich[i];
      const Entry& token = frontier_.entry(place);
      const WfstArcs& arcs = arcs_of(token.key);
      const WfstNode& node = node_in(arcs, token.key);
      if (block_.threads > 1 && num_labels(node) > HUB_ARCS) {
        work_.hubs[block_.fetch_add(&totals.num_hubs, 1)] = place;
      } else {
        follow_node(arcs, node, 0, 1, token, place);
      }
    }
    block_.sync();
    for (int i = 0; i < totals.num_hubs; ++i) {
      const int place = work_.hubs[i];
      const Entry& token = frontier_.entry(place);
      const WfstArcs& arcs = arcs_of(token.key);
      follow_node(arcs, node_in(arcs, token.key), block_.thread, block_.threads, token, place);
    }
    block_.sync();
  }

  // Level by level, so that what an entry costs is final when it is passed on.
  KERNEL_FN void follow_epsilons() const {
    const FrameTotals& totals = frontier_.totals();
    for (int level = 0; level + 1 < shape_.num_levels; ++level) {
      const int size = totals.num_pending;
      block_.sync();
      for (int i = block_.thread; i < size; i += block_.threads) {
        if (i + PREFETCH_AHEAD < size) prefetch_epsilons(work_.pending[i + PREFETCH_AHEAD]);
        const int place = work_.pending[i];
        Entry& reached = frontier_.entry(place);
        if (level_of(reached.kind) != level || !is_open(reached)) continue;
        reached.next_reach = follow_epsilons_of(place, reached);
      }
      block_.sync();
    }
  }

  // All tokens as they are.
  KERNEL_FN void keep_tokens() const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      frontier_.offer_at(work_.alive[i], OPEN, frontier_.alive(i).cost, work_.alive[i], 0);
    }
    block_.sync();
  }

  // All tokens without a phrase or grafted word under way.
  KERNEL_FN void forget_boosts() const {
    for (int i = block_.thread; i < frontier_.num_alive(); i += block_.threads) {
      const Entry& token = frontier_.alive(i);
      const int node =
          node_of(token.key) < shape_.num_nodes ? node_of(token.key) : shape_.loop_node;
      const Cost cost = token.cost + pending(context_of(token.key));
      const Key kept = make_key(node, label_of(token.key), BoostAutomaton::ROOT);
      frontier_.offer(kept, state_.graph.nodes[node].kind, OPEN, cost, work_.alive[i], 0);
    }
    block_.sync();
  }

  // By how much epsilon paths from a node can still lower a cost.
  KERNEL_FN Cost slack(int kind) const {
    if (!has_epsilons(kind)) return 0;
    const int steps = gain_of(kind);
    if (steps == 0) return boost_slack_;
    const Cost gain = steps < MAX_GAIN_STEPS ? steps * gain_step_ : max_gain_;
    // Each arc gains no more than fixed_cost can say, and is rounded.
    return boost_slack_ + (gain < max_gain_ ? gain : max_gain_) + ROUNDING + shape_.num_levels;
  }

  KERNEL_FN Cost pending(int context) const { return fixed_cost(automaton_.pending(context)); }

 private:
  static KERNEL_FN WfstArcs graft_of(const WfstState& state, std::int64_t slot) {
    const std::int64_t node = state.graft_rows[2 * slot];
    const std::int64_t arc = state.graft_rows[2 * slot + 1];
    if (node < 0) return WfstArcs{nullptr, nullptr, nullptr};
    return WfstArcs{state.grafts.nodes + node, state.grafts.labels + arc, state.grafts.arcs + arc};
  }

  // None at scales at which the arcs' own costs could be clamped (see wfst_tables.py).
  static KERNEL_FN Cost excess_step_at(double scale) {
    return scale < MAX_PLAIN_SCALE ? static_cast<Cost>(EXCESS_STEP * ONE_NAT * scale) : 0;
  }

  KERNEL_FN const WfstArcs& arcs_of(Key key) const {
    return node_of(key) < shape_.num_nodes ? state_.graph : graft_;
  }
  KERNEL_FN const WfstNode& node_in(const WfstArcs& arcs, Key key) const {
    const int node = node_of(key);
    return arcs.nodes[node < shape_.num_nodes ? node : node - shape_.num_nodes];
  }

  // Arcs of grafted words are not in the graph's bounds.
  KERNEL_FN bool sees_graft(Key key) const {
    return node_of(key) >= shape_.num_nodes || is_hook(key);
  }

  // Grafted words begin at one node.
  KERNEL_FN bool is_hook(Key key) const {
    return graft_.nodes != nullptr && node_of(key) == shape_.loop_node;
  }

  // Of the tokens that can afford some arc, those at whose nodes there is one. What grafted words
  // begin with is followed here.
  KERNEL_FN void choose_rich() const {
    FrameTotals& totals = frontier_.totals();
    for (int i = block_.thread; i < totals.num_able; i += block_.threads) {
      if (i + PREFETCH_AHEAD < totals.num_able) prefetch_node(work_.able[i + PREFETCH_AHEAD]);
      const int place = work_.able[i];
      const Entry& token = frontier_.entry(place);
      const WfstArcs& arcs = arcs_of(token.key);
      const WfstNode& node = node_in(arcs, token.key);
      if (is_rich(node, room_at(node, token.cost))) {
        prefetch(&arcs.labels[node.first_label]);
        prefetch(&arcs.arcs[node.first_label]);
        work_.rich[block_.fetch_add(&totals.num_rich, 1)] = place;
      }
      if (is_hook(token.key)) follow_node(graft_, graft_.nodes[0], 0, 1, token, place);
    }
    block_.sync();
  }

  KERNEL_FN bool is_rich(const WfstNode& node, Cost room) const {
    return room >= labels_.least() && (node.labels & labels_.bits(labels_.shelf(room))) != 0;
  }

  static KERNEL_FN int num_labels(const WfstNode& node) {
    return (&node)[1].first_arc - node.first_label;
  }

  KERNEL_FN void prefetch_node(int place) const {
    const int node = node_of(frontier_.entry(place).key);
    if (node < shape_.num_nodes) prefetch(&state_.graph.nodes[node]);
  }

  KERNEL_FN void prefetch_epsilons(int place) const {
    const int node = node_of(frontier_.entry(place).key);
    prefetch(&state_.graph.arcs[state_.graph.nodes[node].first_arc]);
  }

  // At most what an arc costs with all that can be gained after it, without what margin_ holds.
  KERNEL_FN Cost bound_cost(double nats) const {
    nats *= scales_.graph;
    const bool is_clamped = nats > MAX_COST || nats < -MAX_BOUND;
    return is_clamped ? fixed_cost(nats) - max_gain_ : static_cast<Cost>(nats * ONE_NAT);
  }

  KERNEL_FN Cost weight(float cost) const {
    return fixed_cost(static_cast<double>(cost) * scales_.graph);
  }

  KERNEL_FN void bound_by(Key key, Cost base) const {
    if (shape_.topology != WFST_EXPLICIT && block_.thread == 0) {
      if (labels_.blank() < NO_COST) frontier_.lower_ceiling(base + labels_.blank());
    }
    const WfstArcs& arcs = arcs_of(key);
    const WfstNode& node = node_in(arcs, key);
    Cost least = NO_COST;
    for (int i = node.first_label + block_.thread; i < (&node)[1].first_arc; i += block_.threads) {
      const int label = label_in(arcs.labels[i]);
      const Cost acoustic = labels_.cost(label);
      if (acoustic == NO_COST || acoustic + bound_cost(node.min_weight) - margin_ > least) continue;
      if (shape_.topology == WFST_NORMAL && label == label_of(key)) continue;
      int context;
      const WfstArc& arc = arcs.arcs[i];
      const Cost cost = acoustic + weight(arc.weight) + step(key, arc, &context);
      least = cost < least ? cost : least;
    }
    if (least < NO_COST) frontier_.lower_ceiling(base + least);
  }

  KERNEL_FN void stay_at(int place, Entry& token) const {
    const Cost cut = frontier_.cut() + slack(token.kind);
    const int label = label_of(token.key);
    const Cost blank = token.cost + labels_.blank();
    if (blank <= cut) {
      if (label == 0) {
        frontier_.offer_at(place, token.reach, blank, place, 0);
      } else {
        fall_silent(place, token, blank);
      }
    }
    if (label == 0) return;
    const Cost repeat = token.cost + labels_.cost(label);
    if (repeat <= cut) frontier_.offer_at(place, token.reach, repeat, place, 0);
  }

  // The entry of the node in blank is looked up once.
  KERNEL_FN void fall_silent(int place, Entry& token, Cost cost) const {
    if (token.blank != NONE) {
      frontier_.offer_at(token.blank, token.reach, cost, place, 0);
    } else {
      const Key key = make_key(node_of(token.key), 0, context_of(token.key));
      token.blank = frontier_.offer(key, token.kind, token.reach, cost, place, 0);
    }
  }

  // The arcs whose labels are affordable: every `stride`-th, or of every `stride`-th label.
  KERNEL_FN void follow_node(const WfstArcs& arcs, const WfstNode& node, int first, int stride,
                             const Entry& token, int place) const {
    const Cost room = room_at(node, token.cost);
    if (!is_rich(node, room)) return;
    const int end = (&node)[1].first_arc;
    const int count = labels_.count(labels_.shelf(room));
    if (count * BISECTION_STEPS < num_labels(node)) {
      for (int i = first; i < count; i += stride) {
        const int label = labels_.label(i);
        int arc = first_with(arcs, node.first_label, end, label);
        for (; arc < end && label_in(arcs.labels[arc]) == label; ++arc) {
          follow_arc(arcs, arc, room, token, place);
        }
      }
      return;
    }
    for (int i = node.first_label + first; i < end; i += stride) {
      follow_arc(arcs, i, room, token, place);
    }
  }

  KERNEL_FN Cost room_at(const WfstNode& node, Cost base) const {
    const Cost room = frontier_.cut() - base - bound_cost(node.min_weight) + margin_;
    return room < NO_COST ? room : NO_COST - 1;
  }

  KERNEL_FN int first_with(const WfstArcs& arcs, int low, int high, int label) const {
    while (low < high) {
      const int middle = (low + high) / 2;
      const bool is_left = label_in(arcs.labels[middle]) < label;
      low = is_left ? middle + 1 : low;
      high = is_left ? high : middle;
    }
    return low;
  }

  // Most arcs fail the first test, which sees their labels only.
  KERNEL_FN void follow_arc(const WfstArcs& arcs, int arc, Cost room, const Entry& token,
                            int place) const {
    const int label = label_in(arcs.labels[arc]);
    if (labels_.cost(label) + excess_in(arcs.labels[arc]) * excess_step_ > room) return;
    if (shape_.topology == WFST_NORMAL && label == label_of(token.key)) return;
    const int next_label = shape_.topology == WFST_EXPLICIT ? 0 : label;
    take(arcs.arcs[arc], token.key, token.cost + labels_.cost(label), next_label, place);
  }

  // Returns what the arc and its word cost.
  KERNEL_FN Cost take(const WfstArc& arc, Key key, Cost base, int label, int from) const {
    int context;
    const Cost own = weight(arc.weight) + step(key, arc, &context);
    const Cost cut = frontier_.cut();
    if (base + own > cut && base + own - slack(arc.target_kind) > cut) return own;
    const Key target = make_key(arc.target, label, context);
    if (target == key && from >= 0) {
      frontier_.offer_at(from, OPEN, base + own, from, arc.word);
    } else {
      frontier_.offer(target, arc.target_kind, OPEN, base + own, from, arc.word);
    }
    return own;
  }

  // What the boost automaton says of an arc: the next context, and what it costs.
  KERNEL_FN Cost step(Key key, const WfstArc& arc, int* context) const {
    *context = context_of(key);
    if (arc.word == 0 || automaton_.empty()) return 0;
    const int before = *context;
    *context = automaton_.next(before, arc.word);
    return pending(before) - pending(*context) - fixed_cost(automaton_.completed(*context));
  }

  // Whether a way came to the node just now that is near enough to matter. Which dearer ones are
  // noted depends on the order of threads.
  KERNEL_FN bool is_open(const Entry& reached) const {
    for (int way = reached.candidate; way != NONE; way = work_.candidates[way].next) {
      const Candidate& own = work_.candidates[way];
      if (own.reach == OPEN && own.cost - reached.next <= options_.lattice_beam) return true;
    }
    return false;
  }

  // Returns the entry's reach: what the dearest of its arcs costs.
  KERNEL_FN int follow_epsilons_of(int place, const Entry& reached) const {
    const int source = node_of(reached.key);
    if (reached.next - slack(reached.kind) > frontier_.cut()) return OPEN;
    const WfstNode& node = state_.graph.nodes[source];
    Cost reach = 0;
    for (int i = node.first_arc; i < node.first_label; ++i) {
      const Cost own =
          take(state_.graph.arcs[i], reached.key, reached.next, label_of(reached.key), ~place);
      reach = own > reach ? own : reach;
    }
    return reach < OPEN ? static_cast<int>(reach) : OPEN;
  }

  const Block& block_;
  const WfstState& state_;
  const WfstShape& shape_;
  const WfstOptionRow& options_;
  const WfstScaleRow& scales_;
  const Workspace& work_;
  const Frontier& frontier_;
  FrameLabels labels_;
  BoostAutomaton automaton_;
  WfstArcs graft_;
  Cost boost_step_;
  Cost boost_slack_;  // the most that words on epsilon arcs can earn
  Cost excess_step_;  // of an arc's label
  Cost gain_step_;    // of a node's kind
  Cost max_gain_;
  Cost margin_;        // the most that a cost can lie below the bounds of nodes
  Cost cheapest_arc_;  // at most that
};

}  // namespace earshot::EARSHOT_BACKEND
