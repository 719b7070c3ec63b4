#include "lm/lm_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace earshot {

namespace {

constexpr long MOST_COST = LM_NO_COST - 1;
constexpr long MOST_BACK_OFF = 32767;

[[noreturn]] void raise_error(int number) {
  throw std::system_error(number, std::generic_category(), "the image");
}

}  // namespace

MappedFile::MappedFile(const std::string& path, std::size_t size)
    : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)), size_(size) {
  if (descriptor_ < 0) raise_error(errno);
  // Asked for beforehand: a disk that is full would end the process where it is written to.
  const int refused = posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
  void* mapped = refused ? MAP_FAILED
                         : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    const int number = refused ? refused : errno;
    close(descriptor_);
    raise_error(number);
  }
  data_ = static_cast<std::uint8_t*>(mapped);
}

MappedFile::~MappedFile() {
  munmap(data_, size_);
  close(descriptor_);
}

void MappedFile::shrink(std::size_t size) {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) raise_error(errno);
}

LmCounts LmWriter::with_room(LmCounts counts) {
  counts.states = counts.most_states();
  return counts;
}

LmWriter::LmWriter(const std::string& path, LmCounts& counts)
    : counts_(counts),
      room_(with_room(counts)),
      parts_(room_),
      file_(path, parts_.end),
      view_(lm_view(file_.data(), room_)),
      words_(reinterpret_cast<LmWordLine*>(file_.data() + parts_.words)),
      rows_(reinterpret_cast<LmRowLine*>(file_.data() + parts_.rows)),
      states_(reinterpret_cast<LmStateLine*>(file_.data() + parts_.states)),
      state_bases_((parts_.row_bases - parts_.state_bases) / sizeof(std::uint32_t)),
      row_bases_((parts_.end - parts_.row_bases) / sizeof(std::uint64_t)) {
  if (room_.states >= LM_NO_STATE) throw std::length_error("more than 2^32 - 2 contexts");
  view_.state_bases = state_bases_.data();
  view_.row_bases = row_bases_.data();
  view_.num_states = 0;
}

void LmWriter::write(const Vocabulary& words, const std::vector<double>& costs,
                     const std::vector<double>& back_offs, std::vector<NGramFile>& levels) {
  write_words(words, costs);
  write_states_of_words(back_offs, levels.empty() ? nullptr : &levels[0]);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    write_level(levels[i], i + 1 < levels.size() ? &levels[i + 1] : nullptr);
  }
  finish();
}

void LmWriter::write_words(const Vocabulary& words, const std::vector<double>& costs) {
  auto* ends = reinterpret_cast<std::uint64_t*>(file_.data() + parts_.ends);
  auto* text = reinterpret_cast<char*>(file_.data() + parts_.text);
  std::uint64_t end = 0;
  for (std::uint32_t word = 0; word < words.size(); ++word) {
    const std::string_view one = words.text_of(word);
    std::memcpy(text + end, one.data(), one.size());
    ends[word] = end += one.size();
    words_[word / LM_WORDS_TOGETHER].costs[word % LM_WORDS_TOGETHER] =
        static_cast<std::uint16_t>(std::lround(costs[word]));
  }
  const std::vector<std::uint32_t> by_text = words.by_text();
  std::copy(by_text.begin(), by_text.end(),
            reinterpret_cast<std::uint32_t*>(file_.data() + parts_.by_text));
}

void LmWriter::write_states_of_words(const std::vector<double>& back_offs, NGramFile* above) {
  add_state(Children{}, LM_ROOT, 0, 0.0);  // its children, the words, have no rows
  if (counts_.order == 1) return;
  start_children(above);
  for (std::uint32_t word = 0; word < counts_.words; ++word) {
    LmWordLine& line = words_[word / LM_WORDS_TOGETHER];
    const std::uint32_t place = word % LM_WORDS_TOGETHER;
    if (place == 0) line.before = view_.num_states;
    add_item(children_of(&word, 1, above), LM_ROOT, back_offs[word], line.bits, place);
  }
}

// The contexts of an order's n-grams are the states of the order below, one after the other.
void LmWriter::write_level(NGramFile& level, NGramFile* above) {
  const LmView& view = view_;
  std::uint32_t context = first_context_;
  first_context_ = view.num_states - 1;
  cpu::LmRange children{next_row_, next_row_};
  level.rewind();
  start_children(above);
  while (level.next()) {
    const cpu::LmLookup lookup(view);
    while (children.end <= next_row_) children = lookup.children(++context);
    while (next_row_ < children.begin) start_row();  // the tally, which is there
    start_row();
    const std::uint64_t row = next_row_ - 1;
    const std::uint32_t word = level.words()[level.order() - 1];
    write_row(level.cost(), word, carried_[context]);
    if (above == nullptr) continue;
    const std::uint32_t shorter =
        states_[context / LM_STATES_TOGETHER].suffixes[context % LM_STATES_TOGETHER];
    add_item(children_of(level.words(), level.order(), above), lookup.find(shorter, word).state,
             level.back_off(), rows_[row / LM_ROWS_TOGETHER].ranked, row % LM_ROWS_TOGETHER);
  }
}

void LmWriter::start_row() {
  const std::uint64_t row = next_row_++;
  if (row % LM_ROWS_TOGETHER != 0) return;
  const std::uint64_t line = row / LM_ROWS_TOGETHER;
  std::uint32_t& base = state_bases_[line >> LM_BASE_SHIFT];
  if (line % (1u << LM_BASE_SHIFT) == 0) base = view_.num_states;
  rows_[line].ranked = (view_.num_states - base) << LM_ROWS_TOGETHER;
}

void LmWriter::write_row(float cost, std::uint32_t word, float carried) {
  const std::uint32_t rounded =
      std::isinf(cost)
          ? LM_NO_COST
          : static_cast<std::uint32_t>(std::clamp(std::lround(cost - carried), 0L, MOST_COST));
  put_row(next_row_ - 1, word, rounded);
}

void LmWriter::put_row(std::uint64_t row, std::uint32_t word, std::uint32_t cost) {
  std::uint8_t* at = rows_[row / LM_ROWS_TOGETHER].rows[row % LM_ROWS_TOGETHER];
  at[0] = static_cast<std::uint8_t>(word);
  at[1] = static_cast<std::uint8_t>(word >> 8);
  at[2] = static_cast<std::uint8_t>(word >> 16);
  at[3] = static_cast<std::uint8_t>(cost);
  at[4] = static_cast<std::uint8_t>(cost >> 8);
}

void LmWriter::start_children(NGramFile* above) {
  if (above == nullptr) return;
  above->rewind();
  has_child_ = above->next();
}

LmWriter::Children LmWriter::children_of(const std::uint32_t* words, int length, NGramFile* above) {
  Children found{.first = next_child_};
  while (has_child_ && compare_words(above->words(), words, length) == 0) {
    found.mask |= cpu::lm_mask(above->words()[length]);
    ++found.count;
    has_child_ = above->next();
  }
  next_child_ += found.count;
  if (found.count < LM_MANY) return found;
  ++next_child_;
  put_row(found.first, found.count & LM_NO_WORD, static_cast<std::uint32_t>(found.count >> 24));
  return found;
}

void LmWriter::add_item(const Children& children, std::uint32_t suffix, double back_off,
                        std::uint32_t& bits, std::uint32_t place) {
  const double exact = back_off + carried_[suffix];
  const int rounded =
      static_cast<int>(std::clamp(std::lround(exact), -MOST_BACK_OFF, MOST_BACK_OFF));
  if (children.count == 0 && rounded == 0) return;
  bits |= 1u << place;
  add_state(children, suffix, rounded, exact - rounded);
}

void LmWriter::add_state(const Children& children, std::uint32_t suffix, int back_off,
                         double carried) {
  const std::uint32_t state = view_.num_states++;
  const std::uint32_t number = state / LM_STATES_TOGETHER;
  const std::uint32_t place = state % LM_STATES_TOGETHER;
  LmStateLine& line = states_[number];
  std::uint64_t& base = row_bases_[number >> LM_BASE_SHIFT];
  if (place == 0) {
    if (number % (1u << LM_BASE_SHIFT) == 0) base = children.first;
    if (children.first - base > UINT32_MAX) {
      throw std::length_error("too many n-grams after neighbouring contexts");
    }
    line.first_row = static_cast<std::uint32_t>(children.first - base);
  }
  line.sizes |= static_cast<std::uint32_t>(std::min<std::uint64_t>(children.count, LM_MANY))
                << 4 * place;
  line.suffixes[place] = suffix;
  line.back_offs[place] = static_cast<std::int16_t>(back_off);
  line.masks[place] = static_cast<std::uint8_t>(children.mask);
  carried_.push_back(static_cast<float>(carried));
}

// The bases move up to the states that there are.
void LmWriter::finish() {
  counts_.states = view_.num_states;
  const LmParts parts(counts_);
  const std::uint64_t row_lines = LmParts::pieces(counts_.all_rows(), LM_ROWS_TOGETHER);
  const std::uint64_t state_lines = LmParts::pieces(counts_.states, LM_STATES_TOGETHER);
  // Not by memcpy: a model of single words has no lines of rows, and so no bases of theirs.
  std::copy_n(state_bases_.begin(), LmParts::bases_of(row_lines),
              reinterpret_cast<std::uint32_t*>(file_.data() + parts.state_bases));
  std::copy_n(row_bases_.begin(), LmParts::bases_of(state_lines),
              reinterpret_cast<std::uint64_t*>(file_.data() + parts.row_bases));
  file_.shrink(parts.end);
}

}  // namespace earshot
