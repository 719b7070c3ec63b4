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

constexpr long MOST_COST = cpu::LM_NO_COST - 1;
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
  counts.states = 1 + counts.items();
  return counts;
}

LmWriter::LmWriter(const std::string& path, LmCounts& counts)
    : counts_(counts),
      room_(with_room(counts)),
      parts_(room_),
      file_(path, parts_.end),
      view_(lm_view(file_.data(), room_)),
      states_(reinterpret_cast<cpu::LmState*>(file_.data() + parts_.states)),
      ranks_(reinterpret_cast<cpu::LmRank*>(file_.data() + parts_.ranks)),
      bases_(LmParts::bases_of(room_.states)) {
  if (room_.states >= cpu::LM_NO_STATE) throw std::length_error("more than 2^32 - 2 contexts");
  view_.bases = bases_.data();
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
  auto* rounded = reinterpret_cast<std::uint16_t*>(file_.data() + parts_.costs);
  std::uint64_t end = 0;
  for (std::uint32_t word = 0; word < words.size(); ++word) {
    const std::string_view one = words.text_of(word);
    std::memcpy(text + end, one.data(), one.size());
    ends[word] = end += one.size();
    rounded[word] = static_cast<std::uint16_t>(std::lround(costs[word]));
  }
  const std::vector<std::uint32_t> by_text = words.by_text();
  std::copy(by_text.begin(), by_text.end(),
            reinterpret_cast<std::uint32_t*>(file_.data() + parts_.by_text));
}

void LmWriter::write_states_of_words(const std::vector<double>& back_offs, NGramFile* above) {
  add_state(Children{0, 0}, cpu::LM_ROOT, 0, 0.0);  // its children, the words, have no rows
  if (counts_.order == 1) return;
  start_children(above);
  for (std::uint32_t word = 0; word < counts_.words; ++word) {
    add_item(children_of(&word, 1, above), cpu::LM_ROOT, back_offs[word]);
  }
}

// The contexts of an order's n-grams are the states of the order below, one after the other.
void LmWriter::write_level(NGramFile& level, NGramFile* above) {
  const cpu::LmView& view = view_;
  std::uint32_t context = std::max(first_context_, cpu::LM_ROOT + 1);
  first_context_ = view.num_states;
  level.rewind();
  start_children(above);
  for (; level.next(); ++next_row_) {
    const cpu::LmLookup lookup(view);
    while (lookup.first_child(context + 1) <= next_row_) ++context;
    const std::uint32_t word = level.words()[level.order() - 1];
    write_row(word, level.cost(), carried_[context]);
    if (above == nullptr) continue;
    const std::uint32_t suffix = lookup.find(states_[context].suffix, word).state;
    add_item(children_of(level.words(), level.order(), above), suffix, level.back_off());
  }
}

void LmWriter::write_row(std::uint32_t word, float cost, float carried) {
  const std::uint32_t rounded =
      std::isinf(cost)
          ? cpu::LM_NO_COST
          : static_cast<std::uint32_t>(std::clamp(std::lround(cost - carried), 0L, MOST_COST));
  std::uint8_t* at = file_.data() + parts_.rows + cpu::lm_row_at(next_row_);
  at[0] = static_cast<std::uint8_t>(word);
  at[1] = static_cast<std::uint8_t>(word >> 8);
  at[2] = static_cast<std::uint8_t>(word >> 16);
  at[3] = static_cast<std::uint8_t>(rounded);
  at[4] = static_cast<std::uint8_t>(rounded >> 8);
}

void LmWriter::start_children(NGramFile* above) {
  if (above == nullptr) return;
  above->rewind();
  has_child_ = above->next();
}

LmWriter::Children LmWriter::children_of(const std::uint32_t* words, int length, NGramFile* above) {
  Children found{next_child_, 0};
  while (has_child_ && compare_words(above->words(), words, length) == 0) {
    found.mask |= cpu::lm_mask(above->words()[length]);
    ++next_child_;
    has_child_ = above->next();
  }
  return found;
}

void LmWriter::add_item(const Children& children, std::uint32_t suffix, double back_off) {
  cpu::LmRank& rank = ranks_[next_item_ / cpu::LM_RANKED_BITS];
  const std::uint32_t place = next_item_++ % cpu::LM_RANKED_BITS;
  if (place == 0) rank.before = view_.num_states - 1;
  const double exact = back_off + carried_[suffix];
  const int rounded =
      static_cast<int>(std::clamp(std::lround(exact), -MOST_BACK_OFF, MOST_BACK_OFF));
  if (children.mask == 0 && rounded == 0) return;
  rank.bits[place / 32] |= 1u << place % 32;
  add_state(children, suffix, rounded, exact - rounded);
}

void LmWriter::add_state(const Children& children, std::uint32_t suffix, int back_off,
                         double carried) {
  const std::uint32_t state = view_.num_states++;
  const std::uint32_t block = state >> cpu::LM_BASE_SHIFT;
  if (state % (1u << cpu::LM_BASE_SHIFT) == 0) bases_[block] = children.first;
  const std::uint64_t first = children.first - bases_[block];
  if (first > UINT32_MAX) throw std::length_error("too many n-grams after neighbouring contexts");
  states_[state] =
      cpu::LmState{static_cast<std::uint32_t>(first), suffix, static_cast<std::int16_t>(back_off),
                   static_cast<std::uint16_t>(children.mask)};
  carried_.push_back(static_cast<float>(carried));
  end_children();
}

// The state behind the last one says where its children end; the next state says the same.
void LmWriter::end_children() {
  const std::uint32_t state = view_.num_states;
  const std::uint32_t block = state >> cpu::LM_BASE_SHIFT;
  if (state % (1u << cpu::LM_BASE_SHIFT) == 0) bases_[block] = next_child_;
  states_[state].first_child = static_cast<std::uint32_t>(next_child_ - bases_[block]);
}

void LmWriter::finish() {
  counts_.states = view_.num_states;
  const LmParts parts(counts_);
  const std::uint64_t bytes = sizeof(std::uint64_t) * LmParts::bases_of(counts_.states);
  std::memcpy(file_.data() + parts.bases, bases_.data(), bytes);
  file_.shrink(parts.end);
}

}  // namespace earshot
