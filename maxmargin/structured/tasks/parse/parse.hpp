#pragma once

#include <map>
#include <set>

#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/parse/tree.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// A -> B C, by numbers of symbols.
struct ParseRule {
  std::int32_t parent = 0, left = 0, right = 0;
  auto operator<=>(const ParseRule&) const = default;
};

/// What training trees, made binary, consist of.
struct ParseGrammar {
  std::vector<std::string> symbols;
  std::vector<ParseRule> rules;
  std::vector<std::pair<std::int32_t, std::string>> lexicon;  ///< tags of words
  std::vector<std::int32_t> unknown;  ///< tags of words that are not in the lexicon
  std::vector<std::int32_t> roots;

  bool is_partial(std::int32_t symbol) const {
    return symbols[static_cast<std::size_t>(symbol)].starts_with(partial_mark);
  }
};

struct ParseExample {
  std::vector<std::string> words;
  ParseTree tree;
  Structure derivation;  ///< empty: there is no tree, or the grammar does not derive it
  std::size_t line = 0;
};

/// A tag that a word may have, and its feature.
struct ParseTag {
  std::int32_t symbol = 0;
  std::size_t feature = 0;
};

/// Trees of a grammar that was read from trees: a weight for each rule, for each word with a tag,
/// and for each tag of an unknown word. A structure is a derivation in preorder: a tag for one
/// word; for more words a rule, how many of them are its left child's, the derivations of both
/// children. Delta is the number of labelled spans, tags among them, that are in one tree only.
/// Found exactly by the algorithm of Cocke, Kasami and Younger: rules times the cube of the length.
/// The empty structure says that there is no derivation.
class ParseOracle : public Oracle {
 public:
  /// Both outlive it.
  ParseOracle(const ParseGrammar& grammar, const std::vector<ParseExample>& data);

  std::size_t examples() const override { return data_.size(); }
  std::size_t dimensions() const override {
    return grammar_.rules.size() + grammar_.lexicon.size() + grammar_.unknown.size();
  }
  Structure truth(std::size_t i) const override { return data_[i].derivation; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override {
    return "sentence " + std::to_string(i + 1) + " (line " + std::to_string(data_[i].line) + ")";
  }

  const ParseGrammar& grammar() const { return grammar_; }
  const std::vector<ParseExample>& data() const { return data_; }
  /// The tags that a word may have.
  const std::vector<ParseTag>& tags(const std::string& word) const;
  /// What a node of a span gains, apart from w, as asked.
  double bonus(std::size_t i, std::size_t begin, std::size_t end, std::int32_t symbol,
               Ask ask) const;
  /// A binary tree as derivation; empty: the grammar has it not, and `missing` says what.
  Structure derivation_of(const ParseTree& binary, std::string& missing) const;
  ParseTree tree_of(std::size_t i, StructureView y) const;

 private:
  const ParseGrammar& grammar_;
  const std::vector<ParseExample>& data_;
  std::map<std::string, std::vector<ParseTag>> tags_;
  std::vector<ParseTag> unknown_;
  std::map<std::string, std::int32_t> symbol_;
  std::map<ParseRule, std::size_t> rule_;
  /// Of each sentence the symbols of the right spans.
  std::vector<std::map<std::pair<std::size_t, std::size_t>, std::int32_t>> right_;
};

/// The same trees from the whole sentence down to its words, what is known kept.
class ParseWitness : public ParseOracle {
 public:
  explicit ParseWitness(const ParseOracle& other) : ParseOracle(other.grammar(), other.data()) {}
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
};

StructuredTask parse_task();

}  // namespace maxmargin
