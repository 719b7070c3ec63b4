// What arcs and words cost a stream, and bounds of that by which arcs need not be looked at.
#pragma once

#include <limits>

#include "block/block.h"
#include "boost/boost_automaton.h"
#include "wfst/fixed_cost.h"
#include "wfst/wfst_state.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr Cost ROUNDING = 4;
inline constexpr double MAX_BOUND = 1e6;  // in nats

// What keys tell of the words so far.
struct Said {
  int context;
  LmWords words;
};

class ArcCosts {
 public:
  KERNEL_FN ArcCosts(const WfstState& state, std::int64_t slot, const LmPrices& lm)
      : num_levels_(state.shape.num_levels),
        scale_(state.scales[slot].graph),
        automaton_(state.boosts, state.boost_rows[slot]),
        lm_(lm),
        boost_step_(automaton_.empty() ? 0 : state.options[slot].boost_step),
        lm_room_(lm.gain() * state.max_arc_words),
        lm_slack_(lm.gain() * state.max_eps_words),
        epsilon_slack_(boost_step_ * state.max_eps_words),
        excess_step_(static_cast<Cost>(EXCESS_STEP * ONE_NAT * scale_)),
        gain_step_(static_cast<Cost>(GAIN_STEP * ONE_NAT * scale_) + 1),
        max_gain_(fixed_cost(MAX_COST) * num_levels_),
        margin_(boost_step_ + epsilon_slack_ + ROUNDING + num_levels_),
        lowest_(fixed_cost(-MAX_COST) - max_gain_ - margin_) {
    if (state.max_weight * scale_ > MAX_COST) expect_clamping();
    cheapest_arc_ = at_least(state.min_weight);
  }

  // What an arc and its word cost, and what is known of the words behind it: what the boost
  // automaton and language models say.
  KERNEL_FN Cost of_arc(const WfstArc& arc, const Key& from, Said* said) const {
    Cost cost = fixed_cost(static_cast<double>(arc.weight) * scale_);
    const int before = context_of(from);
    *said = Said{before, words_of(from)};
    if (HAS_LM && !lm_.empty() && arc.word != 0) {
      const LmPrices::Word priced = lm_.limited_price(said->words, arc.word);
      cost += priced.cost;
      said->words = priced.after;
    }
    if (automaton_.empty() || arc.word == 0) return cost;
    said->context = automaton_.next(before, arc.word);
    const Cost earned = pending(said->context) + fixed_cost(automaton_.completed(said->context));
    return cost + pending(before) - earned;
  }

  // Asks memory for what is kept of the prices of words, then finds the prices that are not.
  KERNEL_FN void fetch_price(LmWords words, int word) const { lm_.fetch(words, word); }
  KERNEL_FN void find_prices(const LmPrices::Asked* asked, int count) const {
    lm_.find(asked, count);
  }

  // The words of a key whose token goes on; `anew`: with other models.
  KERNEL_FN LmWords words_now(const Key& key, bool anew = false) const {
    if (!HAS_LM || lm_.empty()) return 0;
    return anew ? lm_.cut_anew(words_of(key)) : lm_.cut(words_of(key));
  }

  KERNEL_FN Cost pending(int context) const { return fixed_cost(automaton_.pending(context)); }

  // What no arc of a node costs less than, with all that can be gained after it, given the node's
  // min_weight.
  KERNEL_FN Cost at_least(double min_weight) const {
    const double nats = min_weight * scale_;
    return nats >= least_bound_ ? static_cast<Cost>(nats * ONE_NAT) - margin_ : lowest_;
  }

  KERNEL_FN Cost cheapest_arc() const { return cheapest_arc_; }

  // What an arc costs more than that, given what stands beside its label.
  KERNEL_FN Cost excess(std::uint32_t packed) const { return excess_in(packed) * excess_step_; }

  // By how much epsilon paths from a node can still lower a cost.
  KERNEL_FN Cost slack(int kind) const {
    Cost earned = choose(has_epsilons(kind), epsilon_slack_, Cost{0});
    if constexpr (HAS_LM) earned += choose(has_epsilon_words(kind), lm_slack_, Cost{0});
    const int steps = gain_of(kind);
    if (steps == 0) return earned;
    const Cost gain = steps < MAX_GAIN_STEPS ? steps * gain_step_ : max_gain_;
    // Each arc gains no more than fixed_cost can say, and is rounded.
    return earned + (gain < max_gain_ ? gain : max_gain_) + ROUNDING + num_levels_;
  }

  KERNEL_FN bool has_lm() const { return !lm_.empty(); }

  // How much an arc can cost less than these bounds say: any, and one with so much beside its
  // label.
  KERNEL_FN Cost lm_room() const { return lm_room_; }
  KERNEL_FN Cost lm_room(std::uint32_t packed) const {
    const int words = words_in(packed);
    return choose(words < MANY_WORDS, words * lm_.gain(), lm_room_);
  }

  // What an arc with a word costs at least, whatever the word earns.
  KERNEL_FN Cost least_of(const WfstArc& arc) const {
    return fixed_cost(static_cast<double>(arc.weight) * scale_) - boost_step_ - lm_.gain();
  }

  // Whether a candidate lies above the cutoff, whatever can still be gained after it.
  KERNEL_FN bool is_hopeless(Cost cost, int kind, Cost cutoff) const {
    return cost > cutoff && cost - slack(kind) > cutoff;
  }

 private:
  // Some arc costs or gains so much at this scale that sums of weights say nothing of sums of
  // costs.
  KERNEL_FN void expect_clamping() {
    least_bound_ = std::numeric_limits<double>::infinity();
    epsilon_slack_ += max_gain_ + ROUNDING + num_levels_;
    excess_step_ = 0;
  }

  int num_levels_;
  double scale_;
  BoostAutomaton automaton_;
  LmPrices lm_;
  Cost boost_step_;
  Cost lm_room_;        // the most that language models can give to words of one step
  Cost lm_slack_;       // and to those on epsilon arcs
  Cost epsilon_slack_;  // the most that words on epsilon arcs can earn
  Cost excess_step_;    // of an arc's label
  Cost gain_step_;      // of a node's kind
  Cost max_gain_;
  Cost margin_;  // the most that a cost can lie below the bounds of nodes
  Cost lowest_;
  double least_bound_ = -MAX_BOUND;  // bounds below it are not relied on
  Cost cheapest_arc_;
};

}  // namespace earshot::EARSHOT_BACKEND
