#include "maxmargin/structured/tasks/sample/sample.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/feature_row.hpp"
#include "maxmargin/structured/tasks/ranking/ranking.hpp"

namespace maxmargin {
namespace {

/// Scores of the predictions, the same for all losses.
StructuredScores scores_of_sample(const std::vector<char>& positive, std::span<const double> f) {
  const std::size_t n = f.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return f[a] > f[b]; });
  double right = 0, found = 0, wanted = 0, equal = 0, precision = 0, area = 0;
  for (std::size_t r = 0; r < n; ++r) {
    const bool is = f[r] > 0, should = positive[r] != 0;
    right += is && should ? 1 : 0;
    found += is ? 1 : 0;
    wanted += should ? 1 : 0;
    equal += is == should ? 1 : 0;
  }
  double above = 0, before = 0;
  for (std::size_t at = 0; at < n;) {
    // A pair of rows with equal scores counts 1/2.
    std::size_t end = at;
    double ones = 0;
    for (; end < n && f[order[end]] == f[order[at]]; ++end) ones += positive[order[end]];
    const double zeros = static_cast<double>(end - at) - ones;
    area += zeros * (above + ones / 2);
    above += ones;
    at = end;
  }
  double break_even = 0;  // precision and recall where as many rows are found as there are
  for (std::size_t position = 0; position < n; ++position) {
    if (positive[order[position]] == 0) continue;
    precision += ++before / static_cast<double>(position + 1);
    if (static_cast<double>(position) < wanted) ++break_even;
  }
  const double others = static_cast<double>(n) - wanted;
  return {{"accuracy", equal / static_cast<double>(n)},
          {"precision", found > 0 ? right / found : 1},
          {"recall", wanted > 0 ? right / wanted : 1},
          {"f1", found + wanted > 0 ? 2 * right / (found + wanted) : 1},
          {"prbep", wanted > 0 ? break_even / wanted : 1},
          {"average_precision", wanted > 0 ? precision / wanted : 1},
          {"roc_area", wanted > 0 && others > 0 ? area / (wanted * others) : 1}};
}

/// Oracles of labels, or of the order of the rows: a ranking of one query.
class SampleData : public StructuredData {
 public:
  explicit SampleData(SampleExamples data)
      : data_(std::move(data)), labels_(data_), witness_of_labels_(labels_) {}
  SampleData(SampleExamples data, RankingExamples query, RankingLoss loss)
      : SampleData(std::move(data)) {
    query_ = std::move(query);
    order_ = std::make_unique<RankingOracle>(query_, RankingOptions{loss, PairWeight::query});
    witness_of_order_ = std::make_unique<RankingWitness>(*order_);
  }

  const Oracle& oracle() const override {
    return order_ ? static_cast<const Oracle&>(*order_) : labels_;
  }
  const Oracle& witness() const override {
    return order_ ? static_cast<const Oracle&>(*witness_of_order_) : witness_of_labels_;
  }
  Vocabulary vocabulary() const override { return {columns_word(order_ ? query_.x : data_.x)}; }
  std::string contents() const override {
    return std::to_string(data_.size()) + " rows, " +
           std::to_string(std::ranges::count(data_.positive, 1)) + " of them positive, " +
           std::to_string(oracle().dimensions()) + " features";
  }
  void print(std::size_t, StructureView, std::span<const double> w,
             std::string& out) const override {
    for (const double f : row_scores(w)) out += shortest(f) + "\n";
  }
  StructuredScores score(std::span<const std::size_t>, std::span<const Structure>,
                         std::span<const double> w) const override {
    return scores_of_sample(data_.positive, row_scores(w));
  }
  std::size_t divisible_rows() const override { return data_.size(); }
  std::unique_ptr<StructuredData> part(std::span<const std::size_t> rows) const override;

 private:
  std::vector<double> row_scores(std::span<const double> w) const {
    return order_ ? order_->scores(0, w) : labels_.scores(w);
  }

  SampleExamples data_;
  SampleOracle labels_;
  SampleWitness witness_of_labels_;
  RankingExamples query_;
  std::unique_ptr<RankingOracle> order_;
  std::unique_ptr<RankingWitness> witness_of_order_;
};

/// Losses of the order: the rows are one query of a ranking.
std::unique_ptr<StructuredData> ordered_sample(SampleExamples data, RankingLoss loss) {
  RankingExamples query;
  for (const char each : data.positive) query.relevance.push_back(each);
  query.x = std::move(data.x);
  query.query.push_back(query.relevance.size());
  query.name.emplace_back("sample");
  query.line.push_back(1);
  return std::make_unique<SampleData>(std::move(data), std::move(query), loss);
}

std::unique_ptr<StructuredData> SampleData::part(std::span<const std::size_t> rows) const {
  SampleExamples some;
  some.loss = data_.loss;
  some.bias = data_.bias;
  std::vector<Index> which;
  for (const std::size_t row : rows) {
    which.push_back(static_cast<Index>(row));
    some.positive.push_back(data_.positive[row]);
  }
  const Features& x = order_ ? query_.x : data_.x;
  some.x = Features::sparse(x.columns());
  some.x.append(x, which);
  // The same share of the rows as in the whole sample.
  some.k = std::max<std::size_t>(1, data_.k * rows.size() / std::max<std::size_t>(1, data_.size()));
  if (order_) return ordered_sample(std::move(some), order_->options().loss);
  return std::make_unique<SampleData>(std::move(some));
}

SampleExamples read_sample(const std::string& path, const Vocabulary* known) {
  SampleExamples data;
  FeatureRows rows(known);
  TextLines lines(path);
  while (lines.next()) {
    const FeatureRow row = feature_row(lines);
    if (row.label.empty()) continue;
    const auto label = number_in(row.label);
    if (!label)
      throw Error(Fault::data, lines.place(), shown(row.label) + " is no label",
                  "write a number, above 0 for positive rows");
    data.positive.push_back(*label > 0 ? 1 : 0);
    rows.append(row);
  }
  if (data.positive.empty())
    throw Error(Fault::data, Place{path}, "there are no rows", "give some");
  data.x = rows.take();
  return data;
}

std::unique_ptr<StructuredData> read_sample(const std::string& path, const Settings& settings,
                                            const Vocabulary* known, const Threads&) {
  const std::size_t loss =
      settings.one_of("loss", {"error", "f1", "precision", "recall", "ap", "roc"});
  const std::size_t k = settings.count("k", 0, UINT32_MAX);
  SampleExamples data = read_sample(path, known);
  data.bias = settings.number("bias");
  const std::size_t positives = static_cast<std::size_t>(std::ranges::count(data.positive, 1));
  if (known == nullptr && (positives == 0 || positives == data.size()))
    throw Error(Fault::data, Place{path}, "all rows are of one class", "give rows of both");
  const double share = settings.number("k-share");
  if (!(share > 0 && share <= 1e9))
    throw Error(Fault::usage, "--k-share must be above 0", "choose another one");
  data.k = k > 0 ? k
                 : std::max<std::size_t>(
                       1, static_cast<std::size_t>(share * static_cast<double>(positives)));
  if (known == nullptr && data.k > data.size())
    throw Error(Fault::usage, "--k is larger than the sample", "choose a smaller one");
  if (loss < 4) {
    data.loss = static_cast<SampleLoss>(loss);
    return std::make_unique<SampleData>(std::move(data));
  }
  return ordered_sample(std::move(data),
                        loss == 4 ? RankingLoss::average_precision : RankingLoss::pairs);
}

constexpr std::array sample_options{
    TaskOption{"loss", "error|f1|precision|recall|ap|roc", "f1",
               "wrong labels, F1, precision or recall of the k best rows, average precision, or "
               "area under the ROC curve"},
    TaskOption{"k", "K", "0",
               "with --loss precision or recall: rows labelled positive; 0: as many as are"},
    TaskOption{"k-share", "S", "1", "with --k 0: this share of as many as are"},
    TaskOption{"bias", "B", "1", "value of a constant feature, unless rows are ordered; 0: none"}};

}  // namespace

StructuredTask sample_task() {
  return {"sample", "two classes, for the F1, precision, recall or order of a whole sample",
          sample_options, read_sample};
}

}  // namespace maxmargin
