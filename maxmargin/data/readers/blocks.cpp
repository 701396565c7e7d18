#include "maxmargin/data/readers/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {
namespace {

// No record is longer: one with quotes has a quote that nobody closed, whose text is handed on so
// that the parser says where. Others are no text, which zeros tell sooner.
constexpr std::size_t most_record_bytes = std::size_t{256} << 20;
constexpr std::size_t most_bytes_with_zeros = std::size_t{1} << 20;

/// The end of the first record that ends at or behind `from`; `inside`: `from` is inside quotes.
std::size_t first_end(std::string_view text, std::size_t from, bool quoted, bool inside) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\n' && !inside) return i + 1;
    if (quoted && text[i] == '"') inside = !inside;
  }
  return text.size();
}

}  // namespace

Blocks::Blocks(Source& source, Records records, std::size_t bytes)
    : source_(source), records_(records), bytes_(source.room(std::max<std::size_t>(bytes, 1))) {
  load();
}

std::size_t Blocks::last_end(std::string_view text) const {
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) return 0;
  if (records_ == Records::lines || text.find('"') == std::string_view::npos) return last + 1;
  std::size_t end = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    inside ^= text[i] == '"';
    if (text[i] == '\n' && !inside) end = i + 1;
  }
  return end;
}

bool Blocks::endless(std::string_view text) const {
  const auto refuse = [&](const char* what) {
    throw Error(Fault::data, Place{source_.name()}, what,
                "check that the file is LIBSVM or CSV text, one row a line");
  };
  if (text.size() >= most_bytes_with_zeros && text.find('\0') != std::string_view::npos)
    refuse("a long line with zero bytes: this is not text");
  if (text.size() < most_record_bytes || last_end(text) > 0) return false;
  if (records_ == Records::quoted && text.find('"') != std::string_view::npos) return true;
  refuse("a line has more than 256 MB: this is not text");
  return false;
}

bool Blocks::read_up_to(Block& next, std::size_t wanted) {
  try {
    while (next.filled < wanted) {
      const std::size_t got = source_.read(next.bytes.data() + next.filled, wanted - next.filled);
      if (got == 0) return false;
      next.filled += got;
    }
  } catch (...) {
    // The whole records in front of the fault come first, as they would with smaller blocks.
    failure_ = std::current_exception();
    next.filled = last_end({next.bytes.data(), next.filled});
    return false;
  }
  return true;
}

void Blocks::fill(Block& next) {
  next.filled = next.used = 0;
  if (ended_) return;
  const std::size_t tail = block().filled - block().used;
  std::size_t wanted = std::max(bytes_, tail + bytes_ / 2 + 1);
  for (next.filled = tail; next.used == 0 && !ended_; wanted += wanted) {
    next.bytes.resize(wanted + 1 + text_padding);
    if (next.filled == tail)
      std::copy_n(block().bytes.data() + block().used, tail, next.bytes.data());
    ended_ = !read_up_to(next, wanted);
    const std::string_view text(next.bytes.data(), next.filled);
    next.used = last_end(text);
    if (ended_ || (next.used == 0 && endless(text))) next.used = next.filled;
  }
  char* end = next.bytes.data() + next.used;
  if (next.used == next.filled && next.used > 0 && end[-1] != '\n') {
    *end++ = '\n';
    next.filled = ++next.used;
  }
  std::memset(next.bytes.data() + next.filled, 0, text_padding);
}

void Blocks::load() noexcept {
  try {
    fill(block_[1 - current_]);
  } catch (...) {  // out of memory
    failure_ = std::current_exception();
    ended_ = true;
    block_[1 - current_].used = 0;
  }
}

bool Blocks::next() {
  if (block_[1 - current_].used == 0) {
    if (failure_) std::rethrow_exception(failure_);
    return false;
  }
  current_ = 1 - current_;
  skipped_ = 0;
  return true;
}

std::vector<std::string_view> Blocks::pieces(std::size_t count) const {
  const std::string_view whole = text();
  const bool quoted = records_ == Records::quoted && whole.find('"') != std::string_view::npos;
  std::vector<std::string_view> cut;
  std::size_t begin = 0, counted = 0;
  bool inside = false;
  for (std::size_t i = 1; i <= count && begin < whole.size(); ++i) {
    const std::size_t from = std::max(whole.size() * i / count, begin + 1) - 1;
    if (quoted)
      for (; counted < from; ++counted) inside ^= whole[counted] == '"';
    const std::size_t end = first_end(whole, from, quoted, inside);
    cut.push_back(whole.substr(begin, end - begin));
    begin = end;
  }
  return cut;
}

}  // namespace maxmargin
