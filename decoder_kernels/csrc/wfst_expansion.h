// Follows the arcs of tokens through one frame, then epsilon arcs. The rules are wfst_oracle.py's.
#pragma once

#include <limits>

#include "block.h"
#include "boost_automaton.h"
#include "wfst_frontier.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int HUB_ARCS = 512;
inline constexpr int PREFETCH_NODES = 12;  // tokens ahead
inline constexpr int PREFETCH_LABELS = 6;
inline constexpr double MAX_GAIN = 1e12;  // of an epsilon path, in nats; as in wfst_tables.py

class Expansion {
 public:
  KERNEL_FN Expansion(const Block& block, const WfstState& state, std::int64_t slot,
                      const WfstSlot& tokens, const Workspace& work, const Frontier& frontier)
      : block_(block),
        state_(state),
        shape_(state.shape),
        options_(state.options[slot]),
        scales_(state.scales[slot]),
        tokens_(tokens),
        work_(work),
        frontier_(frontier),
        automaton_(state.boosts, state.boost_rows[slot]),
        graft_(graft_of(state, slot)),
        boost_step_(automaton_.empty() ? 0 : options_.boost_step),
        max_slack_(slack_of(state.max_gain, state.max_eps_words)) {}

  KERNEL_FN void read_labels(const float* row) const {
    const bool skipped = static_cast<double>(row[shape_.blank_id]) > scales_.skip_log_prob;
    for (int token = block_.thread; token < shape_.vocab_size; token += block_.threads) {
      const bool possible = row[token] != -std::numeric_limits<float>::infinity() &&
                            (token == shape_.blank_id || !skipped);
      work_.label_costs[token + 1] =
          possible ? fixed_cost(-(static_cast<double>(row[token]) * scales_.acoustic)) : NO_COST;
    }
  }

  // A cost that some token of the frame will surely have: where the cheapest of the last one leads.
  KERNEL_FN void bound() const {
    FrameTotals& totals = frontier_.totals();
    Cost least = NO_COST;
    for (int i = block_.thread; i < *tokens_.num_tokens; i += block_.threads) {
      least = tokens_.costs[i] < least ? tokens_.costs[i] : least;
    }
    block_.lower(&totals.least, least);
    block_.sync();
    for (int i = block_.thread; i < *tokens_.num_tokens; i += block_.threads) {
      if (tokens_.costs[i] == totals.least) block_.exchange(&totals.best_token, i);
    }
    block_.sync();
    bound_by(tokens_.keys[totals.best_token], totals.least);
    block_.sync();
  }

  KERNEL_FN void follow_labels() const {
    FrameTotals& totals = frontier_.totals();
    const int size = *tokens_.num_tokens;
    for (int i = block_.thread; i < size; i += block_.threads) {
      prefetch_token(i, size);
      const Key key = tokens_.keys[i];
      const Cost base = tokens_.costs[i];
      const WfstArcs& arcs = arcs_of(key);
      const WfstNode& node = node_in(arcs, key);
      const int end = (&node)[1].first_arc;
      if (shape_.topology != WFST_EXPLICIT) stay(key, kind_of(key), base, i);
      if (end - node.first_label > HUB_ARCS && block_.threads > 1) {
        work_.hubs[block_.fetch_add(&totals.num_hubs, 1)] = i;
      } else {
        follow(arcs, node, node.first_label, end, 1, key, base, i);
      }
      if (node_of(key) == shape_.loop_node && graft_.nodes != nullptr) {
        const WfstNode& root = graft_.nodes[0];
        follow(graft_, root, root.first_label, (&root)[1].first_arc, 1, key, base, i);
      }
    }
    block_.sync();
    for (int i = 0; i < totals.num_hubs; ++i) {
      const int token = work_.hubs[i];
      const Key key = tokens_.keys[token];
      const WfstArcs& arcs = arcs_of(key);
      const WfstNode& node = node_in(arcs, key);
      follow(arcs, node, node.first_label + block_.thread, (&node)[1].first_arc, block_.threads,
             key, tokens_.costs[token], token);
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
        if (level == 0 && i + PREFETCH_LABELS < size) {
          const int node = node_of(frontier_.entry(work_.pending[i + PREFETCH_LABELS]).key);
          prefetch(&state_.graph.arcs[state_.graph.nodes[node].first_arc]);
        }
        const int place = work_.pending[i];
        const Entry& reached = frontier_.entry(place);
        if (reached.level == level && reached.cost < NO_COST) follow_epsilons_of(place, reached);
      }
      block_.sync();
    }
  }

  // All tokens as they are.
  KERNEL_FN void keep_tokens() const {
    for (int i = block_.thread; i < *tokens_.num_tokens; i += block_.threads) {
      frontier_.offer(tokens_.keys[i], kind_of(tokens_.keys[i]), tokens_.costs[i], i, 0);
    }
    block_.sync();
  }

  // All tokens without a phrase or grafted word under way.
  KERNEL_FN void forget_boosts() const {
    for (int i = block_.thread; i < *tokens_.num_tokens; i += block_.threads) {
      const Key key = tokens_.keys[i];
      const int node = node_of(key) < shape_.num_nodes ? node_of(key) : shape_.loop_node;
      const Cost cost = tokens_.costs[i] + pending(context_of(key));
      const Key kept = make_key(node, label_of(key), BoostAutomaton::ROOT);
      frontier_.offer(kept, kind_of(kept), cost, i, 0);
    }
    block_.sync();
  }

  // By how much epsilon paths from a node can still lower a cost.
  KERNEL_FN Cost slack(int node) const {
    if (max_slack_ == 0 || node >= shape_.num_nodes) return 0;
    return slack_of(state_.gains[node], state_.eps_words[node]);
  }

  KERNEL_FN Cost pending(int context) const { return fixed_cost(automaton_.pending(context)); }

 private:
  static KERNEL_FN WfstArcs graft_of(const WfstState& state, std::int64_t slot) {
    const std::int64_t node = state.graft_rows[2 * slot];
    const std::int64_t arc = state.graft_rows[2 * slot + 1];
    if (node < 0) return WfstArcs{nullptr, nullptr, nullptr};
    return WfstArcs{state.grafts.nodes + node, state.grafts.labels + arc, state.grafts.arcs + arc};
  }

  KERNEL_FN Cost slack_of(double gain, int words) const {
    Cost most = boost_step_ * words;
    if (gain > 0.0) {
      gain *= scales_.graph;
      const Cost gained = static_cast<Cost>((gain < MAX_GAIN ? gain : MAX_GAIN) * ONE_NAT);
      // Each arc gains no more than fixed_cost can say, and is rounded.
      const Cost limit = fixed_cost(MAX_COST) * shape_.num_levels;
      most += (gained < limit ? gained : limit) + 1 + shape_.num_levels;
    }
    return most;
  }

  KERNEL_FN const WfstArcs& arcs_of(Key key) const {
    return node_of(key) < shape_.num_nodes ? state_.graph : graft_;
  }
  KERNEL_FN const WfstNode& node_in(const WfstArcs& arcs, Key key) const {
    const int node = node_of(key);
    return arcs.nodes[node < shape_.num_nodes ? node : node - shape_.num_nodes];
  }

  // As WfstArc's target_kind.
  KERNEL_FN int kind_of(Key key) const {
    if (node_of(key) >= shape_.num_nodes) return 0;
    const WfstNode& node = state_.graph.nodes[node_of(key)];
    return 2 * node.level + (node.first_label > node.first_arc ? 1 : 0);
  }

  KERNEL_FN void prefetch_token(int i, int size) const {
    if (i + PREFETCH_NODES < size) {
      const int node = node_of(tokens_.keys[i + PREFETCH_NODES]);
      if (node < shape_.num_nodes) prefetch(&state_.graph.nodes[node]);
    }
    if (i + PREFETCH_LABELS < size) {
      const int node = node_of(tokens_.keys[i + PREFETCH_LABELS]);
      if (node >= shape_.num_nodes) return;
      const int first = state_.graph.nodes[node].first_label;
      prefetch(&state_.graph.labels[first]);
      prefetch(&state_.graph.arcs[first]);
    }
  }

  KERNEL_FN Cost weight(float cost) const {
    return fixed_cost(static_cast<double>(cost) * scales_.graph);
  }

  KERNEL_FN void bound_by(Key key, Cost base) const {
    if (shape_.topology != WFST_EXPLICIT && block_.thread == 0) {
      const Cost blank = work_.label_costs[shape_.blank_id + 1];
      if (blank < NO_COST) frontier_.lower_best(base + blank);
    }
    const WfstArcs& arcs = arcs_of(key);
    const WfstNode& node = node_in(arcs, key);
    Cost least = NO_COST;
    for (int i = node.first_label + block_.thread; i < (&node)[1].first_arc; i += block_.threads) {
      const int label = arcs.labels[i];
      const Cost acoustic = work_.label_costs[label];
      if (acoustic == NO_COST || acoustic + weight(node.min_weight) - boost_step_ > least) continue;
      if (shape_.topology == WFST_NORMAL && label == label_of(key)) continue;
      int context;
      const WfstArc& arc = arcs.arcs[i];
      const Cost cost = acoustic + weight(arc.weight) + step(key, arc, &context);
      least = cost < least ? cost : least;
    }
    if (least < NO_COST) frontier_.lower_best(base + least);
  }

  // In blank, or in the same token.
  KERNEL_FN void stay(Key key, int kind, Cost base, int from) const {
    const Cost cut = frontier_.cut() + slack(node_of(key));
    const int label = label_of(key);
    const Cost blank = work_.label_costs[shape_.blank_id + 1];
    if (blank < NO_COST && base + blank <= cut) {
      frontier_.offer(make_key(node_of(key), 0, context_of(key)), kind, base + blank, from, 0);
    }
    if (label == 0) return;
    const Cost repeat = work_.label_costs[label];
    if (repeat < NO_COST && base + repeat <= cut) {
      frontier_.offer(key, kind, base + repeat, from, 0);
    }
  }

  // The arcs from `first` on, every `stride`-th. Most fail the first test, which sees labels only.
  KERNEL_FN void follow(const WfstArcs& arcs, const WfstNode& node, int first, int end, int stride,
                        Key key, Cost base, int from) const {
    const Cost room = frontier_.cut() - base - weight(node.min_weight) + boost_step_ + max_slack_;
    const bool is_normal = shape_.topology == WFST_NORMAL;
    for (int i = first; i < end; i += stride) {
      const int label = arcs.labels[i];
      const Cost cost = work_.label_costs[label];
      if (cost > room || cost == NO_COST) continue;
      if (is_normal && label == label_of(key)) continue;
      const int next_label = shape_.topology == WFST_EXPLICIT ? 0 : label;
      take(arcs.arcs[i], key, base + cost, next_label, from);
    }
  }

  KERNEL_FN void take(const WfstArc& arc, Key key, Cost cost, int label, int from) const {
    int context;
    cost += weight(arc.weight) + step(key, arc, &context);
    const Cost cut = frontier_.cut();
    if (cost > cut && (cost - max_slack_ > cut || cost - slack(arc.target) > cut)) return;
    frontier_.offer(make_key(arc.target, label, context), arc.target_kind, cost, from, arc.word);
  }

  // What the boost automaton says of an arc: the next context, and what it costs.
  KERNEL_FN Cost step(Key key, const WfstArc& arc, int* context) const {
    *context = context_of(key);
    if (arc.word == 0 || automaton_.empty()) return 0;
    const int before = *context;
    *context = automaton_.next(before, arc.word);
    return pending(before) - pending(*context) - fixed_cost(automaton_.completed(*context));
  }

  KERNEL_FN void follow_epsilons_of(int place, const Entry& reached) const {
    const int source = node_of(reached.key);
    if (reached.cost - slack(source) > frontier_.cut()) return;
    const WfstNode& node = state_.graph.nodes[source];
    for (int i = node.first_arc; i < node.first_label; ++i) {
      take(state_.graph.arcs[i], reached.key, reached.cost, label_of(reached.key), ~place);
    }
  }

  const Block& block_;
  const WfstState& state_;
  const WfstShape& shape_;
  const WfstOptionRow& options_;
  const WfstScaleRow& scales_;
  const WfstSlot& tokens_;
  const Workspace& work_;
  const Frontier& frontier_;
  BoostAutomaton automaton_;
  WfstArcs graft_;
  Cost boost_step_;
  Cost max_slack_;
};

}  // namespace earshot::EARSHOT_BACKEND
