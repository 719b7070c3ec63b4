// Makes an image of ARPA text, in bounded memory: n-grams are sorted in runs on the disk, then
// written order by order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/arpa_parser.h"
#include "lm/lm_parts.h"
#include "lm/ngram_runs.h"
#include "lm/vocabulary.h"

namespace earshot {

struct LmPacked {
  LmCounts counts;
  std::uint64_t holes;    // contexts that the model does not list
  std::uint64_t clamped;  // numbers that are out of the image's range
};

class LmPacker : private ArpaSink {
 public:
  // `folder` is where runs lie. `memory`: bytes of n-grams that are sorted at a time.
  LmPacker(std::string folder, std::size_t memory);

  // Throws ArpaFault, and std::system_error where a run cannot be written.
  void feed(std::string_view piece) { parser_.feed(piece); }
  // After the last piece: all but header and checksums of the image is written to `path`.
  LmPacked finish(const std::string& path);
  bool is_complete() const { return parser_.is_complete(); }

 private:
  void begin(int order) override;
  void take(const std::vector<std::string_view>& words, double prob, double back_off) override;
  void end(int order) override;

  void take_word(std::string_view word, double prob, double back_off);
  void number_words();
  void add_missing_contexts();
  NGramFile contexts_missing(int order, std::uint64_t& missing);
  static std::uint64_t tallies_of(NGramFile& level);
  float steps(double log10, double most);

  std::string folder_;
  std::size_t memory_;
  ArpaParser parser_;
  Vocabulary words_;
  std::vector<double> word_probs_, word_back_offs_;  // by their numbers; logarithms, then steps
  std::unique_ptr<NGramRuns> runs_;                  // of the order that is read
  std::vector<NGramFile> levels_;                    // from order 2 on
  LmPacked packed_{};
};

}  // namespace earshot
