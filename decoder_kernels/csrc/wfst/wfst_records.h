// Histories as a graph of word records (docs/decisions/0034-word-records.md): a record is made when
// a word leaves the graph, and where two different histories meet at one key; so memory grows with
// words and meetings, not with tokens and frames.
#pragma once

#include "block/block.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

inline constexpr int NO_RECORD = -1;
inline constexpr int MAX_WORDS_SEEN = 8;    // back to where two histories were one
inline constexpr int MAX_MERGES_SEEN = 16;  // how far back a merge is looked for before it is made

// A history: that of a record, and after it a word if not 0.
struct History {
  int record;
  int word;
};

// What the records of a slot say.
class Records {
 public:
  explicit KERNEL_FN Records(const WfstSlot& slot) : slot_(slot) {}

  // The newest word on the cheapest history, or NO_RECORD.
  KERNEL_FN int skip_merges(int record) const {
    while (record != NO_RECORD && is_merge(record)) record = slot_.records[record].first;
    return record;
  }

  KERNEL_FN int num_words(int record) const { return depth_of(record) >> 1; }

  // The newest record of the words that two cheapest histories begin with.
  KERNEL_FN int common(int a, int b) const {
    a = skip_merges(a);
    b = skip_merges(b);
    while (a != b && !(num_words(a) == num_words(b) && hash_of_words(a) == hash_of_words(b))) {
      int& longer = num_words(a) >= num_words(b) ? a : b;
      longer = skip_merges(slot_.records[longer].first);
    }
    return a;
  }

 protected:
  KERNEL_FN bool is_merge(int record) const { return slot_.records[record].word == 0; }
  KERNEL_FN int depth_of(int record) const {
    return record == NO_RECORD ? 1 : slot_.records[record].depth;
  }
  KERNEL_FN bool is_alone(int record) const { return (depth_of(record) & 1) != 0; }
  KERNEL_FN std::uint64_t hash_of_words(int word_record) const {
    return word_record == NO_RECORD ? 0
                                    : static_cast<std::uint64_t>(slot_.records[word_record].value);
  }

  const WfstSlot& slot_;
};

// The same, with what makes and frees them.
class RecordPool : public Records {
 public:
  KERNEL_FN RecordPool(const Block& block, const WfstSlot& slot, const Workspace& work,
                       int capacity)
      : Records(slot), block_(block), work_(work), capacity_(capacity) {}

  KERNEL_FN int num_free() const { return *slot_.num_free; }

  // The record of a history; room for it has been seen to.
  KERNEL_FN int store(const History& history, int frame) const {
    if (history.word == 0) return history.record;
    const int before = skip_merges(history.record);
    const int depth = depth_of(history.record);
    const auto hash = static_cast<std::int64_t>(extend(hash_of_words(before), history.word));
    return take(WfstRecord{history.record, frame, history.word, depth + 2, hash});
  }

  // Both histories, unless the second says nothing new.
  KERNEL_CALL int merge(int kept, History other, Cost delta, Cost lattice_beam, int frame) const {
    while (other.word == 0 && other.record != NO_RECORD && is_merge(other.record) &&
           holds(kept, History{slot_.records[other.record].first, 0}, delta)) {
      delta += slot_.records[other.record].value;
      other.record = slot_.records[other.record].other;
    }
    if (delta > lattice_beam || holds(kept, other, delta)) return kept;
    const int second = store(other, frame);
    return take(WfstRecord{kept, second, 0, depth_of(kept) & ~1, delta});
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
      if (work_.marks[i] == 0) slot_.free_records[block_.fetch_add(slot_.num_free, 1)] = i;
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

  // Whether a record's histories are those of `other`, whose words may have left the graph in other
  // frames: word by word back to a record that both share, or by their hash where no merge lies
  // behind. A no that should be a yes costs a record and changes no result.
  KERNEL_CALL bool same(int record, History other) const {
    for (int seen = 0; seen < MAX_WORDS_SEEN; ++seen) {
      if (other.word == 0 && record == other.record) return true;
      if (record == NO_RECORD || is_merge(record)) return false;
      const WfstRecord& own = slot_.records[record];
      if (other.word == 0) {
        if (other.record == NO_RECORD || is_merge(other.record)) return false;
        const WfstRecord& newest = slot_.records[other.record];
        if (is_alone(record) && is_alone(other.record)) return own.value == newest.value;
        other = History{newest.first, newest.word};
      }
      if (own.word != other.word) return false;
      record = own.first;
      other.word = 0;
    }
    return false;
  }

  // Whether `kept` has these histories already, at no more than this extra cost.
  KERNEL_FN bool holds(int kept, const History& other, Cost delta) const {
    for (int seen = 0; seen < MAX_MERGES_SEEN; ++seen) {
      if (same(kept, other)) return true;
      if (kept == NO_RECORD || !is_merge(kept)) return false;
      const WfstRecord& merged = slot_.records[kept];
      if (merged.value <= delta && same(merged.other, other)) return true;
      kept = merged.first;
    }
    return false;
  }

  KERNEL_FN int take(const WfstRecord& record) const {
    const int taken = block_.fetch_add(&work_.totals->taken, 1);
    const int place = slot_.free_records[*slot_.num_free - 1 - taken];
    slot_.records[place] = record;
    return place;
  }

  // Follows first histories; where a merge has another, that waits for the next round.
  KERNEL_FN void mark(int record) const {
    while (record != NO_RECORD && block_.exchange(&work_.marks[record], 1) == 0) {
      const WfstRecord& own = slot_.records[record];
      if (own.word == 0 && own.other != NO_RECORD) {
        work_.marked[block_.fetch_add(&work_.totals->num_marked, 1)] = own.other;
      }
      record = own.first;
    }
  }

  const Block& block_;
  const Workspace& work_;
  int capacity_;
};

}  // namespace earshot::EARSHOT_BACKEND
