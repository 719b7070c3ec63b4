#include "lm/ngram_runs.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <queue>
#include <system_error>
#include <utility>

namespace earshot {

namespace {

constexpr std::size_t FILE_BUFFER = 1 << 18;
constexpr std::size_t WRITTEN_TOGETHER = 4096;

[[noreturn]] void raise_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::FILE* unnamed_file(const std::string& folder) {
  std::string name = folder + "/run-XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) raise_errno("a run cannot be written");
  unlink(name.c_str());
  std::FILE* file = fdopen(descriptor, "w+b");
  if (file == nullptr) {
    close(descriptor);
    raise_errno("a run cannot be written");
  }
  std::setvbuf(file, nullptr, _IOFBF, FILE_BUFFER);
  return file;
}

template <int ORDER>
void sort_ngrams(std::uint32_t* ngrams, std::size_t count) {
  using NGram = std::array<std::uint32_t, ORDER + 2>;
  auto* first = reinterpret_cast<NGram*>(ngrams);
  std::sort(first, first + count, [](const NGram& one, const NGram& other) {
    return compare_words(one.data(), other.data(), ORDER) < 0;
  });
}

constexpr std::array SORTS = {sort_ngrams<1>, sort_ngrams<2>, sort_ngrams<3>,
                              sort_ngrams<4>, sort_ngrams<5>, sort_ngrams<6>};

}  // namespace

int compare_words(const std::uint32_t* one, const std::uint32_t* other, int n) {
  for (int i = 0; i < n; ++i) {
    if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
  }
  return 0;
}

NGramFile::NGramFile(int order, const std::string& folder)
    : order_(order), file_(unnamed_file(folder)), ngram_(order + 2) {}

void NGramFile::append(const std::uint32_t* ngrams, std::size_t count) {
  const std::size_t bytes = sizeof(std::uint32_t) * stride();
  if (std::fwrite(ngrams, bytes, count, file_.get()) != count) raise_errno("a run");
  size_ += count;
}

void NGramFile::rewind() {
  read_ = 0;
  if (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0) {
    raise_errno("a run");
  }
}

bool NGramFile::next() {
  if (read_ == size_) return false;
  ++read_;
  const std::size_t bytes = sizeof(std::uint32_t) * stride();
  if (std::fread(ngram_.data(), bytes, 1, file_.get()) != 1) raise_errno("a run");
  return true;
}

float NGramFile::cost() const {
  return std::bit_cast<float>(ngram_[order_]);
}

float NGramFile::back_off() const {
  return std::bit_cast<float>(ngram_[order_ + 1]);
}

NGramRuns::NGramRuns(int order, const std::string& folder, std::size_t memory)
    : order_(order),
      folder_(folder),
      room_(std::max(WRITTEN_TOGETHER, memory / (sizeof(std::uint32_t) * (order + 2)))),
      // Not filled in: what is not used takes no memory.
      run_(new std::uint32_t[room_ * (order + 2)]) {}

void NGramRuns::add(const std::uint32_t* words, float cost, float back_off) {
  if (size_ == room_) end_run();
  std::uint32_t* at = run_.get() + size_++ * (order_ + 2);
  std::copy_n(words, order_, at);
  at[order_] = std::bit_cast<std::uint32_t>(cost);
  at[order_ + 1] = std::bit_cast<std::uint32_t>(back_off);
}

void NGramRuns::add(NGramFile file) {
  files_.push_back(std::move(file));
}

void NGramRuns::end_run() {
  if (size_ == 0) return;
  SORTS[order_ - 1](run_.get(), size_);
  files_.emplace_back(order_, folder_).append(run_.get(), size_);
  size_ = 0;
}

NGramFile NGramRuns::merged(std::optional<std::vector<std::uint32_t>>& twice) {
  end_run();
  run_.reset();
  const auto later = [this](NGramFile* one, NGramFile* other) {
    return compare_words(one->words(), other->words(), order_) > 0;
  };
  std::priority_queue<NGramFile*, std::vector<NGramFile*>, decltype(later)> queue(later);
  const auto take = [&queue](NGramFile* file) {
    if (file->next()) queue.push(file);
  };
  for (NGramFile& file : files_) {
    file.rewind();
    take(&file);
  }
  NGramFile all(order_, folder_);
  std::vector<std::uint32_t> last;
  while (!queue.empty()) {
    NGramFile* first = queue.top();
    queue.pop();
    if (!last.empty() && compare_words(last.data(), first->words(), order_) == 0) twice = last;
    last.assign(first->words(), first->words() + order_ + 2);
    all.append(last.data(), 1);
    take(first);
  }
  return all;
}

}  // namespace earshot
