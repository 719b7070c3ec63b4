// The boost tables that a slot has had, on the host: what results have earned by them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "boost/boost_automaton.h"
#include "results/histories.h"
#include "wfst/fixed_cost.h"

namespace earshot {

class SlotBoosts {
 public:
  // Another table from `frame` on, whose arrays `owner` keeps; without an owner there is none.
  void change(std::int64_t frame, const BoostArena& table, std::shared_ptr<const void> owner) {
    std::erase_if(tables_, [&](const Since& each) { return each.frame >= frame; });
    const cpu::BoostAutomaton automaton(table, owner == nullptr ? -1 : 0);
    tables_.push_back(Since{frame, automaton, std::move(owner)});
  }

  // The table is the same, the frames begin anew.
  void restart() {
    if (tables_.empty()) return;
    tables_.erase(tables_.begin(), tables_.end() - 1);
    tables_.front().frame = 0;
  }

  // What a phrase under way, which has come to this state, has to give back.
  ResultCost pending(int state) const {
    return tables_.empty() ? 0 : cpu::fixed_cost(tables_.back().automaton.pending(state));
  }

  // What completed phrases have earned: a function of the words, as tables came and went.
  ResultCost earned(std::span<const int> words, std::span<const int> frames) const {
    ResultCost total = 0;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const auto& [since, automaton, owner] = tables_[i];
      const std::int64_t until = i + 1 < tables_.size() ? tables_[i + 1].frame : FOREVER;
      if (automaton.empty()) continue;
      int state = cpu::BoostAutomaton::ROOT;
      for (std::size_t word = 0; word < words.size(); ++word) {
        if (frames[word] < since || frames[word] >= until) continue;
        state = automaton.next(state, words[word]);
        total += cpu::fixed_cost(automaton.completed(state));
      }
    }
    return total;
  }

 private:
  static constexpr std::int64_t FOREVER = std::numeric_limits<std::int64_t>::max();

  struct Since {
    std::int64_t frame;
    cpu::BoostAutomaton automaton;
    std::shared_ptr<const void> owner;
  };

  std::vector<Since> tables_;
};

}  // namespace earshot
