#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {

MulticlassOracle::MulticlassOracle(Features x, std::vector<Index> y, std::size_t classes,
                                   std::vector<double> cost, double bias)
    : x_(std::move(x)),
      rows_(x_),
      y_(std::move(y)),
      classes_(classes),
      columns_(rows_.columns + (bias != 0 ? 1 : 0)),
      cost_(std::move(cost)),
      bias_(bias) {}

double MulticlassOracle::loss(std::size_t i, StructureView y) const {
  const std::size_t given = static_cast<std::size_t>(y[0]);
  if (cost_.empty()) return given == y_[i] ? 0 : 1;
  return cost_[y_[i] * classes_ + given];
}

void MulticlassOracle::features(std::size_t i, StructureView y, double scale,
                                JointFeatures& out) const {
  const std::size_t first = static_cast<std::size_t>(y[0]) * columns_;
  rows_.for_each(i, [&](Index j, double value) {
    if (value != 0) out.add(first + j, scale * value);
  });
  if (bias_ != 0) out.add(first + columns_ - 1, scale * bias_);
}

Structure MulticlassOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  std::vector<double> f(classes_);
  for (std::size_t c = 0; c < classes_; ++c) {
    const double* of_class = w.data() + c * columns_;
    double sum = bias_ != 0 ? of_class[columns_ - 1] * bias_ : 0;
    rows_.for_each(i, [&](Index j, double value) { sum += of_class[j] * value; });
    f[c] = sum;
  }
  std::size_t best = 0;
  double most = -infinity;
  for (std::size_t c = 0; c < classes_; ++c) {
    const std::int32_t label = static_cast<std::int32_t>(c);
    const double delta = ask == Ask::best ? 0 : loss(i, {&label, 1});
    const double s = ask == Ask::slack ? delta * (1 - f[y_[i]] + f[c]) : delta + f[c];
    if (s > most) {
      most = s;
      best = c;
    }
  }
  return {static_cast<std::int32_t>(best)};
}

namespace {

class EveryClass : public EnumerationOracle {
 public:
  explicit EveryClass(const MulticlassOracle& other)
      : EnumerationOracle(other), classes_(static_cast<std::int32_t>(other.classes())) {}

 protected:
  bool next(std::size_t, Structure& y) const override {
    if (y.empty())
      y.push_back(0);
    else
      ++y[0];
    return y[0] < classes_;
  }

 private:
  std::int32_t classes_;
};

class MulticlassData : public StructuredData {
 public:
  MulticlassData(Dataset data, std::vector<std::string> names, std::vector<Index> y,
                 std::size_t columns, std::vector<double> cost, double bias)
      : names_(std::move(names)),
        costs_(cost),
        columns_(columns),
        labelled_(data.labelled()),
        oracle_(std::move(data.x), std::move(y), names_.size(), std::move(cost), bias),
        witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override {
    std::vector<std::string> costs;
    for (const double cost : costs_) costs.push_back(shortest(cost));
    return {{"classes", names_}, {"columns", {std::to_string(columns_)}}, {"costs", costs}};
  }
  std::string contents() const override {
    return std::to_string(oracle_.examples()) + " rows, " + std::to_string(columns_) +
           " features, " + std::to_string(names_.size()) + " classes";
  }
  bool labelled() const override { return labelled_; }
  void print(std::size_t, StructureView y, std::span<const double>,
             std::string& out) const override {
    out += names_[static_cast<std::size_t>(y[0])] + "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples,
                         std::span<const Structure> predicted,
                         std::span<const double>) const override {
    const MeanScores mean = mean_scores(oracle_, examples, predicted);
    return {{"accuracy", mean.right}, {"mean_loss", mean.loss}};
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> costs_;
  std::size_t columns_;
  bool labelled_;
  MulticlassOracle oracle_;
  EveryClass witness_;
};

/// A square of numbers: row y, column z is what z costs where y is right.
std::vector<double> read_costs(const std::string& path, std::size_t classes) {
  std::vector<double> cost;
  TextLines lines(path);
  while (lines.next()) {
    const auto words = lines.words();
    if (words.empty()) continue;
    const std::size_t row = cost.size() / classes;
    if (words.size() != classes || row == classes)
      throw Error(Fault::data, lines.place(),
                  "the costs of " + std::to_string(classes) + " classes are a square of numbers",
                  "write as many rows and columns");
    for (const std::string_view word : words) {
      const auto value = number_in(word);
      if (!value || !(*value >= 0) || !std::isfinite(*value))
        throw Error(Fault::data, lines.place(), shown(word) + " is no cost",
                    "write numbers that are 0 or more");
      if (cost.size() == row * classes + row && *value != 0)
        throw Error(Fault::data, lines.place(), "the right class costs " + std::string(word),
                    "write 0 on the diagonal");
      cost.push_back(*value);
    }
  }
  if (cost.size() != classes * classes)
    throw Error(Fault::data, Place{path}, "there are too few rows of costs",
                "write one for each class");
  return cost;
}

std::vector<double> equal_costs(double wrong, std::size_t classes) {
  if (!(wrong > 0)) throw Error(Fault::usage, "--wrong-cost must be above 0", "choose another one");
  std::vector<double> cost(classes * classes, wrong);
  for (std::size_t c = 0; c < classes; ++c) cost[c * classes + c] = 0;
  return cost;
}

std::vector<double> known_costs(const std::vector<std::string>& words, std::size_t classes) {
  std::vector<double> cost;
  for (const std::string& word : words) cost.push_back(number_in(word).value_or(-1));
  if ((!cost.empty() && cost.size() != classes * classes) ||
      std::ranges::any_of(cost, [](double each) { return !(each >= 0); }))
    throw Error(Fault::data, "the model's costs are damaged", "train it again");
  return cost;
}

std::unique_ptr<StructuredData> read_multiclass(const std::string& path, const Settings& settings,
                                                const Vocabulary* known, const Threads& threads) {
  ReadOptions options;
  if (known != nullptr) {
    const auto columns = number_in(words_of(*known, "columns").at(0));
    options.columns = columns ? static_cast<std::size_t>(*columns) : 0;
  }
  Dataset data = read(path, options, threads);
  const Classes classes = classes_of(data);
  std::vector<std::string> names = known != nullptr ? words_of(*known, "classes") : classes.names;
  if (names.size() < 2)
    throw Error(Fault::data, Place{path}, "there is only one class", "give data of several");
  std::vector<Index> y;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const std::string& name = classes.names[classes.of_row[i]];
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw Error(Fault::data, Place{path, i + 1},
                  "class '" + name + "' does not occur in the training data",
                  "remove its rows, or train with some");
    y.push_back(static_cast<Index>(found - names.begin()));
  }
  const std::string& costs = settings["cost-matrix"];
  std::vector<double> cost;
  if (known != nullptr)
    cost = known_costs(words_of(*known, "costs"), names.size());
  else if (!costs.empty())
    cost = read_costs(costs, names.size());
  else if (const double wrong = settings.number("wrong-cost"); wrong != 1)
    cost = equal_costs(wrong, names.size());
  const std::size_t columns = known != nullptr ? options.columns : data.x.columns();
  return std::make_unique<MulticlassData>(std::move(data), std::move(names), std::move(y), columns,
                                          std::move(cost), settings.number("bias"));
}

constexpr std::array multiclass_options{
    TaskOption{"bias", "B", "1", "value of a constant feature; 0: none"},
    TaskOption{"wrong-cost", "COST", "1", "of a wrong class, without a matrix"},
    TaskOption{"cost-matrix", "FILE", "",
               "rows of numbers: what each class costs where another is right"}};

}  // namespace

StructuredTask multiclass_structured_task() {
  return {"multiclass-structured", "classes, confusions with a cost matrix (Crammer and Singer)",
          multiclass_options, read_multiclass};
}

}  // namespace maxmargin
