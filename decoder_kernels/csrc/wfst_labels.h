// What labels cost in a frame, and which of them a token can afford at all: most tokens can afford
// few, and most nodes have none of these, which is seen before an arc is read.
#pragma once

#include <bit>
#include <limits>

#include "block.h"
#include "wfst_state.h"
#include "wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

// Labels of one price range lie on one shelf; the dearest that matter on the last.
class FrameLabels {
 public:
  KERNEL_FN FrameLabels(const Block& block, const WfstShape& shape, const Workspace& work,
                        const WfstScaleRow& scales, Cost beam)
      : block_(block), shape_(shape), work_(work), scales_(scales), shift_(shift_of(beam)) {}

  // Label 0 is blank, as in the keys of tokens.
  KERNEL_FN Cost cost(int label) const { return work_.label_costs[label]; }
  KERNEL_FN Cost blank() const { return cost(0); }

  // Of the labels that arcs can have.
  KERNEL_FN Cost least() const { return work_.totals->least_label; }

  // The shelf of the dearest label that so much can pay, at least the least.
  KERNEL_FN int shelf(Cost amount) const {
    const Cost number = (amount - least()) >> shift_;
    return number < SHELVES ? static_cast<int>(number) : SHELVES - 1;
  }

  // Labels up to a shelf: as bits (label % 64), how many, and each.
  KERNEL_FN std::uint64_t bits(int shelf) const { return work_.shelf_bits[shelf]; }
  KERNEL_FN int count(int shelf) const { return work_.shelf_ends[shelf]; }
  KERNEL_FN int label(int i) const { return work_.label_order[i]; }

  KERNEL_FN void read(const float* row) const {
    clear();
    const Cost least = price(row);
    if (least < NO_COST) block_.lower(&work_.totals->least_label, least);
    block_.sync();
    for (int token = block_.thread; token < shape_.vocab_size; token += block_.threads) {
      if (!is_for_sale(token)) continue;
      const int place = shelf(cost(token + 1));
      block_.set_bits(&work_.shelf_bits[place], std::uint64_t{1} << ((token + 1) % 64));
      block_.fetch_add(&work_.shelf_ends[place], 1);
    }
    block_.sync();
    if (block_.thread == 0) add_up();
    block_.sync();
    for (int token = block_.thread; token < shape_.vocab_size; token += block_.threads) {
      if (!is_for_sale(token)) continue;
      int* end = &work_.shelf_ends[shelf(cost(token + 1))];
      work_.label_order[block_.fetch_add(end, 1)] = token + 1;
    }
    block_.sync();
  }

 private:
  static KERNEL_FN int shift_of(Cost beam) {
    const int digits = std::bit_width(static_cast<std::uint64_t>(beam));
    const int shelf_digits = std::bit_width(static_cast<unsigned>(SHELVES)) - 1;
    return digits > shelf_digits ? digits - shelf_digits : 0;
  }

  KERNEL_FN void clear() const {
    for (int i = block_.thread; i < SHELVES; i += block_.threads) {
      work_.shelf_bits[i] = 0;
      work_.shelf_ends[i] = 0;
    }
    if (block_.thread == 0) work_.totals->least_label = NO_COST;
    block_.sync();
  }

  // Returns the least of the thread's own.
  KERNEL_FN Cost price(const float* row) const {
    const bool skipped = static_cast<double>(row[shape_.blank_id]) > scales_.skip_log_prob;
    Cost least = NO_COST;
    for (int token = block_.thread; token < shape_.vocab_size; token += block_.threads) {
      const bool possible = row[token] != -std::numeric_limits<float>::infinity() &&
                            (token == shape_.blank_id || !skipped);
      const Cost cost =
          possible ? fixed_cost(-(static_cast<double>(row[token]) * scales_.acoustic)) : NO_COST;
      work_.label_costs[token + 1] = cost;
      if (token == shape_.blank_id) work_.label_costs[0] = cost;
      if (is_for_sale(token) && cost < least) least = cost;
    }
    return least;
  }

  // Implicit topologies have no arcs with blank.
  KERNEL_FN bool is_for_sale(int token) const {
    return work_.label_costs[token + 1] < NO_COST &&
           (shape_.topology == WFST_EXPLICIT || token != shape_.blank_id);
  }

  // Bits up to each shelf, and where each begins: its end, once its labels have been put there.
  KERNEL_FN void add_up() const {
    std::uint64_t bits = 0;
    int labels = 0;
    for (int i = 0; i < SHELVES; ++i) {
      bits |= work_.shelf_bits[i];
      work_.shelf_bits[i] = bits;
      const int here = work_.shelf_ends[i];
      work_.shelf_ends[i] = labels;
      labels += here;
    }
  }

  const Block& block_;
  const WfstShape& shape_;
  const Workspace& work_;
  const WfstScaleRow& scales_;
  int shift_;
};

}  // namespace earshot::EARSHOT_BACKEND
