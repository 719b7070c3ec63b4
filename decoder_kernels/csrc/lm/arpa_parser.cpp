#include "lm/arpa_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace earshot {

namespace {

constexpr std::string_view BYTE_ORDER_MARK = "\xEF\xBB\xBF";  // before a file's first line
constexpr double LEAST_LOG10 = -99.0;                         // how the format writes zero
constexpr double MOST_LOG10_BACK_OFF = 10.0;
constexpr std::uint64_t MOST_NGRAMS = std::uint64_t{1} << 40;

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view stripped(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

// "ngram <order>=<count>", with any spaces around the numbers.
bool read_pair(std::string_view text, std::uint64_t& order, std::uint64_t& count) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return false;
  for (auto [field, number] : {std::pair(stripped(text.substr(0, equals)), &order),
                               std::pair(stripped(text.substr(equals + 1)), &count)}) {
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), *number);
    if (error != std::errc() || end != field.data() + field.size()) return false;
  }
  return true;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string told = "'";
  told.append(text.substr(0, 60)).append(text.size() > 60 ? "'…" : "'");
  return told;
}

void ArpaParser::feed(std::string_view piece) {
  while (stage_ != Stage::DONE) {
    const std::size_t end = piece.find('\n');
    if (rest_.size() + std::min(end, piece.size()) > MAX_LINE_BYTES) {
      ++line_;
      fail("longer than " + std::to_string(MAX_LINE_BYTES) + " bytes: not an ARPA file");
    }
    if (end == piece.npos) break;
    ++line_;
    if (rest_.empty()) {
      read(stripped(piece.substr(0, end)));
    } else {
      rest_.append(piece.substr(0, end));
      read(stripped(rest_));
      rest_.clear();
    }
    piece.remove_prefix(end + 1);
  }
  if (stage_ != Stage::DONE) rest_.append(piece);
}

void ArpaParser::finish() {
  if (!rest_.empty()) feed("\n");
  if (is_complete()) return;
  ++line_;
  fail("the file ends here: it is not an ARPA file, or it is cut off");
}

template <class Do>
void ArpaParser::tell(Do work) const {
  try {
    work();
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
}

void ArpaParser::read(std::string_view line) {
  if (line.empty()) return;
  if (stage_ == Stage::BEFORE) {
    if (line.starts_with(BYTE_ORDER_MARK)) line.remove_prefix(BYTE_ORDER_MARK.size());
    if (line == "\\data\\") stage_ = Stage::COUNTS;
  } else if (stage_ == Stage::COUNTS && line.starts_with("ngram ")) {
    read_count(line);
  } else if (stage_ == Stage::COUNTS || line.front() == '\\') {
    read_heading(line);
  } else {
    read_ngram(line);
  }
}

void ArpaParser::read_count(std::string_view line) {
  std::uint64_t order = 0, count = 0;
  if (!read_pair(line.substr(6), order, count) || order != counts_.size() + 1 ||
      count > MOST_NGRAMS) {
    fail(shown(line) + " is not 'ngram " + std::to_string(counts_.size() + 1) + "=<count>'");
  }
  if (static_cast<int>(order) > max_order_) {
    fail("n-grams of order " + std::to_string(order) + "; an image has at most order " +
         std::to_string(max_order_));
  }
  counts_.push_back(count);
}

// The end of the counts or of a section, and what comes after it.
void ArpaParser::read_heading(std::string_view line) {
  if (stage_ == Stage::COUNTS) {
    if (counts_.empty() || counts_[0] == 0) fail("the model is empty");
  } else {
    if (found_ != counts_[order_ - 1]) {
      fail(std::to_string(found_) + " " + std::to_string(order_) + "-grams, " +
           std::to_string(counts_[order_ - 1]) + " were announced");
    }
    tell([this] { sink_.end(order_); });
  }
  stage_ = Stage::NGRAMS;
  found_ = 0;
  const bool last = ++order_ > order();
  std::string wanted = "\\end\\";
  if (!last) wanted = std::to_string(order_).insert(0, 1, '\\').append("-grams:");
  if (line != wanted) fail(shown(line) + " where " + wanted + " should stand");
  if (last) {
    stage_ = Stage::DONE;
  } else {
    sink_.begin(order_);
  }
}

void ArpaParser::read_ngram(std::string_view line) {
  fields_.clear();
  const std::size_t most = order_ + 2 - (order_ == order() ? 1 : 0);
  for (std::size_t at = 0; at < line.size() && fields_.size() <= most;) {
    std::size_t end = at;
    while (end < line.size() && !is_space(line[end])) ++end;
    fields_.push_back(line.substr(at, end - at));
    for (at = end; at < line.size() && is_space(line[at]);) ++at;
  }
  const std::size_t words = order_;
  if (fields_.size() < words + 1 || fields_.size() > most) {
    fail(shown(line) + " is not a " + std::to_string(order_) + "-gram");
  }
  const double back_off = fields_.size() == words + 2 ? number_of(fields_.back()) : 0.0;
  const double prob = std::max(number_of(fields_.front()), LEAST_LOG10);
  if (prob > 0 || std::isinf(back_off) || back_off > MOST_LOG10_BACK_OFF) {
    fail(shown(line) + ": no such probability");
  }
  fields_.erase(fields_.begin());
  fields_.resize(words);
  if (++found_ > counts_[order_ - 1]) {
    fail("more " + std::to_string(order_) + "-grams than the " +
         std::to_string(counts_[order_ - 1]) + " that were announced");
  }
  tell([&] { sink_.take(fields_, prob, back_off); });
}

double ArpaParser::number_of(std::string_view field) const {
  const std::string_view digits = field.starts_with('+') ? field.substr(1) : field;
  double number = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // Then it says nothing of the number: too small is nearly 0, too large is infinite.
  const bool in_range = error != std::errc::result_out_of_range;
  if (!in_range) number = std::strtod(std::string(digits).c_str(), nullptr);
  if ((in_range && error != std::errc()) || end != digits.data() + digits.size() ||
      std::isnan(number) || number == std::numeric_limits<double>::infinity()) {
    fail(shown(field) + " is not a logarithm");
  }
  return number;
}

}  // namespace earshot
