#include "maxmargin/data/readers/row_reader.hpp"

#include <algorithm>

namespace maxmargin {
namespace {

// Parsing a block takes milliseconds, so that handing it out costs nothing; 2 MB for each thread
// keep what is held besides the rows small.
constexpr std::size_t bytes_per_thread = std::size_t{512} << 10;
// Pieces per thread: the last one to end keeps the others waiting for a quarter at most.
constexpr std::size_t pieces_per_thread = 4;

}  // namespace

std::size_t block_bytes(const ReadOptions& options, const Threads& threads) {
  if (options.block_bytes > 0) return options.block_bytes;
  return std::max(2, threads.count()) * bytes_per_thread;
}

TextParser::TextParser(std::unique_ptr<Source> source, Records records, std::size_t bytes,
                       const Threads& threads)
    : threads_(threads), source_(std::move(source)), blocks_(*source_, records, bytes) {}

void TextParser::pass() {
  const std::string_view text = blocks_.text();
  line_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  blocks_.load();
}

void TextParser::skip(std::size_t bytes, std::size_t lines) {
  blocks_.skip(bytes);
  line_ += lines;
}

void TextParser::cut() {
  const auto texts = blocks_.pieces(pieces_per_thread * static_cast<std::size_t>(threads_.count()));
  used_ = texts.size();
  parsed_ += blocks_.text().size();
  if (pieces_.size() < used_) pieces_.resize(used_);
  for (std::size_t i = 0; i < used_; ++i) pieces_[i].begin(texts[i]);
}

double TextParser::times() const {
  constexpr double some_more = 1.05;  // the first rows may be shorter than the others
  if (!expects_all_ || parsed_ == 0) return 1;
  return std::max(1.0, some_more * static_cast<double>(source_->size().value_or(0)) /
                           static_cast<double>(parsed_));
}

}  // namespace maxmargin
