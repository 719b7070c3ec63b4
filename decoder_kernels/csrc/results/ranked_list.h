// The n-best list of a slot (docs/decisions/0036-word-lattices.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "results/hash_index.h"
#include "results/histories.h"

namespace earshot {

// One sequence of words, in order, each with the frame in which it left the graph.
struct RankedWords {
  ResultCost cost;
  std::vector<int> words;
  std::vector<int> frames;
};

// All results of a slot within its limit, cheapest first, each backpointer once; `more`: there are
// others beyond the limit.
struct SlotEnds {
  std::vector<End> ends;
  ResultCost limit = 0;
  bool more = false;
  bool reached_final = false;
};

// Lists the distinct sequences of words that end in a slot's tokens, cheapest first.
class RankedLists {
 public:
  // Up to `count` sequences. What is near the best is looked at first: the work grows with what is
  // asked for. Of equal costs, the first is what the first of the cheapest tokens remembers as its
  // best. Throws TooManyHistories where the next sequence is too far to be found.
  std::vector<RankedWords> list(const WfstBackpointer* backpointers, const SlotEnds& found,
                                int count, std::int64_t max_steps);

 private:
  static constexpr ResultCost FIRST_WIDTH = 1 << 22;  // a quarter of a nat

  // A cost, the backpointer that comes before, and the words after it.
  struct Path {
    ResultCost cost;
    int backpointer;
    int trail;
  };

  // A word that is followed by others: the rest of one path through the backpointers.
  struct Trail {
    int word;
    int frame;
    int rest;
  };

  // All paths that end in the same words.
  struct Entry {
    ResultCost cost;
    int number;
    int begin;  // in paths_
    int size;

    // The newest of equal costs first.
    bool operator>(const Entry& other) const {
      return cost != other.cost ? cost > other.cost : number < other.number;
    }
  };

  void walk(ResultCost listed, std::size_t count, std::vector<RankedWords>& list);
  void push_by_word();
  void go_back(const Entry& entry);
  Entry pop();
  RankedWords unrolled(const Path& path) const;

  Histories histories_;
  std::vector<Entry> heap_;
  std::vector<Path> paths_;    // of all entries
  std::vector<Path> next_;     // what is to be entries, by class
  std::vector<Entry> groups_;  // of next_, by word
  std::vector<int> group_of_;
  std::vector<Trail> trails_;
  Positions positions_;
  int entries_ = 0;
};

}  // namespace earshot
