// Word lattices out of a slot's backpointers (docs/decisions/0036-word-lattices.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "results/hash_index.h"
#include "results/histories.h"
#include "results/ranked_list.h"

namespace earshot {

// As WordLattice in wfst_lattice.py.
struct DrawnLattice {
  std::vector<std::int32_t> frames;   // (N,) of the nodes
  std::vector<std::int32_t> sources;  // (A,) of the arcs
  std::vector<std::int32_t> targets;
  std::vector<std::int32_t> words;
  std::vector<double> costs;  // in nats
  double beam;                // in nats
};

// Draws histories read from the end, so that each sequence of words is one path.
//
// This is Povey et al. 2012 (Generating Exact Lattices in the WFST Framework), from behind and on
// backpointers: a node stands for the subset of what may come before the words that follow it, and
// for what each costs more than the cheapest; where that is equal, nodes are one. Arcs are drawn in
// the order of the cheapest result that each is part of: so a node is made by its cheapest use,
// when what must be kept is known.
class Determinizer {
 public:
  // The alternatives within a slot's limit. Where that takes more than `max_steps`, narrower beams
  // are tried, down to nothing but the best. Throws TooManyHistories where even that is too much.
  DrawnLattice draw(const WfstBackpointer* backpointers, const SlotEnds& found, int num_frames,
                    std::int64_t max_steps);

 private:
  // A determinized state. Its subset is in members_; ranks rise along arcs.
  struct Node {
    int frame;
    int rank;
    ResultCost cost;  // of the cheapest result through it
    int begin;
    int size;
  };

  // To be drawn: its part of members_ is the subset before `word`, which left the graph in `frame`.
  struct Arc {
    ResultCost cost;  // of the cheapest result with it
    int number;
    int word;
    int frame;
    int begin;
    int size;
    int target;

    bool operator>(const Arc& other) const {
      return cost != other.cost ? cost > other.cost : number > other.number;
    }
  };

  struct Drawn {
    int source;  // or BEGINNING
    int target;
    int word;
    ResultCost cost;
  };

  // The node that a group of members leads to.
  struct Group {
    Arc arc;
    int node;
  };

  static constexpr int BEGINNING = -1;
  static constexpr std::size_t ARC_STEPS = 32;
  static constexpr std::size_t MEMBER_STEPS = 4;

  void determinize(int num_frames);
  void draw(const Arc& arc);
  int source(const Arc& arc);
  void go_back(const Arc& arc);
  int node(int frame);
  void push_arcs(int node, int frame);
  void group_by_word(int begin);
  std::span<const Tail> members(int begin, int size) const {
    return {members_.data() + begin, static_cast<std::size_t>(size)};
  }
  bool same_members(std::span<const Tail> one, ResultCost least, std::span<const Tail> other,
                    ResultCost other_least);
  DrawnLattice lattice(ResultCost beam) const;

  Histories histories_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;
  std::vector<Arc> heap_;
  std::vector<Drawn> drawn_;
  std::vector<Tail> members_;
  std::vector<Tail> subset_;
  std::vector<Arc> by_word_;
  std::vector<int> word_of_;
  HashIndex node_index_;
  HashIndex group_index_;
  Positions positions_;
  int pushed_ = 0;
};

}  // namespace earshot
