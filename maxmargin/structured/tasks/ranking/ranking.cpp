#include "maxmargin/structured/tasks/ranking/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"
#include "maxmargin/structured/tasks/grouped_rows.hpp"

namespace maxmargin {

void RankingScores::add(std::span<const double> relevance, std::span<const double> scores) {
  ++queries;
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a > b;
  });
  std::vector<double> best(relevance.begin(), relevance.end());
  std::ranges::sort(best, std::greater<>());
  if (best.empty() || best[0] <= 0) return;
  ++judged;
  double found = 0, precision = 0, first = 0;
  std::array<double, 4> sum{}, ideal{};
  for (std::size_t position = 0; position < order.size(); ++position) {
    const double r = relevance[order[position]];
    if (r > 0) {
      precision += ++found / static_cast<double>(position + 1);
      if (first == 0) first = 1 / static_cast<double>(position + 1);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      if (position >= at[k]) continue;
      sum[k] += (std::exp2(r) - 1) * ranking_discount(position + 1);
      ideal[k] += (std::exp2(best[position]) - 1) * ranking_discount(position + 1);
    }
  }
  map += precision / found;
  mrr += first;
  for (std::size_t k = 0; k < 4; ++k) ndcg[k] += sum[k] / ideal[k];
}

namespace {

RankingExamples read_queries(const std::string& path, const Vocabulary* known) {
  RankingExamples data;
  GroupReader reader{
      "document", "query", [&](const FeatureRow& row, const TextLines& lines) {
        const auto relevance = number_in(row.label);
        if (!relevance || !std::isfinite(*relevance) || *relevance < 0 || *relevance > 60)
          throw Error(Fault::data, lines.place(), shown(row.label) + " is no relevance",
                      "write a number from 0 to 60");
        data.relevance.push_back(*relevance);
      }};
  GroupedRows groups = read_grouped_rows(path, known, reader);
  data.x = std::move(groups.x);
  data.query = std::move(groups.start);
  data.name = std::move(groups.name);
  data.line = std::move(groups.line);
  return data;
}

class RankingData : public StructuredData {
 public:
  RankingData(RankingExamples data, const RankingOptions& options)
      : data_(std::move(data)), oracle_(data_, options), witness_(oracle_) {}

  const Oracle& oracle() const override { return oracle_; }
  const Oracle& witness() const override { return witness_; }
  Vocabulary vocabulary() const override { return {columns_word(data_.x)}; }
  std::string contents() const override {
    return std::to_string(data_.size()) + " queries of " + std::to_string(data_.relevance.size()) +
           " documents, " + std::to_string(data_.x.columns()) + " features";
  }
  void print(std::size_t example, StructureView, std::span<const double> w,
             std::string& out) const override {
    for (const double f : oracle_.scores(example, w)) out += shortest(f) + "\n";
  }
  StructuredScores score(std::span<const std::size_t> examples, std::span<const Structure>,
                         std::span<const double> w) const override {
    RankingScores sums;
    for (const std::size_t i : examples)
      sums.add({data_.relevance.data() + data_.query[i], data_.documents(i)}, oracle_.scores(i, w));
    StructuredScores scores{{"queries", static_cast<double>(sums.queries)},
                            {"queries_with_relevant", static_cast<double>(sums.judged)}};
    for (const bool zero : {false, true}) {
      const double n =
          static_cast<double>(std::max<std::size_t>(1, zero ? sums.queries : sums.judged));
      const std::string end = zero ? "_zero" : "_skipped";
      scores.emplace_back("map" + end, sums.map / n);
      scores.emplace_back("mrr" + end, sums.mrr / n);
      for (std::size_t k = 0; k < 4; ++k)
        scores.emplace_back("ndcg@" + std::to_string(RankingScores::at[k]) + end, sums.ndcg[k] / n);
    }
    return scores;
  }

 private:
  RankingExamples data_;
  RankingOracle oracle_;
  RankingWitness witness_;
};

std::unique_ptr<StructuredData> read_ranking(const std::string& path, const Settings& settings,
                                             const Vocabulary* known, const Threads&) {
  RankingOptions options;
  options.loss = static_cast<RankingLoss>(settings.one_of("loss", {"pairs", "ap", "ndcg"}));
  options.weight = static_cast<PairWeight>(settings.one_of("weight", {"query", "pairs", "none"}));
  RankingExamples data = read_queries(path, known);
  if (options.loss == RankingLoss::average_precision && known == nullptr) {
    std::set<double> grades(data.relevance.begin(), data.relevance.end());
    if (grades.size() > 2 && !settings.yes("binary"))
      throw Error(Fault::data, Place{path}, "average precision knows two levels of relevance",
                  "add --binary yes to count every relevance above 0 as relevant");
  }
  if (options.loss == RankingLoss::average_precision)
    for (double& each : data.relevance) each = each > 0 ? 1 : 0;
  return std::make_unique<RankingData>(std::move(data), options);
}

constexpr std::array ranking_options{
    TaskOption{"loss", "pairs|ap|ndcg", "pairs",
               "swapped pairs, average precision, or normalised discounted cumulative gain"},
    TaskOption{"weight", "query|pairs|none", "query",
               "swapped pairs are divided by those of the query, by the mean number of pairs of a "
               "query, or not at all"},
    TaskOption{"binary", "yes|no", "no", "with --loss ap: every relevance above 0 is the same"}};

}  // namespace

StructuredTask ranking_task() {
  return {"ranking", "documents of queries by relevance (LETOR)", ranking_options, read_ranking};
}

}  // namespace maxmargin
