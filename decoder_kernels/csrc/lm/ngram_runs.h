// N-grams of one order, sorted by their words in bounded memory: in runs on the disk, which are
// merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace earshot {

// What a file of n-grams holds of each: its words, then its cost and back-off as floats, in steps.
class NGramFile {
 public:
  // A file without a name in `folder`, which ends with this object. Throws std::system_error.
  NGramFile(int order, const std::string& folder);

  int order() const { return order_; }
  int stride() const { return order_ + 2; }
  std::uint64_t size() const { return size_; }

  void append(const std::uint32_t* ngrams, std::size_t count);
  // To the first n-gram; then `next` is true for as long as there is another, which `words` has.
  void rewind();
  bool next();
  const std::uint32_t* words() const { return ngram_.data(); }
  float cost() const;
  float back_off() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  int order_;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<std::uint32_t> ngram_;
};

class NGramRuns {
 public:
  // `memory`: bytes that the n-grams of a run take.
  NGramRuns(int order, const std::string& folder, std::size_t memory);

  void add(const std::uint32_t* words, float cost, float back_off);
  // A file whose n-grams belong to the others; it is sorted.
  void add(NGramFile file);
  // All of them in order. Where two have the same words, `twice` has the words of one.
  NGramFile merged(std::optional<std::vector<std::uint32_t>>& twice);

 private:
  void end_run();

  int order_;
  std::string folder_;
  std::size_t room_;  // n-grams
  std::size_t size_ = 0;
  std::unique_ptr<std::uint32_t[]> run_;
  std::vector<NGramFile> files_;
};

// Whether the first n words of one come before those of another, are the same (0), or come after.
int compare_words(const std::uint32_t* one, const std::uint32_t* other, int n);

}  // namespace earshot
