// Histories as a graph of backpointers (docs/decisions/0034-backpointers.md): one is made when a
// word leaves the graph, and where two different histories recombine at one key; so memory grows
// with words and recombinations, not with tokens and frames.
#pragma once

#include "block/block.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int MAX_WORDS_SEEN = 8;    // back to where two histories were one
inline constexpr int MAX_MERGES_SEEN = 16;  // how far back a merge is looked for before it is made

// A history: that of a backpointer, and after it a word if not 0.
struct History {
  int backpointer;
  int word;
};

// What the backpointers of a slot say.
class Backpointers {
 public:
  explicit KERNEL_FN Backpointers(const WfstSlot& slot) : slot_(slot) {}

  // The newest word on the cheapest history, or NO_BACKPOINTER.
  KERNEL_FN int skip_merges(int backpointer) const {
    while (backpointer != NO_BACKPOINTER && is_merge(backpointer))
      backpointer = slot_.backpointers[backpointer].first;
    return backpointer;
  }

  KERNEL_FN int num_words(int backpointer) const { return depth_of(backpointer) >> 1; }

  // The newest backpointer of the words that two cheapest histories begin with.
  KERNEL_FN int common(int a, int b) const {
    a = skip_merges(a);
    b = skip_merges(b);
    while (a != b && !(num_words(a) == num_words(b) && hash_of_words(a) == hash_of_words(b))) {
      int& longer = num_words(a) >= num_words(b) ? a : b;
      longer = skip_merges(slot_.backpointers[longer].first);
    }
    return a;
  }

 protected:
  KERNEL_FN bool is_merge(int backpointer) const {
    return slot_.backpointers[backpointer].word == 0;
  }
  KERNEL_FN int depth_of(int backpointer) const {
    return backpointer == NO_BACKPOINTER ? 1 : slot_.backpointers[backpointer].depth;
  }
  KERNEL_FN bool is_alone(int backpointer) const { return (depth_of(backpointer) & 1) != 0; }
  KERNEL_FN std::uint64_t hash_of_words(int word_backpointer) const {
    return word_backpointer == NO_BACKPOINTER
               ? 0
               : static_cast<std::uint64_t>(slot_.backpointers[word_backpointer].value);
  }

  const WfstSlot& slot_;
};

// The same, with what makes and frees them.
class BackpointerPool : public Backpointers {
 public:
  KERNEL_FN BackpointerPool(const Block& block, const WfstSlot& slot, const Workspace& work,
                            int capacity)
      : Backpointers(slot), block_(block), work_(work), capacity_(capacity) {}

  KERNEL_FN int num_free() const { return *slot_.num_free; }

  // The backpointer of a history; room for it has been seen to.
  KERNEL_FN int store(const History& history, int frame) const {
    if (history.word == 0) return history.backpointer;
    const int before = skip_merges(history.backpointer);
    const int depth = depth_of(history.backpointer);
    const auto hash = static_cast<std::int64_t>(extend(hash_of_words(before), history.word));
    return take(WfstBackpointer{history.backpointer, frame, history.word, depth + 2, hash});
  }

  // Both histories, unless the second says nothing new.
  KERNEL_CALL int merge(int kept, History other, Cost delta, Cost lattice_beam, int frame) const {
    while (other.word == 0 && other.backpointer != NO_BACKPOINTER && is_merge(other.backpointer) &&
           holds(kept, History{slot_.backpointers[other.backpointer].first, 0}, delta)) {
      delta += slot_.backpointers[other.backpointer].value;
      other.backpointer = slot_.backpointers[other.backpointer].other;
    }
    if (delta > lattice_beam || holds(kept, other, delta)) return kept;
    const int second = store(other, frame);
    return take(WfstBackpointer{kept, second, 0, depth_of(kept) & ~1, delta});
  }

  // Frees what no token reaches. All threads; a sync before and after.
  KERNEL_FN void collect() const {
    block_.sync();
    for (int i = block_.thread; i < capacity_; i += block_.threads) work_.marks[i] = 0;
    if (block_.thread == 0) {
      *slot_.num_free = 0;
      work_.totals->num_marked = 0;
    }
    block_.sync();
    mark_reached();
    block_.sync();
    for (int i = block_.thread; i < capacity_; i += block_.threads) {
      if (work_.marks[i] == 0) slot_.free_backpointers[block_.fetch_add(slot_.num_free, 1)] = i;
    }
    block_.sync();
  }

 private:
  // Those of the tokens' histories, then, wave by wave, those that marked ones lead to.
  KERNEL_FN void mark_reached() const {
    const FrameTotals& totals = *work_.totals;
    for (int i = block_.thread; i < totals.num_alive; i += block_.threads) {
      mark(work_.entries.histories[work_.alive[i]]);
    }
    block_.sync();
    for (int start = 0, end = totals.num_marked; start < end;) {
      block_.sync();
      for (int i = start + block_.thread; i < end; i += block_.threads) mark(work_.marked[i]);
      block_.sync();
      start = end;
      end = totals.num_marked;
    }
  }

  static KERNEL_FN std::uint64_t extend(std::uint64_t hash, int word) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
  }

  // Whether a backpointer's histories are those of `other`, whose words may have left the graph in
  // other frames: word by word back to one that both share, or by their hash where no merge lies
  // behind. A no that should be a yes costs a backpointer and changes no result.
  KERNEL_CALL bool same(int backpointer, History other) const {
    for (int seen = 0; seen < MAX_WORDS_SEEN; ++seen) {
      if (other.word == 0 && backpointer == other.backpointer) return true;
      if (backpointer == NO_BACKPOINTER || is_merge(backpointer)) return false;
      const WfstBackpointer& own = slot_.backpointers[backpointer];
      if (other.word == 0) {
        if (other.backpointer == NO_BACKPOINTER || is_merge(other.backpointer)) return false;
        const WfstBackpointer& newest = slot_.backpointers[other.backpointer];
        if (is_alone(backpointer) && is_alone(other.backpointer)) return own.value == newest.value;
        other = History{newest.first, newest.word};
      }
      if (own.word != other.word) return false;
      backpointer = own.first;
      other.word = 0;
    }
    return false;
  }

  // Whether `kept` has these histories already, at no more than this extra cost.
  KERNEL_FN bool holds(int kept, const History& other, Cost delta) const {
    for (int seen = 0; seen < MAX_MERGES_SEEN; ++seen) {
      if (same(kept, other)) return true;
      if (kept == NO_BACKPOINTER || !is_merge(kept)) return false;
      const WfstBackpointer& merged = slot_.backpointers[kept];
      if (merged.value <= delta && same(merged.other, other)) return true;
      kept = merged.first;
    }
    return false;
  }

  KERNEL_FN int take(const WfstBackpointer& backpointer) const {
    const int taken = block_.fetch_add(&work_.totals->taken, 1);
    const int place = slot_.free_backpointers[*slot_.num_free - 1 - taken];
    slot_.backpointers[place] = backpointer;
    return place;
  }

  // Follows first histories; where a merge has another, that waits for the next round.
  KERNEL_FN void mark(int backpointer) const {
    while (backpointer != NO_BACKPOINTER && block_.exchange(&work_.marks[backpointer], 1) == 0) {
      const WfstBackpointer& own = slot_.backpointers[backpointer];
      if (own.word == 0 && own.other != NO_BACKPOINTER) {
        work_.marked[block_.fetch_add(&work_.totals->num_marked, 1)] = own.other;
      }
      backpointer = own.first;
    }
  }

  const Block& block_;
  const Workspace& work_;
  int capacity_;
};

}  // namespace earshot::EARSHOT_BACKEND
