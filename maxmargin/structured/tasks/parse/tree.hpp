#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {

/// A tree in bracket form, `(S (NP (DT the) (NN dog)) (VP runs))`. A node has children, or is a
/// tag with a word.
struct ParseTree {
  std::string label, word;
  std::vector<ParseTree> children;

  bool is_tag() const { return children.empty(); }
};

/// Reads the trees of a file, which may span lines. A line without brackets is a sentence without a
/// tree, given as a node without label whose children are tags without label.
class TreeReader {
 public:
  explicit TreeReader(const std::string& path) : lines_(path) {}

  /// Reads the next tree; false at the end. Throws Error with file and line.
  bool next();
  const ParseTree& tree() const { return tree_; }
  std::size_t line() const { return line_; }  ///< where the tree begins
  Place place() const { return {lines_.place().file, line_}; }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& mend) const;
  bool take_bracket(char bracket);
  void take_word(std::string_view word);
  void close();

  TextLines lines_;
  std::size_t line_ = 0;
  std::string rest_;             ///< of the current line
  std::vector<ParseTree> open_;  ///< nodes without their closing bracket, outermost first
  ParseTree tree_;
};

std::string bracketed(const ParseTree& tree);
void append_words(const ParseTree& tree, std::vector<std::string>& words);
/// Label, first word and end of every node except tags, sorted.
using ParseSpan = std::tuple<std::string, std::size_t, std::size_t>;
std::vector<ParseSpan> spans_of(const ParseTree& tree);

/// '+' joins the labels of a chain of unary nodes, '@' begins the labels of nodes made by
/// binarisation; neither may occur in the labels of a file.
inline constexpr char joined_mark = '+', partial_mark = '@';
/// Binarisation, and its inverse.
ParseTree binarised(const ParseTree& tree);
ParseTree unbinarised(const ParseTree& tree);

}  // namespace maxmargin
