#include "maxmargin/structured/tasks/collective/collective.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {
namespace {

/// Labels and links while rows are read; the links of a graph stand after its documents.
class CollectiveReader {
 public:
  explicit CollectiveReader(const Vocabulary* known) : known_(known != nullptr) {
    if (known_) names_ = words_of(*known, "labels");
  }

  CollectiveExamples read(const std::string& path, const Vocabulary* known) {
    CollectiveExamples data;
    const GroupReader reader{
        "document", "graph",
        [&](const FeatureRow& row, const TextLines& lines) {
          data.label.push_back(label(row, lines));
        },
        [&](const TextLines& lines, std::size_t rows) { return link(lines, rows); }};
    data.documents = read_grouped_rows(path, known, reader);
    data.labels = names_.size();
    data.links.resize(data.size());
    for (const Line& each : lines_) add(data, path, each);
    return data;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Line {
    std::size_t a, b, rows, number;
  };

  std::int32_t label(const FeatureRow& row, const TextLines& lines) {
    const auto found = std::ranges::find(names_, row.label);
    if (found != names_.end()) return static_cast<std::int32_t>(found - names_.begin());
    if (known_)
      throw Error(Fault::data, lines.place(),
                  "label " + shown(row.label) + " does not occur in the training data",
                  "remove its rows, or train with some");
    names_.emplace_back(row.label);
    return static_cast<std::int32_t>(names_.size() - 1);
  }

  bool link(const TextLines& lines, std::size_t rows) {
    const auto words = lines.words();
    if (words.empty() || words[0] != "edge") return false;
    std::array<std::size_t, 2> ends{};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::string_view word = words.size() == 3 ? words[k + 1] : std::string_view{};
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), ends[k]);
      if (word.empty() || code != std::errc{} || end != word.data() + word.size() || ends[k] == 0)
        throw Error(Fault::data, lines.place(), "an edge has two numbers of documents",
                    "write for example: edge 1 3");
    }
    lines_.push_back({ends[0], ends[1], rows, lines.number()});
    return true;
  }

  static void add(CollectiveExamples& data, const std::string& path, const Line& line) {
    // The graph whose documents ended with those before the line.
    const auto found = std::ranges::lower_bound(data.documents.start, line.rows);
    const std::size_t i = static_cast<std::size_t>(found - data.documents.start.begin()) - 1;
    const auto refuse = [&](const std::string& what, const std::string& mend) {
      throw Error(Fault::data, Place{path, line.number}, what, mend);
    };
    if (line.rows == 0 || data.documents.start[i + 1] != line.rows)
      refuse("an edge stands before the last document of its graph",
             "write the edges of a graph after its documents");
    if (std::max(line.a, line.b) > data.count(i))
      refuse("the graph has " + std::to_string(data.count(i)) + " documents",
             "number them from 1 within their graph");
    if (line.a == line.b) refuse("an edge leads back to its document", "leave it out");
    data.links[i].push_back(
        {static_cast<std::uint32_t>(line.a - 1), static_cast<std::uint32_t>(line.b - 1)});
  }

  bool known_;
  std::vector<std::string> names_;
  std::vector<Line> lines_;
};

class CollectiveData : public StructuredData {
 public:
  CollectiveData(CollectiveExamples data, std::vector<std::string> names)
      : data_(std::move(data)), names_(std::move(names)), oracle_(data_), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override {
    return {columns_word(data_.documents.x), {"labels", names_}};
  }
  std::string contents() const override {
    std::size_t links = 0;
    for (const auto& each : data_.links) links += each.size();
    return std::to_string(data_.size()) + " graphs of " + std::to_string(data_.label.size()) +
           " documents and " + std::to_string(links) + " edges, " + std::to_string(names_.size()) +
           " labels";
  }
  void print(std::size_t, StructureView y, std::span<const double>,
             std::string& out) const override {
    for (const std::int32_t each : y) out += names_[static_cast<std::size_t>(each)] + "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double right = 0, documents = 0, equal = 0, loss = 0;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const Structure truth = oracle_.truth(examples[k]);
      for (std::size_t d = 0; d < truth.size(); ++d) right += truth[d] == predicted[k][d] ? 1 : 0;
      documents += static_cast<double>(truth.size());
      equal += truth == predicted[k] ? 1 : 0;
      loss += oracle_.loss(examples[k], predicted[k]);
    }
    const double n = static_cast<double>(examples.size());
    return {
        {"accuracy", right / documents}, {"graph_accuracy", equal / n}, {"mean_loss", loss / n}};
  }

 private:
  CollectiveExamples data_;
  std::vector<std::string> names_;
  CollectiveOracle oracle_;
  CollectiveWitness witness_;
};

std::unique_ptr<StructuredData> read_collective(const std::string& path, const Settings& settings,
                                                const Vocabulary* known, const Threads&) {
  CollectiveReader reader(known);
  CollectiveExamples data = reader.read(path, known);
  data.bias = settings.number("bias");
  if (data.labels < 2)
    throw Error(Fault::data, Place{path}, "there is only one label", "give data with several");
  return std::make_unique<CollectiveData>(std::move(data), reader.names());
}

constexpr std::array collective_options{
    TaskOption{"bias", "B", "1", "value of a constant feature; 0: none"}};

}  // namespace

StructuredTask collective_task() {
  return {"collective", "labels of linked documents, all at once", collective_options,
          read_collective};
}

}  // namespace maxmargin
