#include "results/slot_results.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "wfst/wfst_state.h"

namespace earshot {

std::optional<std::vector<ListedWords>> SlotResults::nbest(const SlotRecords& slot, int count,
                                                           std::int64_t max_steps) {
  find_ends(slot);
  const bool rests = slot.lm != nullptr && slot.has_whole_lm;
  try {
    std::vector<ListedWords> listed;
    const int looked_at = rests ? std::max(count, LOOKED_AT_FOR_RESTS) : count;
    for (RankedWords& each : lists_.list(slot.backpointers, found_, looked_at, max_steps)) {
      const ResultCost boost = slot.boosts->earned(each.words, each.frames);
      listed.push_back(ListedWords{std::move(each), boost, found_.reached_final});
    }
    if (rests) give_rests(slot, listed);
    if (std::ssize(listed) > std::max(count, 0)) listed.resize(static_cast<std::size_t>(count));
    return listed;
  } catch (const TooManyHistories&) {
    return std::nullopt;
  }
}

std::optional<DrawnLattice> SlotResults::lattice(const SlotRecords& slot, std::int64_t max_steps) {
  find_ends(slot);
  try {
    return determinizer_.draw(slot.backpointers, found_, slot.num_frames, max_steps);
  } catch (const TooManyHistories&) {
    return std::nullopt;
  }
}

void SlotResults::give_rests(const SlotRecords& slot, std::vector<ListedWords>& listed) {
  const cpu::LmPrices prices(slot.lm);
  for (ListedWords& each : listed) {
    cpu::LmWords state = prices.cut(slot.lm_beginning);
    for (const int word : each.ranked.words) {
      const cpu::LmPrices::Word priced = prices.price(state, word);
      each.ranked.cost += std::min(ResultCost{0}, priced.cost + slot.lm->gain);
      state = priced.after;
    }
  }
  std::ranges::stable_sort(listed, {}, [](const ListedWords& each) { return each.ranked.cost; });
}

void SlotResults::find_ends(const SlotRecords& slot) {
  find_results(slot);
  found_.reached_final = slot.finalize && keep_finals(slot);
  const auto best = std::ranges::min_element(results_, {}, &Result::cost);
  found_.limit = best->cost + slot.lattice_beam;
  keep_within(found_.limit);
}

// A phrase under way is given back.
void SlotResults::find_results(const SlotRecords& slot) {
  results_.clear();
  for (int i = 0; i < slot.num_tokens; ++i) {
    const int state = cpu::context_of(slot.keys[i]);
    const ResultCost cost = slot.costs[i] + slot.boosts->pending(state);
    const std::uint64_t words = slot.lm == nullptr     ? 0
                                : slot.num_frames == 0 ? slot.lm_beginning
                                                       : slot.words[i];
    results_.push_back(Result{cost, slot.keys[i], words, slot.histories[i]});
  }
}

// Keeps the results at final nodes, if there are some.
bool SlotResults::keep_finals(const SlotRecords& slot) {
  at_finals_.clear();
  for (Result each : results_) {
    const auto node = static_cast<std::size_t>(cpu::node_of(each.key));
    if (node >= finals_.size() || finals_[node] == std::numeric_limits<float>::infinity()) continue;
    each.cost += cpu::fixed_cost(static_cast<double>(finals_[node]) * slot.graph_scale);
    if (slot.lm != nullptr) each.cost += cpu::LmPrices(slot.lm).end_price(each.words);
    at_finals_.push_back(each);
  }
  if (at_finals_.empty()) return false;
  results_.swap(at_finals_);
  return true;
}

// Of equal costs, the least key is first.
void SlotResults::keep_within(ResultCost limit) {
  const auto beyond =
      std::ranges::partition(results_, [&](const Result& each) { return each.cost <= limit; });
  const std::span<Result> within(results_.begin(), beyond.begin());
  std::ranges::sort(within, {},
                    [](const Result& each) { return std::tuple(each.cost, each.key, each.words); });
  met_.clear();
  found_.ends.clear();
  for (const Result& each : within) {
    if (met_.of(each.backpointer + 1) != Positions::NONE) continue;
    met_.put(each.backpointer + 1, 0);
    found_.ends.push_back(End{each.cost, each.backpointer});
  }
  found_.more = std::ranges::any_of(
      beyond, [&](const Result& each) { return met_.of(each.backpointer + 1) == Positions::NONE; });
}

}  // namespace earshot
