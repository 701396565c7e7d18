#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace maxmargin {

/// The columns of a token.
using TokenColumns = std::vector<std::string_view>;

/// CRF++'s attribute templates: lines such as `U05:%x[-1,0]/%x[0,0]`, where %x[r,c] is column c of
/// the token at offset r, and `_B-1`, `_B+1`, ... beyond the ends. The line B asks for pairs of
/// labels, which every chain here has; B with %x is refused.
class AttributeTemplate {
 public:
  /// Throws Error, with the line's number in `file`.
  AttributeTemplate(std::span<const std::string> lines, const std::string& file);
  /// The default: each column of the tokens at the offsets -2 to 2, and pairs of neighbours.
  static std::vector<std::string> standard(std::size_t columns);

  std::size_t size() const { return patterns_.size(); }
  /// How many columns a token must have.
  std::size_t columns() const { return columns_; }
  /// Writes the attribute of one pattern for the token at t.
  void expand(std::size_t pattern, std::span<const TokenColumns> sentence, std::size_t t,
              std::string& out) const;

 private:
  struct Piece {
    std::string text;  ///< before the column
    bool has_column = false;
    int row = 0;
    std::size_t column = 0;
  };
  std::vector<std::vector<Piece>> patterns_;
  std::size_t columns_ = 0;
};

}  // namespace maxmargin
