#include <algorithm>
#include <optional>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/parse/parse.hpp"

namespace maxmargin {
namespace {

/// Calls visit(begin, end, symbol, rule) for each node of a derivation, rule -1 for tags; whether
/// it is one of these rules and symbols.
template <class Visit>
class Walk {
 public:
  Walk(const ParseGrammar& grammar, StructureView y, Visit& visit)
      : grammar_(grammar), y_(y), visit_(visit) {}

  /// The symbol of the node that begins here; nothing where there is no valid node.
  std::optional<std::int32_t> node(std::size_t begin, std::size_t end) {
    if (at_ >= y_.size()) return std::nullopt;
    const std::int32_t first = y_[at_++];
    if (end - begin == 1) {
      if (first < 0 || static_cast<std::size_t>(first) >= grammar_.symbols.size())
        return std::nullopt;
      visit_(begin, end, first, -1);
      return first;
    }
    if (first < 0 || static_cast<std::size_t>(first) >= grammar_.rules.size() || at_ >= y_.size())
      return std::nullopt;
    const std::int32_t left = y_[at_++];
    if (left < 1 || static_cast<std::size_t>(left) >= end - begin) return std::nullopt;
    const ParseRule& rule = grammar_.rules[static_cast<std::size_t>(first)];
    visit_(begin, end, rule.parent, first);
    const std::size_t middle = begin + static_cast<std::size_t>(left);
    if (node(begin, middle) != rule.left || node(middle, end) != rule.right) return std::nullopt;
    return rule.parent;
  }
  bool ended() const { return at_ == y_.size(); }

 private:
  const ParseGrammar& grammar_;
  StructureView y_;
  Visit& visit_;
  std::size_t at_ = 0;
};

template <class Visit>
bool walk(const ParseGrammar& grammar, std::size_t words, StructureView y, Visit&& visit) {
  Walk<Visit> walk(grammar, y, visit);
  const auto root = walk.node(0, words);
  return root && walk.ended() && std::ranges::find(grammar.roots, *root) != grammar.roots.end();
}

/// The chart: the best node of each span and symbol, with back pointers.
struct Chart {
  Chart(std::size_t words, std::size_t count)
      : n(words), symbols(count), cells((words + 1) * (words + 1) * count) {}
  struct Cell {
    double value = -infinity;
    std::int32_t rule = -1;
    std::uint32_t middle = 0;
    bool known = false;
  };
  Cell& at(std::size_t begin, std::size_t end, std::int32_t symbol) {
    return cells[(begin * (n + 1) + end) * symbols + static_cast<std::size_t>(symbol)];
  }
  void append(const ParseGrammar& grammar, std::size_t begin, std::size_t end, std::int32_t symbol,
              Structure& y) {
    const Cell& cell = at(begin, end, symbol);
    if (end - begin == 1) {
      y.push_back(symbol);
      return;
    }
    y.push_back(cell.rule);
    y.push_back(static_cast<std::int32_t>(cell.middle - begin));
    const ParseRule& rule = grammar.rules[static_cast<std::size_t>(cell.rule)];
    append(grammar, begin, cell.middle, rule.left, y);
    append(grammar, cell.middle, end, rule.right, y);
  }
  /// The derivation of the best root; empty: there is none.
  Structure best(const ParseGrammar& grammar) {
    double most = -infinity;
    std::int32_t best = -1;
    for (const std::int32_t root : grammar.roots)
      if (at(0, n, root).value > most) {
        most = at(0, n, root).value;
        best = root;
      }
    Structure y;
    if (best >= 0) append(grammar, 0, n, best, y);
    return y;
  }
  std::size_t n, symbols;
  std::vector<Cell> cells;
};

}  // namespace

ParseOracle::ParseOracle(const ParseGrammar& grammar, const std::vector<ParseExample>& data)
    : grammar_(grammar), data_(data) {
  for (std::size_t s = 0; s < grammar.symbols.size(); ++s)
    symbol_[grammar.symbols[s]] = static_cast<std::int32_t>(s);
  for (std::size_t r = 0; r < grammar.rules.size(); ++r) rule_[grammar.rules[r]] = r;
  std::size_t feature = grammar.rules.size();
  for (const auto& [symbol, word] : grammar.lexicon) tags_[word].push_back({symbol, feature++});
  for (const std::int32_t symbol : grammar.unknown) unknown_.push_back({symbol, feature++});
  for (const ParseExample& example : data) {
    auto& spans = right_.emplace_back();
    walk(grammar, example.words.size(), example.derivation,
         [&](std::size_t begin, std::size_t end, std::int32_t symbol, std::int32_t) {
           if (!grammar.is_partial(symbol)) spans[{begin, end}] = symbol;
         });
  }
}

const std::vector<ParseTag>& ParseOracle::tags(const std::string& word) const {
  const auto found = tags_.find(word);
  return found == tags_.end() ? unknown_ : found->second;
}

double ParseOracle::loss(std::size_t i, StructureView y) const {
  double both = 0, in_y = 0;
  walk(grammar_, data_[i].words.size(), y,
       [&](std::size_t begin, std::size_t end, std::int32_t symbol, std::int32_t) {
         if (grammar_.is_partial(symbol)) return;
         ++in_y;
         const auto found = right_[i].find({begin, end});
         both += found != right_[i].end() && found->second == symbol ? 1 : 0;
       });
  return static_cast<double>(right_[i].size()) + in_y - 2 * both;
}

void ParseOracle::features(std::size_t i, StructureView y, double scale, JointFeatures& out) const {
  walk(grammar_, data_[i].words.size(), y,
       [&](std::size_t begin, std::size_t, std::int32_t symbol, std::int32_t rule) {
         if (rule >= 0) {
           out.add(static_cast<std::size_t>(rule), scale);
           return;
         }
         for (const ParseTag& tag : tags(data_[i].words[begin]))
           if (tag.symbol == symbol) out.add(tag.feature, scale);
       });
}

bool ParseOracle::is_structure(std::size_t i, StructureView y) const {
  bool tagged = true;
  return walk(grammar_, data_[i].words.size(), y,
              [&](std::size_t begin, std::size_t, std::int32_t symbol, std::int32_t rule) {
                if (rule >= 0) return;
                const auto& allowed = tags(data_[i].words[begin]);
                tagged = tagged &&
                         std::ranges::find(allowed, symbol, &ParseTag::symbol) != allowed.end();
              }) &&
         tagged;
}

double ParseOracle::bonus(std::size_t i, std::size_t begin, std::size_t end, std::int32_t symbol,
                          Ask ask) const {
  if (ask == Ask::best || grammar_.is_partial(symbol)) return 0;
  const auto found = right_[i].find({begin, end});
  return found != right_[i].end() && found->second == symbol ? -1 : 1;
}

Structure ParseOracle::derivation_of(const ParseTree& binary, std::string& missing) const {
  std::vector<std::string> words;
  append_words(binary, words);
  const auto symbol = symbol_.find(binary.label);
  if (symbol == symbol_.end()) {
    missing = "the label " + binary.label;
    return {};
  }
  if (binary.is_tag()) {
    const auto& allowed = tags(binary.word);
    if (std::ranges::find(allowed, symbol->second, &ParseTag::symbol) == allowed.end()) {
      missing = "the word " + binary.word + " as " + binary.label;
      return {};
    }
    return {symbol->second};
  }
  const ParseTree &left = binary.children[0], &right = binary.children[1];
  const Structure of_left = derivation_of(left, missing);
  const Structure of_right = of_left.empty() ? Structure{} : derivation_of(right, missing);
  if (of_right.empty()) return {};
  const auto rule = rule_.find({symbol->second, symbol_.at(left.label), symbol_.at(right.label)});
  if (rule == rule_.end()) {
    missing = "the rule " + binary.label + " -> " + left.label + " " + right.label;
    return {};
  }
  std::vector<std::string> left_words;
  append_words(left, left_words);
  Structure y{static_cast<std::int32_t>(rule->second),
              static_cast<std::int32_t>(left_words.size())};
  y.insert(y.end(), of_left.begin(), of_left.end());
  y.insert(y.end(), of_right.begin(), of_right.end());
  return y;
}

ParseTree ParseOracle::tree_of(std::size_t i, StructureView y) const {
  ParseTree flat{"?", "", {}};
  if (y.empty()) {
    for (const std::string& word : data_[i].words) flat.children.push_back({"?", word, {}});
    return flat;
  }
  // In preorder: each node is the next child of the innermost node that lacks one.
  struct Open {
    ParseTree* node;
    std::size_t end;
  };
  ParseTree root;
  std::vector<Open> open;
  walk(grammar_, data_[i].words.size(), y,
       [&](std::size_t begin, std::size_t end, std::int32_t symbol, std::int32_t rule) {
         while (!open.empty() && open.back().end <= begin) open.pop_back();
         ParseTree* node = &root;
         if (!open.empty()) {
           open.back().node->children.emplace_back();
           node = &open.back().node->children.back();
         }
         node->label = grammar_.symbols[static_cast<std::size_t>(symbol)];
         node->children.reserve(2);  // pointers to them stay good
         if (rule < 0)
           node->word = data_[i].words[begin];
         else
           open.push_back({node, end});
       });
  return unbinarised(root);
}

Structure ParseOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::vector<std::string>& words = data_[i].words;
  const std::size_t n = words.size();
  Chart chart(n, grammar_.symbols.size());
  for (std::size_t at = 0; at < n; ++at)
    for (const ParseTag& tag : tags(words[at]))
      chart.at(at, at + 1, tag.symbol).value =
          w[tag.feature] + bonus(i, at, at + 1, tag.symbol, ask);
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t begin = 0; begin + length <= n; ++begin) {
      const std::size_t end = begin + length;
      for (std::size_t r = 0; r < grammar_.rules.size(); ++r) {
        const ParseRule& rule = grammar_.rules[r];
        Chart::Cell& cell = chart.at(begin, end, rule.parent);
        const double base = w[r] + bonus(i, begin, end, rule.parent, ask);
        for (std::size_t middle = begin + 1; middle < end; ++middle) {
          const double value = base + chart.at(begin, middle, rule.left).value +
                               chart.at(middle, end, rule.right).value;
          if (value > cell.value) {
            cell.value = value;
            cell.rule = static_cast<std::int32_t>(r);
            cell.middle = static_cast<std::uint32_t>(middle);
          }
        }
      }
    }
  return chart.best(grammar_);
}

Structure ParseWitness::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::vector<std::string>& words = data()[i].words;
  Chart chart(words.size(), grammar().symbols.size());
  const auto solve = [&](const auto& self, std::size_t begin, std::size_t end,
                         std::int32_t symbol) -> double {
    Chart::Cell& cell = chart.at(begin, end, symbol);
    if (cell.known) return cell.value;
    cell.known = true;
    const double extra = bonus(i, begin, end, symbol, ask);
    if (end - begin == 1) {
      for (const ParseTag& tag : tags(words[begin]))
        if (tag.symbol == symbol) cell.value = w[tag.feature] + extra;
      return cell.value;
    }
    for (std::size_t r = grammar().rules.size(); r-- > 0;) {
      const ParseRule& rule = grammar().rules[r];
      if (rule.parent != symbol) continue;
      for (std::size_t middle = end - 1; middle > begin; --middle) {
        const double left = self(self, begin, middle, rule.left);
        if (left == -infinity) continue;
        const double value = left + self(self, middle, end, rule.right) + w[r] + extra;
        if (value > cell.value) {
          cell.value = value;
          cell.rule = static_cast<std::int32_t>(r);
          cell.middle = static_cast<std::uint32_t>(middle);
        }
      }
    }
    return cell.value;
  };
  for (const std::int32_t root : grammar().roots) solve(solve, 0, words.size(), root);
  return chart.best(grammar());
}

}  // namespace maxmargin
