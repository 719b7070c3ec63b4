// Writes an image, order by order: by then all that a row's lookup needs is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lm/lm_lookup.h"
#include "lm/lm_parts.h"
#include "lm/ngram_runs.h"
#include "lm/vocabulary.h"

namespace earshot {

// A new file, mapped to be written. Throws std::system_error.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::uint8_t* data() const { return data_; }
  void shrink(std::size_t size);

 private:
  int descriptor_;
  std::size_t size_;
  std::uint8_t* data_;
};

// Costs are rounded with the back-offs that are paid before them: what a state's back-offs were
// rounded by is carried on, so that no sum is off by more than a step.
class LmWriter {
 public:
  // `counts` without states, which are counted here; the room for them is what they can be at most.
  LmWriter(const std::string& path, LmCounts& counts);

  // `costs` and `back_offs` of the words; `levels` from order 2 on, each with its contexts below.
  void write(const Vocabulary& words, const std::vector<double>& costs,
             const std::vector<double>& back_offs, std::vector<NGramFile>& levels);

 private:
  struct Children {
    std::uint64_t first = 0;  // row
    std::uint64_t count = 0;
    std::uint32_t mask = 0;
  };

  static LmCounts with_room(LmCounts counts);
  void write_words(const Vocabulary& words, const std::vector<double>& costs);
  void write_states_of_words(const std::vector<double>& back_offs, NGramFile* above);
  void write_level(NGramFile& level, NGramFile* above);
  void write_row(float cost, std::uint32_t word, float carried);
  void put_row(std::uint64_t row, std::uint32_t word, std::uint32_t cost);
  // Lines of rows begin with the states before them.
  void start_row();
  // Those of an n-gram among the sorted n-grams of the next order.
  Children children_of(const std::uint32_t* words, int length, NGramFile* above);
  void start_children(NGramFile* above);
  // A state for an item, if it needs one: then its bit is set.
  void add_item(const Children& children, std::uint32_t suffix, double back_off,
                std::uint32_t& bits, std::uint32_t place);
  void add_state(const Children& children, std::uint32_t suffix, int back_off, double carried);
  void finish();

  LmCounts& counts_;
  LmCounts room_;
  LmParts parts_;
  MappedFile file_;
  LmView view_;
  LmWordLine* words_;
  LmRowLine* rows_;
  LmStateLine* states_;
  std::vector<std::uint32_t> state_bases_;
  std::vector<std::uint64_t> row_bases_;
  std::vector<float> carried_;       // by state
  std::uint64_t next_row_ = 0;       // of the order that is written
  std::uint64_t next_child_ = 0;     // of the order above it
  bool has_child_ = false;           // whether `above` stands at one
  std::uint32_t first_context_ = 0;  // the state before those of the order below
};

}  // namespace earshot
