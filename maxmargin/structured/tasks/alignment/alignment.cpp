#include "maxmargin/structured/tasks/alignment/alignment.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t longest = 100000;

bool is_outside(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

/// A line taken apart: what stands before the alignment, in it with gaps, and after it.
struct AlignedLine {
  std::string_view before, inside, after;
};

AlignedLine aligned_line(std::string_view line, bool local) {
  if (!local) return {{}, line, {}};
  std::size_t begin = 0, end = line.size();
  while (begin < end && is_outside(line[begin])) ++begin;
  while (end > begin && is_outside(line[end - 1])) --end;
  return {line.substr(0, begin), line.substr(begin, end - begin), line.substr(end)};
}

class AlignmentReader {
 public:
  AlignmentReader(const std::string& path, bool local, const Vocabulary* known)
      : lines_(path), known_(known != nullptr) {
    data_.local = local;
    if (known_) symbols_ = words_of(*known, "symbols");
  }

  AlignmentExamples read() {
    std::vector<std::string> pair;
    const auto end = [&] {
      if (pair.empty()) return;
      if (pair.size() != 2)
        throw Error(Fault::data, lines_.place(), "an alignment is two lines, here is one",
                    "write both strings, then an empty line");
      add(pair);
      pair.clear();
    };
    while (lines_.next()) {
      const auto words = lines_.words();
      if (words.empty()) {
        end();
        continue;
      }
      if (words.size() > 1 || words[0].size() > longest)
        throw Error(Fault::data, lines_.place(), "a string has blanks or is too long",
                    "write one word of at most 100000 symbols");
      if (pair.size() == 2)
        throw Error(Fault::data, lines_.place(), "an alignment is two lines, here is a third",
                    "write an empty line between alignments");
      pair.emplace_back(words[0]);
    }
    end();
    if (data_.examples.empty())
      throw Error(Fault::data, lines_.place(), "there are no alignments", "give some");
    data_.symbols = symbols_.size();
    return std::move(data_);
  }
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  std::int32_t symbol(char c) {
    if (data_.local) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const std::string word(1, c);
    const auto found = std::ranges::find(symbols_, word);
    if (found != symbols_.end()) return static_cast<std::int32_t>(found - symbols_.begin());
    if (known_) return -1;
    symbols_.push_back(word);
    return static_cast<std::int32_t>(symbols_.size() - 1);
  }

  void add(const std::vector<std::string>& pair) {
    AlignmentExample example;
    example.line = lines_.number() - 1;
    std::array<AlignedLine, 2> line;
    for (std::size_t k = 0; k < 2; ++k) {
      line[k] = aligned_line(pair[k], data_.local);
      for (const char c : pair[k]) {
        if (c == '-') continue;
        example.text[k] += c;
        example.symbols[k].push_back(symbol(c));
      }
    }
    const bool gaps =
        pair[0].find('-') != std::string::npos || pair[1].find('-') != std::string::npos;
    const std::size_t size = line[0].inside.size();
    if (size == line[1].inside.size()) {
      example.path = {static_cast<std::int32_t>(line[0].before.size()),
                      static_cast<std::int32_t>(line[1].before.size())};
      for (std::size_t k = 0; k < size; ++k) {
        const bool first = line[0].inside[k] != '-', second = line[1].inside[k] != '-';
        if (!first && !second)
          throw Error(Fault::data, lines_.place(), "a column has two gaps", "leave it out");
        example.path.push_back(first && second ? 0 : first ? 1 : 2);
      }
    } else if (gaps) {
      throw Error(Fault::data, lines_.place(),
                  "the aligned strings have " + std::to_string(size) + " and " +
                      std::to_string(line[1].inside.size()) + " columns",
                  "write as many in both, with - for gaps");
    }
    data_.examples.push_back(std::move(example));
  }

  TextLines lines_;
  bool known_;
  std::vector<std::string> symbols_;
  AlignmentExamples data_;
};

class AlignmentData : public StructuredData {
 public:
  AlignmentData(AlignmentExamples data, std::vector<std::string> symbols)
      : data_(std::move(data)), symbols_(std::move(symbols)), oracle_(data_), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override { return {{"symbols", symbols_}}; }
  std::string contents() const override {
    return std::to_string(data_.examples.size()) + " pairs of strings over " +
           std::to_string(symbols_.size()) + " symbols";
  }
  bool labelled() const override {
    return std::ranges::none_of(data_.examples,
                                [](const AlignmentExample& each) { return each.path.empty(); });
  }
  std::string unknown() const override {
    return labelled() ? "" : "some pairs of strings are not aligned";
  }
  void print(std::size_t i, StructureView y, std::span<const double>,
             std::string& out) const override {
    for (const std::int32_t k : {0, 1}) {
      std::string text = data_.examples[i].text[static_cast<std::size_t>(k)];
      if (data_.local)
        std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
      std::size_t at = static_cast<std::size_t>(y[static_cast<std::size_t>(k)]);
      std::string line = text.substr(0, at);
      for (const std::int32_t step : y.subspan(2)) {
        const bool gap = step == 2 - k;
        if (gap) {
          line += '-';
        } else {
          line += data_.local ? static_cast<char>(std::toupper(text[at])) : text[at];
          ++at;
        }
      }
      out += line + text.substr(at) + "\n";
    }
    out += "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double right = 0, loss = 0, found = 0, wanted = 0;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const Structure truth = oracle_.truth(examples[k]);
      right += predicted[k] == truth ? 1 : 0;
      loss += oracle_.loss(examples[k], predicted[k]);
      found += pairs(predicted[k]);
      wanted += pairs(truth);
    }
    const double n = static_cast<double>(examples.size()), both = (found + wanted - loss) / 2;
    return {{"accuracy", right / n},
            {"precision", found > 0 ? both / found : 1},
            {"recall", wanted > 0 ? both / wanted : 1},
            {"f1", found + wanted > 0 ? 2 * both / (found + wanted) : 1},
            {"mean_loss", loss / n}};
  }

 private:
  static double pairs(StructureView y) {
    return static_cast<double>(std::ranges::count(y.subspan(2), 0));
  }

  AlignmentExamples data_;
  std::vector<std::string> symbols_;
  AlignmentOracle oracle_;
  AlignmentWitness witness_;
};

std::unique_ptr<StructuredData> read_alignment(const std::string& path, const Settings& settings,
                                               const Vocabulary* known, const Threads&) {
  AlignmentReader reader(path, settings.one_of("mode", {"global", "local"}) == 1, known);
  AlignmentExamples data = reader.read();
  return std::make_unique<AlignmentData>(std::move(data), reader.symbols());
}

constexpr std::array alignment_options{
    TaskOption{"mode", "global|local", "global",
               "whole strings, or parts of them: what is in lower case is outside"}};

}  // namespace

StructuredTask alignment_task() {
  return {"alignment", "alignments of two strings with learned costs of edits", alignment_options,
          read_alignment};
}

}  // namespace maxmargin
