// What the backpointers of a slot spell out: histories within a limit, each sequence of words named
// once (docs/decisions/0036-word-lattices.md).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "results/hash_index.h"
#include "wfst/wfst_search.h"

namespace earshot {

using ResultCost = std::int64_t;  // in the search's unit (fixed_cost.h)

// More work than a list or lattice is worth; tests/decoder_kernels/results_oracle counts
// the same steps. One is to look at a tail,
// about 10 ns: 10 ms for a try.
struct TooManyHistories {};
inline constexpr std::int64_t MAX_STEPS = 1 << 20;

// What a history costs as a result, and its backpointer.
struct End {
  ResultCost cost;
  int backpointer;
};

// How histories may end: a class of word, the cheapest backpointer of that class, and its cost.
struct Tail {
  int name;
  int backpointer;
  ResultCost cost;
};

// The histories of some results that cost at most a limit in all.
//
// Tokens that took different paths through the graph remember the same words in backpointers of
// their own. Two words' backpointers are of one *class* where their word is the same and so is what
// may stand before it, with its extra costs. There are 7 to 60 times fewer classes than
// backpointers. Numbers of classes rise along a history.
class Histories {
 public:
  static constexpr int NOTHING = 0;  // the class of the history without words

  // `ends` are the results within the limit, cheapest first, each backpointer once; `cut` whether
  // there are others. Throws TooManyHistories where it takes more than `max_steps` to find this
  // out; the rest of the steps is the caller's.
  void read(const WfstBackpointer* backpointers, std::span<const End> ends, bool cut,
            ResultCost limit, std::int64_t max_steps);

  // The tails of all results with their whole costs.
  std::span<const Tail> root() const { return root_; }

  // The tails of what stands before a word's backpointer; the cheapest costs nothing extra.
  std::span<const Tail> before(int backpointer) const {
    return tails_of_list(reached_[known(backpointers_[backpointer].first)].list);
  }
  int word(int backpointer) const { return backpointers_[backpointer].word; }
  // In which the word left the graph.
  int frame(int backpointer) const { return backpointers_[backpointer].other; }

  ResultCost limit() const { return limit_; }

  // Whether the limit has left anything out.
  bool cut() const { return cut_; }
  void note_cut() { cut_ = true; }

  // Counts work. Throws TooManyHistories.
  void take_steps(std::size_t steps) {
    steps_left_ -= static_cast<std::int64_t>(steps);
    if (steps_left_ < 0) throw TooManyHistories();
  }

 private:
  // A backpointer within the limit. The first is of NO_BACKPOINTER.
  struct Reached {
    int backpointer;
    int list;         // of its tails, once they are known
    ResultCost cost;  // of the cheapest result through it
  };

  struct List {
    int begin;  // in tails_
    int size;
    int index = -1;  // in indices_, if there is one
    int index_bits = 0;
    int name = -1;  // the same for lists that say the same
  };

  struct News {
    Tail tail;
    int at;  // in the list that it changes, or none
  };

  static constexpr int BACKPOINTER_STEPS = 16;
  static constexpr int FEW = 8;  // that are looked through faster than looked up
  static constexpr int UNKNOWN = -1;

  int known(int backpointer) const { return known_[static_cast<std::size_t>(backpointer + 1)]; }
  std::span<const Tail> tails_of_list(int list) const {
    const List& own = lists_[list];
    return {tails_.data() + own.begin, static_cast<std::size_t>(own.size)};
  }

  void forget();
  void reach(std::span<const End> ends);
  void walk_back(ResultCost cost, int backpointer);
  void find_tails(std::span<const End> ends);
  int list_of(const Reached& one);
  int merged(int first, int other, ResultCost extra, ResultCost slack);
  int changed(int first, ResultCost slack);
  int add_list(int begin);
  int find(int list, int name);
  void build_index(List& list);
  int class_of(int before, int word);
  int name_of(int list);
  bool same_tails(int list, int other);
  void join(std::span<const End> ends);

  const WfstBackpointer* backpointers_ = nullptr;
  ResultCost limit_ = 0;
  std::int64_t steps_left_ = 0;
  bool cut_ = false;
  std::vector<int> known_;  // by backpointer + 1: its place in reached_
  std::vector<Reached> reached_;
  std::vector<std::pair<ResultCost, int>> heap_;
  std::vector<int> stack_;
  std::vector<char> seen_;
  std::vector<Tail> tails_;
  std::vector<List> lists_;
  std::vector<int> indices_;
  std::vector<News> news_;
  std::vector<int> moved_;
  HashIndex names_;
  HashIndex classes_;
  std::vector<std::pair<int, int>> class_keys_;  // of each class: name before, word
  int num_names_ = 0;
  Positions positions_;
  std::vector<Tail> root_;
};

}  // namespace earshot
