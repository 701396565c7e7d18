#pragma once

#include <memory>
#include <string>
#include <vector>

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/readers/blocks.hpp"

namespace maxmargin {

/// A file with one weight per line, or two on each, read as far as rows need them.
class WeightFile {
 public:
  explicit WeightFile(const std::string& path);

  /// Gives a data set the weights of as many rows as it has, the next ones of the file.
  void give(Dataset& data);
  /// Throws if weights are left.
  void end();

 private:
  /// The next line that is not blank or a comment, without that; empty at the end.
  std::string_view line();
  double weight(std::string_view text, std::size_t column) const;

  std::unique_ptr<Source> source_;
  Blocks blocks_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::size_t column_ = 1;
  std::size_t given_ = 0;
  bool two_ = false;  ///< weights on each line
};

}  // namespace maxmargin
