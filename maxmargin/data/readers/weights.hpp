#pragma once

#include <memory>
#include <string>
#include <vector>

#include "maxmargin/data/readers/blocks.hpp"

namespace maxmargin {

/// A file with one weight per line, read as far as rows need them.
class WeightFile {
 public:
  explicit WeightFile(const std::string& path);

  /// The weights of the next `rows` rows.
  std::vector<double> next(std::size_t rows);
  /// Throws if weights are left.
  void end();

 private:
  /// The next line that is not blank or a comment, without that; empty at the end.
  std::string_view line();

  std::unique_ptr<Source> source_;
  Blocks blocks_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::size_t column_ = 1;
  std::size_t given_ = 0;
};

}  // namespace maxmargin
