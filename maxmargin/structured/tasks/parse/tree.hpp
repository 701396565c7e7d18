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

/// The trees of a file, wherever lines end. Lines without brackets are sentences without a tree: a
/// node without label whose children are tags without label.
class TreeReader {
 public:
  explicit TreeReader(const std::string& path) : lines_(path) {}

  /// Whether there is one more; throws Error with its place.
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
  std::vector<ParseTree> open_;  ///< nodes that have begun
  ParseTree tree_;
};

std::string bracketed(const ParseTree& tree);
void append_words(const ParseTree& tree, std::vector<std::string>& words);
/// Label, first word and end of every node that is no tag, sorted.
using ParseSpan = std::tuple<std::string, std::size_t, std::size_t>;
std::vector<ParseSpan> spans_of(const ParseTree& tree);

/// What joins the labels of nodes with one child, and begins those that come from nodes with more
/// than two children: neither occurs in the labels of a file.
inline constexpr char joined_mark = '+', partial_mark = '@';
/// The same tree with two children everywhere.
ParseTree binarised(const ParseTree& tree);
ParseTree unbinarised(const ParseTree& tree);

}  // namespace maxmargin
