#include "maxmargin/structured/tasks/parse/tree.hpp"

#include <algorithm>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t deepest = 300, longest_sentence = 400;

void append_spans(const ParseTree& tree, std::size_t& at, std::vector<ParseSpan>& spans) {
  if (tree.is_tag()) {
    ++at;
    return;
  }
  const std::size_t begin = at;
  for (const ParseTree& child : tree.children) append_spans(child, at, spans);
  spans.emplace_back(tree.label, begin, at);
}

/// The children of a node; those of partial nodes replace these.
void append_whole_children(const ParseTree& tree, std::vector<ParseTree>& children) {
  for (const ParseTree& child : tree.children)
    if (child.label.starts_with(partial_mark))
      append_whole_children(child, children);
    else
      children.push_back(unbinarised(child));
}

}  // namespace

void TreeReader::refuse(const std::string& what, const std::string& mend) const {
  throw Error(Fault::data, lines_.place(), what, mend);
}

/// Closes the innermost node.
void TreeReader::close() {
  ParseTree node = std::move(open_.back());
  open_.pop_back();
  if (node.is_tag() && node.word.empty()) refuse("a bracket is empty", "write (LABEL word)");
  // An outermost bracket without a label, as in the Penn treebank.
  if (node.label.empty() && open_.empty() && node.children.size() == 1)
    node = ParseTree(std::move(node.children[0]));
  if (node.label.empty()) refuse("a bracket has no label", "write (LABEL ...)");
  if (open_.empty())
    tree_ = std::move(node);
  else if (!open_.back().word.empty())
    refuse("a word stands beside a bracket", "give each word a tag of its own");
  else
    open_.back().children.push_back(std::move(node));
}

/// Returns whether this closes the tree.
bool TreeReader::take_bracket(char bracket) {
  if (bracket == '(') {
    if (open_.empty()) line_ = lines_.number();
    if (open_.size() == deepest) refuse("a tree is too deep", "brackets may be 300 deep");
    if (!open_.empty() && !open_.back().word.empty())
      refuse("a word stands beside a bracket", "give each word a tag of its own");
    open_.emplace_back();
    return false;
  }
  if (open_.empty()) refuse("a bracket ends that did not begin", "look for a lost (");
  close();
  return open_.empty();
}

void TreeReader::take_word(std::string_view word) {
  if (open_.empty()) refuse(shown(word) + " stands outside of brackets", "look for a lost (");
  ParseTree& node = open_.back();
  if (node.label.empty() && node.children.empty()) {
    if (word.find(joined_mark) != std::string_view::npos || word.starts_with(partial_mark))
      refuse("the label " + shown(word) + " has a + in it or begins with @", "rename it");
    node.label = word;
  } else if (!node.word.empty() || !node.children.empty()) {
    refuse("the word " + shown(word) + " stands beside others", "give each word a tag of its own");
  } else {
    node.word = word;
  }
}

bool TreeReader::next() {
  while (true) {
    while (!rest_.empty()) {
      if (rest_[0] == '(' || rest_[0] == ')') {
        const char bracket = rest_[0];
        rest_.erase(0, 1);
        if (!take_bracket(bracket)) continue;
        std::vector<std::string> words;
        append_words(tree_, words);
        if (words.size() > longest_sentence)
          refuse("a sentence has more than 400 words", "leave it out");
        return true;
      }
      if (rest_[0] == ' ' || rest_[0] == '\t') {
        rest_.erase(0, 1);
        continue;
      }
      const std::size_t end = std::min(rest_.find_first_of(" \t()"), rest_.size());
      take_word(std::string_view(rest_).substr(0, end));
      rest_.erase(0, end);
    }
    if (!lines_.next()) {
      if (!open_.empty()) refuse("the file ends within brackets", "look for a lost )");
      return false;
    }
    const auto words = lines_.words();
    if (open_.empty() && !words.empty() && lines_.line().find('(') == std::string_view::npos &&
        lines_.line().find(')') == std::string_view::npos) {
      if (words.size() > longest_sentence)
        refuse("a sentence has more than 400 words", "leave it out");
      line_ = lines_.number();
      tree_ = {};
      for (const std::string_view word : words)
        tree_.children.push_back({"", std::string(word), {}});
      return true;
    }
    rest_ = lines_.line();
  }
}

std::string bracketed(const ParseTree& tree) {
  std::string text = "(" + tree.label;
  for (const ParseTree& child : tree.children) text += " " + bracketed(child);
  return text + (tree.is_tag() ? " " + tree.word : "") + ")";
}

void append_words(const ParseTree& tree, std::vector<std::string>& words) {
  if (tree.is_tag()) words.push_back(tree.word);
  for (const ParseTree& child : tree.children) append_words(child, words);
}

std::vector<ParseSpan> spans_of(const ParseTree& tree) {
  std::vector<ParseSpan> spans;
  std::size_t at = 0;
  append_spans(tree, at, spans);
  std::ranges::sort(spans);
  return spans;
}

ParseTree binarised(const ParseTree& tree) {
  const ParseTree* node = &tree;
  ParseTree result;
  result.label = tree.label;
  while (node->children.size() == 1) {
    node = &node->children[0];
    result.label += joined_mark + node->label;
  }
  result.word = node->word;
  if (node->is_tag()) return result;
  // A -> B C D: A -> B @A, @A -> C D.
  const std::size_t last = node->children.size() - 1;
  const std::string partial = partial_mark + result.label;
  ParseTree right = binarised(node->children[last]);
  for (std::size_t k = last - 1; k > 0; --k) {
    ParseTree joined{partial, "", {}};
    joined.children.push_back(binarised(node->children[k]));
    joined.children.push_back(std::move(right));
    right = std::move(joined);
  }
  result.children.push_back(binarised(node->children[0]));
  result.children.push_back(std::move(right));
  return result;
}

ParseTree unbinarised(const ParseTree& tree) {
  ParseTree inner{"", tree.word, {}};
  append_whole_children(tree, inner.children);
  std::string labels = tree.label;
  for (std::size_t mark; (mark = labels.rfind(joined_mark)) != std::string::npos;) {
    inner.label = labels.substr(mark + 1);
    labels.resize(mark);
    ParseTree outer;
    outer.children.push_back(std::move(inner));
    inner = std::move(outer);
  }
  inner.label = labels;
  return inner;
}

}  // namespace maxmargin
