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

/// The grammar of binarised training trees.
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

/// Parsing with a weighted context-free grammar in Chomsky normal form, exact by the algorithm of
/// Cocke, Kasami and Younger in time O(rules length^3). The grammar is read from trees; there is a
/// weight for each rule, for each word with a tag, and for each tag of an unknown word. A structure
/// is a derivation in preorder: of one word its tag; of more words a rule, the number of words of
/// its left child, and the derivations of both children. Delta is the number of labelled spans,
/// tags included, that are in only one of the trees. The empty structure means that there is no
/// derivation.
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
  /// The part of a node's score that is the loss.
  double bonus(std::size_t i, std::size_t begin, std::size_t end, std::int32_t symbol,
               Ask ask) const;
  /// A binary tree as derivation; empty where the grammar lacks a rule or tag, which `missing`
  /// names.
  Structure derivation_of(const ParseTree& binary, std::string& missing) const;
  ParseTree tree_of(std::size_t i, StructureView y) const;

 private:
  const ParseGrammar& grammar_;
  const std::vector<ParseExample>& data_;
  std::map<std::string, std::vector<ParseTag>> tags_;
  std::vector<ParseTag> unknown_;
  std::map<std::string, std::int32_t> symbol_;
  std::map<ParseRule, std::size_t> rule_;
  /// For each sentence the true spans and their symbols.
  std::vector<std::map<std::pair<std::size_t, std::size_t>, std::int32_t>> right_;
};

/// The same by top-down recursion with memoisation.
class ParseWitness : public ParseOracle {
 public:
  explicit ParseWitness(const ParseOracle& other) : ParseOracle(other.grammar(), other.data()) {}
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
};

StructuredTask parse_task();

}  // namespace maxmargin
