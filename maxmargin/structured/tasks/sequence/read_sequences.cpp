#include "maxmargin/structured/tasks/sequence/read_sequences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/feature_row.hpp"
#include "maxmargin/structured/tasks/sequence/template.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

constexpr Index unknown = std::numeric_limits<Index>::max();

/// Numbers for words; `closed`: no new words are added.
class Lexicon {
 public:
  Lexicon(std::vector<std::string>& words, bool closed) : words_(words), closed_(closed) {
    for (std::size_t k = 0; k < words.size(); ++k) numbers_.emplace(words[k], k);
  }
  Index number(std::string_view word) {
    const auto found = numbers_.find(word);
    if (found != numbers_.end()) return found->second;
    if (closed_) return unknown;
    const Index number = static_cast<Index>(words_.size());
    words_.emplace_back(word);
    numbers_.emplace(words_.back(), number);
    return number;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::vector<std::string>& words_;
  std::unordered_map<std::string, Index, Hash, std::equal_to<>> numbers_;
  bool closed_;
};

class SequenceReader {
 public:
  SequenceReader(const std::string& path, const SequenceReading& reading,
                 const ReadSequences* known)
      : lines_(path),
        reading_(reading),
        known_(known != nullptr),
        labels_(init(known).labels, false),
        attributes_(read_.attributes, known_) {
    known_labels_ = read_.labels.size();
    read_.format = reading.format;
    read_.pattern = reading.pattern;
  }

  ReadSequences all() {
    while (lines_.next()) {
      if (lines_.number() == 1 && lines_.line().starts_with("\xEF\xBB\xBF"))
        refuse("the file begins with a byte order mark", "save it without one");
      if (trimmed(lines_.line()).empty()) {
        end_sentence();
        continue;
      }
      if (read_.format == SequenceFormat::automatic) guess();
      switch (read_.format) {
        case SequenceFormat::crfsuite:
          take_attributes();
          break;
        case SequenceFormat::svmhmm:
          take_row();
          break;
        default:
          take_columns();
      }
    }
    end_sentence();
    if (examples().size() == 0)
      throw Error(Fault::data, Place{lines_.place().file}, "there are no sequences",
                  "give a file that has some");
    finish();
    return std::move(read_);
  }

 private:
  ReadSequences& init(const ReadSequences* known) {
    if (known != nullptr) {
      read_.labels = known->labels;
      read_.attributes = known->attributes;
    }
    return read_;
  }
  SequenceExamples& examples() { return read_.examples; }
  [[noreturn]] void refuse(const std::string& what, const std::string& mend) const {
    throw Error(Fault::data, lines_.place(), what, mend);
  }

  /// Decides by the first line: SVM-hmm rows have a qid, CRFsuite's attributes are separated by
  /// tabs.
  void guess() {
    const auto words = lines_.words();
    if (words.size() > 1 && words[1].starts_with("qid:"))
      read_.format = SequenceFormat::svmhmm;
    else
      read_.format = lines_.line().find('\t') != std::string_view::npos &&
                             lines_.line().find(' ') == std::string_view::npos &&
                             lines_.line().find_first_of("=:[") != std::string_view::npos
                         ? SequenceFormat::crfsuite
                         : SequenceFormat::conll;
  }

  void begin_token(std::string_view label) {
    if (examples().sentence.back() == examples().label.size())
      examples().line.push_back(lines_.number());
    const Index number = labels_.number(label);
    if (known_ && number >= known_labels_ && read_.unknown.empty())
      read_.unknown = lines_.place().file + ":" + std::to_string(lines_.number()) + ": label " +
                      shown(label) + " does not occur in the training data";
    check_follows(number);
    examples().label.push_back(static_cast<std::int32_t>(number));
  }
  void check_follows(Index number) {
    if (!reading_.bio || !read_.labels[number].starts_with("I-")) return;
    const bool first = examples().sentence.back() == examples().label.size();
    const std::string kind = read_.labels[number].substr(2);
    const std::string before =
        first ? "" : read_.labels[static_cast<std::size_t>(examples().label.back())];
    if (before != "I-" + kind && before != "B-" + kind)
      refuse("label " + shown(read_.labels[number]) + " follows " +
                 (first ? "the beginning" : shown(before)) + ", which --constraints bio forbids",
             "mend the labels, or leave the option out");
  }
  void add(Index attribute, double value) {
    if (attribute == unknown) return;
    examples().attribute.push_back(attribute);
    if (value != 1 && examples().value.empty())
      examples().value.assign(examples().attribute.size() - 1, 1.0f);
    if (!examples().value.empty() || value != 1)
      examples().value.push_back(static_cast<float>(value));
  }
  void end_token() { examples().token.push_back(examples().attribute.size()); }

  void take_columns() {
    const auto words = lines_.words();
    if (columns_ == 0) columns_ = words.size();
    if (words.size() != columns_)
      refuse("a token with " + std::to_string(words.size()) + " columns where the others have " +
                 std::to_string(columns_),
             "the last column is the label: each token needs all of them");
    if (columns_ < 2)
      refuse("a token has no label", "give at least two columns, the last with the label");
    begin_token(words.back());
    for (std::size_t c = 0; c + 1 < words.size(); ++c) cells_.emplace_back(words[c]);
  }

  /// Expands the template, for which the whole sentence has to be read.
  void expand_columns() {
    if (patterns_.empty()) {
      if (read_.pattern.empty()) read_.pattern = AttributeTemplate::standard(columns_ - 1);
      patterns_.emplace_back(read_.pattern,
                             reading_.pattern_file.empty() ? "template" : reading_.pattern_file);
      if (patterns_[0].columns() > columns_ - 1)
        refuse("the template asks for column " + std::to_string(patterns_[0].columns() - 1) +
                   ", tokens have " + std::to_string(columns_ - 1) + " before the label",
               "columns count from 0: mend the template");
    }
    const AttributeTemplate& pattern = patterns_[0];
    const std::size_t width = columns_ - 1, length = cells_.size() / width;
    std::vector<TokenColumns> sentence(length);
    for (std::size_t t = 0; t < length; ++t)
      for (std::size_t c = 0; c < width; ++c) sentence[t].push_back(cells_[t * width + c]);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t p = 0; p < pattern.size(); ++p) {
        pattern.expand(p, sentence, t, text_);
        add(attributes_.number(text_), 1);
      }
      end_token();
    }
    cells_.clear();
  }

  void take_attributes() {
    std::string_view rest = lines_.line();
    bool first = true;
    while (first || !rest.empty()) {
      const std::size_t tab = std::min(rest.find('\t'), rest.size());
      const std::string_view word = rest.substr(0, tab);
      rest.remove_prefix(std::min(tab + 1, rest.size()));
      if (first) {
        if (word.empty()) refuse("a token has no label", "write it before the first tab");
        begin_token(word);
        first = false;
        continue;
      }
      if (word.empty()) continue;
      take_attribute(word);
    }
    end_token();
  }
  /// `name` or `name:value`, where `\:` and `\\` stand for themselves.
  void take_attribute(std::string_view word) {
    text_.clear();
    std::size_t at = 0;
    for (; at < word.size() && word[at] != ':'; ++at) {
      if (word[at] == '\\' && at + 1 < word.size()) ++at;
      text_ += word[at];
    }
    double value = 1;
    if (at < word.size()) {
      const auto number = number_in(word.substr(at + 1));
      if (!number || !std::isfinite(*number) || std::abs(*number) > 1e30)
        refuse(shown(word.substr(at + 1)) + " is no value of an attribute",
               "write a number after the colon, or \\: for a colon that belongs to the name");
      value = *number;
    }
    add(attributes_.number(text_), value);
  }

  void take_row() {
    const FeatureRow row = feature_row(lines_);
    if (row.label.empty()) return;
    if (row.qid.empty()) refuse("a row has no qid", "write TAG qid:N index:value ...");
    if (row.qid != qid_) {
      end_sentence();
      qid_ = row.qid;
      if (!seen_.emplace(qid_, true).second)
        refuse("qid:" + qid_ + " occurs again after other rows",
               "rows of one sequence stand together: sort them");
    }
    begin_token(row.label);
    for (std::size_t k = 0; k < row.index.size(); ++k)
      if (row.value[k] != 0) add(attributes_.number(std::to_string(row.index[k])), row.value[k]);
    end_token();
  }

  void end_sentence() {
    if (examples().sentence.back() == examples().label.size()) return;
    if (!cells_.empty()) expand_columns();
    examples().sentence.push_back(examples().label.size());
  }

  void finish() {
    examples().labels = known_ ? known_labels_ : read_.labels.size();
    if (!known_ && reading_.min_count > 1) drop_rare();
    examples().attributes = read_.attributes.size();
    if (reading_.bio) forbid();
  }

  void drop_rare();
  void forbid();

  TextLines lines_;
  const SequenceReading& reading_;
  ReadSequences read_;
  bool known_;
  std::size_t known_labels_ = 0;
  Lexicon labels_, attributes_;
  std::size_t columns_ = 0;
  std::vector<std::string> cells_;
  std::vector<AttributeTemplate> patterns_;  ///< one, once the columns are known
  std::string text_, qid_;
  std::unordered_map<std::string, bool> seen_;
};

/// Leaves out attributes that occur less than min_count times.
void SequenceReader::drop_rare() {
  SequenceExamples& all = examples();
  std::vector<std::uint64_t> count(read_.attributes.size());
  for (const Index attribute : all.attribute) ++count[attribute];
  std::vector<Index> renumbered(count.size(), unknown);
  std::vector<std::string> used;
  for (std::size_t a = 0; a < count.size(); ++a)
    if (count[a] >= reading_.min_count) {
      renumbered[a] = static_cast<Index>(used.size());
      used.push_back(std::move(read_.attributes[a]));
    }
  std::uint64_t to = 0, from = 0;
  for (std::size_t t = 0; t + 1 < all.token.size(); ++t) {
    const std::uint64_t end = all.token[t + 1];
    for (; from < end; ++from) {
      if (renumbered[all.attribute[from]] == unknown) continue;
      all.attribute[to] = renumbered[all.attribute[from]];
      if (!all.value.empty()) all.value[to] = all.value[from];
      ++to;
    }
    all.token[t + 1] = to;
  }
  all.attribute.resize(to);
  all.attribute.shrink_to_fit();
  if (!all.value.empty()) all.value.resize(to);
  read_.attributes = std::move(used);
}

void SequenceReader::forbid() {
  const std::vector<std::string>& labels = read_.labels;
  const std::size_t L = examples().labels;
  examples().allowed.assign(L, std::vector<char>(L, 1));
  examples().allowed_first.assign(L, 1);
  for (std::size_t b = 0; b < L; ++b) {
    if (!labels[b].starts_with("I-")) continue;
    examples().allowed_first[b] = 0;
    for (std::size_t a = 0; a < L; ++a)
      if (labels[a] != labels[b] && labels[a] != "B-" + labels[b].substr(2))
        examples().allowed[a][b] = 0;
  }
}

}  // namespace

ReadSequences read_sequences(const std::string& path, const SequenceReading& reading,
                             const ReadSequences* known) {
  return SequenceReader(path, reading, known).all();
}

}  // namespace maxmargin
