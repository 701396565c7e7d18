#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 18;

}  // namespace

bool TextLines::next() {
  std::size_t searched = at_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || (ended_ && at_ < buffer_.size())) {
      const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
      line_ = std::string_view(buffer_).substr(at_, stop - at_);
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      at_ = end == std::string::npos ? stop : end + 1;
      ++number_;
      return true;
    }
    if (ended_) return false;
    buffer_.erase(0, at_);
    at_ = 0;
    searched = buffer_.size();
    const std::size_t piece = source_->room(most_at_once);
    buffer_.resize(searched + piece);
    const std::size_t got = source_->read(buffer_.data() + searched, piece);
    buffer_.resize(searched + got);
    ended_ = got == 0;
  }
}

std::vector<std::string_view> TextLines::words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace maxmargin
