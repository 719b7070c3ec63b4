// What labels cost in a frame, and which of them a token can afford at all: most tokens can afford
// few, and most nodes have none of these, which is seen before an arc is read.
#pragma once

#include <limits>

#include "block/block.h"
#include "wfst/wfst_state.h"
#include "wfst/wfst_workspace.h"

namespace earshot::EARSHOT_BACKEND {

// Labels of one cost range lie in one bin. The last bin is for all that is too dear to be told
// apart, and stands for every label there is.
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

  // The bin of the dearest label that so much can pay, at least the least.
  KERNEL_FN int bin_of(Cost amount) const {
    const Cost number = (amount - least()) >> shift_;
    return number < COST_BINS ? static_cast<int>(number) : COST_BINS - 1;
  }

  // Labels up to a bin: as bits (label % 64), how many, and each if the bin is not the last.
  KERNEL_FN std::uint64_t bits(int bin) const { return work_.bin_labels[bin]; }
  KERNEL_FN int count(int bin) const { return work_.bin_ends[bin]; }
  KERNEL_FN int label(int i) const { return work_.label_order[i]; }

  KERNEL_FN void read(const float* row) const {
    clear();
    compute_costs(row);
    find_least();
    gather_near();
    block_.sync();
    fill_bins();
  }

 private:
  static KERNEL_FN int shift_of(Cost beam) {
    const int digits = bit_width(static_cast<std::uint64_t>(beam));
    const int bin_digits = bit_width(COST_BINS) - 1;
    return digits > bin_digits ? digits - bin_digits : 0;
  }

  KERNEL_FN void clear() const {
    for (int i = block_.thread; i < COST_BINS; i += block_.threads) {
      work_.bin_labels[i] = 0;
      work_.bin_ends[i] = 0;
    }
    if (block_.thread == 0) {
      work_.totals->least_label = NO_COST;
      work_.totals->num_near = 0;
    }
    block_.sync();
  }

  KERNEL_FN void compute_costs(const float* row) const {
    const bool skipped = static_cast<double>(row[shape_.blank_id]) > scales_.skip_log_prob;
    const double scale = -scales_.acoustic;
    Cost* const costs = work_.label_costs + 1;
    for (int token = block_.thread; token < shape_.vocab_size; token += block_.threads) {
      costs[token] = skipped ? NO_COST : cost_of(row[token], scale);
    }
    block_.sync();
    if (block_.thread == 0) set_blank_cost(cost_of(row[shape_.blank_id], scale));
    block_.sync();
  }

  // Written for vectors: the comparison is as wide as what it chooses from.
  static KERNEL_FN Cost cost_of(double log_prob, double scale) {
    const Cost cost = fixed_cost(log_prob * scale);
    return log_prob >= -std::numeric_limits<float>::max() ? cost : NO_COST;
  }

  // LG graphs have no arcs with blank.
  KERNEL_FN void set_blank_cost(Cost cost) const {
    work_.label_costs[0] = cost;
    work_.label_costs[shape_.blank_id + 1] = shape_.topology == WFST_EXPLICIT ? cost : NO_COST;
  }

  KERNEL_FN void find_least() const {
    Cost least = NO_COST;
    for (int label = block_.thread + 1; label <= shape_.vocab_size; label += block_.threads) {
      least = cost(label) < least ? cost(label) : least;
    }
    if (least < NO_COST) block_.lower(&work_.totals->least_label, least);
    block_.sync();
  }

  // The labels that do not belong in the last bin: few.
  KERNEL_FN void gather_near() const {
    const Cost last_bin = least() + (static_cast<Cost>(COST_BINS - 1) << shift_);
    const Cost end = last_bin < NO_COST ? last_bin : NO_COST;
    Block::Appender near(work_.near_labels, &work_.totals->num_near);
    for (int label = block_.thread + 1; label <= shape_.vocab_size; label += block_.threads) {
      near.append_if(cost(label) < end, label);
    }
  }

  KERNEL_FN void fill_bins() const {
    for (int i = block_.thread; i < work_.totals->num_near; i += block_.threads) {
      const int label = work_.near_labels[i];
      const int place = bin_of(cost(label));
      block_.set_bits(&work_.bin_labels[place], std::uint64_t{1} << (label % 64));
      block_.fetch_add(&work_.bin_ends[place], 1);
    }
    block_.sync();
    if (block_.thread == 0) add_up();
    block_.sync();
    for (int i = block_.thread; i < work_.totals->num_near; i += block_.threads) {
      const int label = work_.near_labels[i];
      work_.label_order[block_.fetch_add(&work_.bin_ends[bin_of(cost(label))], 1)] = label;
    }
    block_.sync();
  }

  // Bits up to each bin, and where each begins: its end, once its labels have been put there.
  KERNEL_FN void add_up() const {
    std::uint64_t bits = 0;
    int labels = 0;
    for (int i = 0; i < COST_BINS - 1; ++i) {
      bits |= work_.bin_labels[i];
      work_.bin_labels[i] = bits;
      const int here = work_.bin_ends[i];
      work_.bin_ends[i] = labels;
      labels += here;
    }
    work_.bin_labels[COST_BINS - 1] = ~std::uint64_t{0};
    work_.bin_ends[COST_BINS - 1] = shape_.vocab_size;
  }

  const Block& block_;
  const WfstShape& shape_;
  const Workspace& work_;
  const WfstScaleRow& scales_;
  int shift_;
};

}  // namespace earshot::EARSHOT_BACKEND
