#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/source.hpp"

namespace maxmargin {

/// The lines of a text file, plain or packed, without their ends.
class TextLines {
 public:
  explicit TextLines(const std::string& path) : TextLines(open_source(path)) {}
  explicit TextLines(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  /// Reads the next line; false at the end.
  bool next();
  std::string_view line() const { return line_; }
  /// The words of the line, separated by blanks and tabs.
  std::vector<std::string_view> words() const { return words_of_line(line_); }
  std::size_t number() const { return number_; }
  Place place() const { return {source_->name(), number_}; }

  static std::vector<std::string_view> words_of_line(std::string_view line);

 private:
  std::unique_ptr<Source> source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  bool ended_ = false;
  std::string_view line_;
};

}  // namespace maxmargin
