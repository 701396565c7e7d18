#include "maxmargin/structured/tasks/parse/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "maxmargin/base/error.hpp"

namespace maxmargin {
namespace {

/// Collects rules and tags from binary trees.
class GrammarReader {
 public:
  GrammarReader(const std::vector<ParseExample>& data, std::size_t min_count) {
    for (const ParseExample& example : data)
      for (const std::string& word : example.words) ++count_[word];
    for (const ParseExample& example : data) {
      const std::int32_t root = add(binarised(example.tree), min_count);
      roots_.insert(root);
    }
    // Where no word is rare, a new word may have any tag.
    grammar_.unknown.assign(unknown_.begin(), unknown_.end());
    if (unknown_.empty()) grammar_.unknown.assign(tags_.begin(), tags_.end());
    grammar_.roots.assign(roots_.begin(), roots_.end());
  }
  ParseGrammar take() { return std::move(grammar_); }

 private:
  std::int32_t add(const ParseTree& tree, std::size_t min_count) {
    const auto [found, is_new] =
        symbol_.emplace(tree.label, static_cast<std::int32_t>(grammar_.symbols.size()));
    const std::int32_t symbol = found->second;
    if (is_new) grammar_.symbols.push_back(tree.label);
    if (tree.is_tag()) {
      tags_.insert(symbol);
      if (count_[tree.word] < min_count)
        unknown_.insert(symbol);
      else if (seen_words_.emplace(symbol, tree.word).second)
        grammar_.lexicon.emplace_back(symbol, tree.word);
      return symbol;
    }
    const std::int32_t left = add(tree.children[0], min_count);
    const std::int32_t right = add(tree.children[1], min_count);
    if (seen_rules_.insert({symbol, left, right}).second)
      grammar_.rules.push_back({symbol, left, right});
    return symbol;
  }

  ParseGrammar grammar_;
  std::map<std::string, std::size_t> count_;
  std::map<std::string, std::int32_t> symbol_;
  std::set<ParseRule> seen_rules_;
  std::set<std::pair<std::int32_t, std::string>> seen_words_;
  std::set<std::int32_t> unknown_, tags_, roots_;
};

std::int32_t symbol_in(std::string_view word, std::size_t symbols) {
  std::int32_t value = -1;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || end != word.data() + word.size() || value < 0 ||
      static_cast<std::size_t>(value) >= symbols)
    throw Error(Fault::data, "the model's grammar is damaged", "train it again");
  return value;
}

/// The words of a line, which must have this many.
std::vector<std::string_view> words_in(const std::string& line, std::size_t count) {
  const auto words = TextLines::words_of_line(line);
  if (words.size() != count)
    throw Error(Fault::data, "the model's grammar is damaged", "train it again");
  return words;
}

ParseGrammar known_grammar(const Vocabulary& known) {
  ParseGrammar grammar;
  grammar.symbols = words_of(known, "symbols");
  const std::size_t n = grammar.symbols.size();
  for (const std::string& line : words_of(known, "rules")) {
    const auto words = words_in(line, 3);
    grammar.rules.push_back(
        {symbol_in(words[0], n), symbol_in(words[1], n), symbol_in(words[2], n)});
  }
  for (const std::string& line : words_of(known, "lexicon")) {
    const auto words = words_in(line, 2);
    grammar.lexicon.emplace_back(symbol_in(words[0], n), std::string(words[1]));
  }
  for (const std::string& line : words_of(known, "unknown"))
    grammar.unknown.push_back(symbol_in(line, n));
  for (const std::string& line : words_of(known, "roots"))
    grammar.roots.push_back(symbol_in(line, n));
  return grammar;
}

std::size_t common(const std::vector<ParseSpan>& a, const std::vector<ParseSpan>& b) {
  std::vector<ParseSpan> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both.size();
}

class ParseData : public StructuredData {
 public:
  ParseData(ParseGrammar grammar, std::vector<ParseExample> data, const std::string& path)
      : grammar_(std::move(grammar)), data_(std::move(data)), path_(path) {
    const ParseOracle encoder(grammar_, data_);
    for (std::size_t i = 0; i < data_.size(); ++i) {
      std::string missing;
      if (data_[i].tree.label.empty())
        missing = "a tree";
      else
        data_[i].derivation = encoder.derivation_of(binarised(data_[i].tree), missing);
      if (!data_[i].derivation.empty() && !encoder.is_structure(i, data_[i].derivation)) {
        data_[i].derivation.clear();
        missing = "the root " + data_[i].tree.label;
      }
      labelled_ = labelled_ && !data_[i].tree.label.empty();
      if (!missing.empty() && unknown_.empty())
        unknown_ = Error(Fault::data, Place{path, data_[i].line},
                         data_[i].tree.label.empty()
                             ? "the sentence has no tree"
                             : "the grammar of the training trees does not have " + missing)
                       .what();
    }
    oracle_ = std::make_unique<ParseOracle>(grammar_, data_);
    witness_ = std::make_unique<ParseWitness>(*oracle_);
  }

  const Oracle& oracle() const override { return *oracle_; }
  const Oracle& witness() const override { return *witness_; }
  Vocabulary vocabulary() const override {
    Vocabulary words{{"symbols", grammar_.symbols},
                     {"rules", {}},
                     {"lexicon", {}},
                     {"unknown", {}},
                     {"roots", {}}};
    for (const ParseRule& rule : grammar_.rules)
      words["rules"].push_back(std::to_string(rule.parent) + " " + std::to_string(rule.left) + " " +
                               std::to_string(rule.right));
    for (const auto& [symbol, word] : grammar_.lexicon)
      words["lexicon"].push_back(std::to_string(symbol) + " " + word);
    for (const std::int32_t each : grammar_.unknown)
      words["unknown"].push_back(std::to_string(each));
    for (const std::int32_t each : grammar_.roots) words["roots"].push_back(std::to_string(each));
    return words;
  }
  std::string contents() const override {
    std::size_t words = 0;
    for (const ParseExample& example : data_) words += example.words.size();
    return std::to_string(data_.size()) + " sentences of " + std::to_string(words) + " words, " +
           std::to_string(grammar_.rules.size()) + " rules";
  }
  bool labelled() const override { return labelled_; }
  std::string unknown() const override { return unknown_; }
  void print(std::size_t i, StructureView y, std::span<const double>,
             std::string& out) const override {
    out += bracketed(oracle_->tree_of(i, y)) + "\n";
  }
  std::string trouble(std::span<const Structure> found) const override {
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i].empty())
        return Error(Fault::data, Place{path_, data_[i].line},
                     "the grammar of the training trees cannot derive this sentence")
            .what();
    return {};
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double equal = 0, both = 0, found = 0, wanted = 0, underivable = 0;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const ParseTree tree = oracle_->tree_of(examples[k], predicted[k]);
      const ParseTree& right = data_[examples[k]].tree;
      const auto mine = spans_of(tree), its = spans_of(right);
      equal += bracketed(tree) == bracketed(right) ? 1 : 0;
      both += static_cast<double>(common(mine, its));
      found += static_cast<double>(mine.size());
      wanted += static_cast<double>(its.size());
      underivable += predicted[k].empty() ? 1 : 0;
    }
    const double n = static_cast<double>(examples.size());
    return {{"accuracy", equal / n},
            {"precision", found > 0 ? both / found : 1},
            {"recall", wanted > 0 ? both / wanted : 1},
            {"f1", found + wanted > 0 ? 2 * both / (found + wanted) : 1},
            {"without_derivation", underivable}};
  }

 private:
  ParseGrammar grammar_;
  std::vector<ParseExample> data_;
  std::string path_;
  bool labelled_ = true;
  std::string unknown_;
  std::unique_ptr<ParseOracle> oracle_;
  std::unique_ptr<ParseWitness> witness_;
};

std::unique_ptr<StructuredData> read_parse(const std::string& path, const Settings& settings,
                                           const Vocabulary* known, const Threads&) {
  const std::size_t min_count = settings.count("min-count", 1, UINT32_MAX);
  std::vector<ParseExample> data;
  for (TreeReader reader(path); reader.next();) {
    ParseExample example;
    example.tree = reader.tree();
    example.line = reader.line();
    append_words(example.tree, example.words);
    if (known == nullptr && example.tree.label.empty())
      throw Error(Fault::data, reader.place(), "the sentence has no tree",
                  "write it in brackets, as in (S (NP He) (VP runs))");
    data.push_back(std::move(example));
  }
  if (data.empty()) throw Error(Fault::data, Place{path}, "there are no trees", "give some");
  ParseGrammar grammar =
      known != nullptr ? known_grammar(*known) : GrammarReader(data, min_count).take();
  for (const ParseExample& example : data) {
    const double n = static_cast<double>(example.words.size()) + 1;
    if (n * n * static_cast<double>(grammar.symbols.size()) > 1e8)
      throw Error(Fault::data, Place{path, example.line},
                  "the sentence is too long for a grammar of " +
                      std::to_string(grammar.symbols.size()) + " symbols",
                  "leave it out");
  }
  return std::make_unique<ParseData>(std::move(grammar), std::move(data), path);
}

constexpr std::array parse_options{
    TaskOption{"min-count", "N", "2", "words that occur less often are unknown words"}};

}  // namespace

StructuredTask parse_task() {
  return {"parse", "trees of sentences, by a grammar read from trees in bracket form",
          parse_options, read_parse};
}

}  // namespace maxmargin
