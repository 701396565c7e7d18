#include "maxmargin/structured/tasks/multilabel/multilabel.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/feature_row.hpp"

namespace maxmargin {
namespace {

/// What a file holds, labels as they are written.
struct ReadMultilabel {
  MultilabelExamples data;
  std::vector<std::string> names;  ///< of the labels
  std::size_t unseen = 0;          ///< labels of rows that the model does not know
  std::string unknown;             ///< the first of them
};

/// Numbers by their size, before words by their letters.
bool comes_before(const std::string& a, const std::string& b) {
  const auto x = number_in(a), y = number_in(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

ReadMultilabel read_rows(const std::string& path, const Vocabulary* known) {
  ReadMultilabel read;
  FeatureRows rows(known);
  std::vector<std::vector<std::string>> labels;
  TextLines lines(path);
  while (lines.next()) {
    const FeatureRow row = feature_row(lines, RowLabel::optional);
    if (row.label.empty() && row.index.empty()) continue;
    labels.emplace_back();
    for (std::string_view rest = row.label; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (comma == 0)
        throw Error(Fault::data, lines.place(), shown(row.label) + " has a label without a name",
                    "write labels with a comma between two, as in 0,3");
      labels.back().emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(rest.size(), comma + 1));
    }
    rows.append(row);
    read.data.line.push_back(lines.number());
  }
  if (labels.empty()) throw Error(Fault::data, Place{path}, "there are no rows", "give some");
  if (known != nullptr) {
    read.names = words_of(*known, "labels");
  } else {
    for (const auto& row : labels) read.names.insert(read.names.end(), row.begin(), row.end());
    std::ranges::sort(read.names, comes_before);
    read.names.erase(std::unique(read.names.begin(), read.names.end()), read.names.end());
  }
  std::map<std::string, std::size_t> position;
  for (std::size_t l = 0; l < read.names.size(); ++l) position[read.names[l]] = l;
  read.data.labels = read.names.size();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Structure y(read.names.size(), 0);
    for (const std::string& label : labels[i]) {
      const auto found = position.find(label);
      if (found != position.end()) {
        y[found->second] = 1;
      } else if (read.unseen++ == 0) {
        read.unknown = Error(Fault::data, Place{path, read.data.line[i]},
                             "label '" + label + "' does not occur in the training data")
                           .what();
      }
    }
    read.data.y.push_back(std::move(y));
  }
  read.data.x = rows.take();
  return read;
}

class MultilabelData : public StructuredData {
 public:
  explicit MultilabelData(ReadMultilabel read)
      : read_(std::move(read)), oracle_(read_.data), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override {
    std::vector<std::string> links;
    for (const FieldLink& link : read_.data.links)
      links.push_back(std::to_string(link.a) + " " + std::to_string(link.b));
    return {columns_word(read_.data.x), {"labels", read_.names}, {"links", links}};
  }
  std::string contents() const override {
    return std::to_string(read_.data.y.size()) + " rows, " +
           std::to_string(read_.data.x.columns()) + " features, " +
           std::to_string(read_.names.size()) + " labels with " +
           std::to_string(read_.data.links.size()) + " links";
  }
  std::string unknown() const override { return read_.unknown; }
  void print(std::size_t, StructureView y, std::span<const double>,
             std::string& out) const override {
    bool first = true;
    for (std::size_t l = 0; l < read_.names.size(); ++l)
      if (y[l] == 1) out += (std::exchange(first, false) ? "" : ",") + read_.names[l];
    out += "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    double equal = 0, both = 0, found = 0, wanted = static_cast<double>(read_.unseen);
    double wrong = wanted;
    for (std::size_t k = 0; k < examples.size(); ++k) {
      const Structure& y = read_.data.y[examples[k]];
      equal += predicted[k] == y ? 1 : 0;
      for (std::size_t l = 0; l < y.size(); ++l) {
        both += y[l] * predicted[k][l];
        found += predicted[k][l];
        wanted += y[l];
        wrong += y[l] != predicted[k][l] ? 1 : 0;
      }
    }
    const double n = static_cast<double>(examples.size());
    return {{"hamming_loss", wrong / (n * static_cast<double>(read_.names.size()))},
            {"accuracy", equal / n},
            {"micro_f1", found + wanted > 0 ? 2 * both / (found + wanted) : 1}};
  }

 private:
  ReadMultilabel read_;
  MultilabelOracle oracle_;
  MultilabelWitness witness_;
};

std::vector<FieldLink> known_links(const std::vector<std::string>& words, std::size_t labels) {
  std::vector<FieldLink> links;
  for (const std::string& word : words) {
    const auto ends = TextLines::words_of_line(word);
    const double a = ends.size() == 2 ? number_in(ends[0]).value_or(-1) : -1;
    const double b = ends.size() == 2 ? number_in(ends[1]).value_or(-1) : -1;
    if (!(a >= 0) || !(b > a) || !(b < static_cast<double>(labels)))
      throw Error(Fault::data, "the model's links are damaged", "train it again");
    links.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
  }
  return links;
}

std::unique_ptr<StructuredData> read_multilabel(const std::string& path, const Settings& settings,
                                                const Vocabulary* known, const Threads&) {
  const std::size_t edges = settings.one_of("edges", {"none", "tree", "full"});
  ReadMultilabel read = read_rows(path, known);
  MultilabelExamples& data = read.data;
  data.bias = settings.number("bias");
  if (data.labels == 0)
    throw Error(Fault::data, Place{path}, "no row has a label", "give rows with labels");
  const double L = static_cast<double>(data.labels);
  if (L * (static_cast<double>(data.x.columns()) + 1 + L) > 4e9)
    throw Error(Fault::data, Place{path}, "features times labels are more than 4e9 weights",
                "leave out features or labels");
  if (known != nullptr)
    data.links = known_links(words_of(*known, "links"), data.labels);
  else if (edges == 1)
    data.links = label_tree(data.y, data.labels);
  else if (edges == 2)
    data.links = label_pairs(data.labels);
  return std::make_unique<MultilabelData>(std::move(read));
}

constexpr std::array multilabel_options{
    TaskOption{"edges", "none|tree|full", "tree",
               "pairs of labels that have a weight: none, the tree that tells most, or all"},
    TaskOption{"bias", "B", "1", "value of a constant feature; 0: none"}};

}  // namespace

StructuredTask multilabel_task() {
  return {"multilabel", "sets of labels, with weights for labels that go together",
          multilabel_options, read_multilabel};
}

}  // namespace maxmargin
