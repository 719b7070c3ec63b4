// Reads ARPA text that comes in pieces: any order, lines in any piece. Gzip is undone before.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace earshot {

// Text that is no complete ARPA file, and the number of the line.
class ArpaFault : public std::runtime_error {
 public:
  ArpaFault(const std::string& message, std::int64_t line)
      : std::runtime_error(message), line(line) {}

  std::int64_t line;
};

// Who takes what is read: logarithms to base 10. A std::invalid_argument that it throws is told
// with the line.
class ArpaSink {
 public:
  virtual ~ArpaSink() = default;
  virtual void begin(int order) = 0;
  virtual void take(const std::vector<std::string_view>& words, double prob, double back_off) = 0;
  virtual void end(int order) = 0;
};

class ArpaParser {
 public:
  explicit ArpaParser(ArpaSink& sink, int max_order) : sink_(sink), max_order_(max_order) {}

  // Throws ArpaFault.
  void feed(std::string_view piece);
  // After the last piece; throws ArpaFault where the end was not reached.
  void finish();

  bool is_complete() const { return stage_ == Stage::DONE; }
  int order() const { return static_cast<int>(counts_.size()); }

 private:
  enum class Stage { BEFORE, COUNTS, NGRAMS, DONE };
  static constexpr std::size_t MAX_LINE_BYTES = 1 << 16;

  void read(std::string_view line);
  void read_count(std::string_view line);
  void read_heading(std::string_view line);
  void read_ngram(std::string_view line);
  template <class Do>
  void tell(Do work) const;
  double number_of(std::string_view field) const;
  [[noreturn]] void fail(const std::string& message) const { throw ArpaFault(message, line_); }

  ArpaSink& sink_;
  int max_order_;
  Stage stage_ = Stage::BEFORE;
  std::string rest_;
  std::int64_t line_ = 0;
  std::vector<std::uint64_t> counts_;
  int order_ = 0;  // of the section
  std::uint64_t found_ = 0;
  std::vector<std::string_view> fields_;
};

std::string shown(std::string_view text);

}  // namespace earshot
