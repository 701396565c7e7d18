#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/same_examples.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Queries and their documents, one after the other.
struct RankingExamples {
  Features x;
  std::vector<double> relevance;      ///< of each document
  std::vector<std::size_t> query{0};  ///< first document of each query, and the end
  std::vector<std::string> name;      ///< of each query
  std::vector<std::size_t> line;      ///< of its first document

  std::size_t size() const { return query.size() - 1; }
  std::size_t documents(std::size_t i) const { return query[i + 1] - query[i]; }
};

/// What is lost where documents stand in the wrong order.
///   pairs             share or number of pairs that are swapped
///   average_precision 1 - AP, two levels of relevance
///   ndcg              1 - NDCG
enum class RankingLoss { pairs, average_precision, ndcg };
/// What the swapped pairs of a query are divided by: its pairs, the mean number of pairs of a query
/// (each pair counts the same, C their mean), or nothing.
enum class PairWeight { query, pairs, none };

struct RankingOptions {
  RankingLoss loss = RankingLoss::pairs;
  PairWeight weight = PairWeight::query;
};

/// Rankings of the documents of a query. Of pairs (a, b), a more relevant than b:
///
///   psi(y) = sum of (x_a - x_b) over swapped pairs / N,     Delta(y) = their number / N
///
/// so that the most violated structure swaps exactly the pairs with w.(x_a - x_b) < 1 and the slack
/// is the pairwise machine's, found by sorting (k log k). As structure it is two places for each
/// document, as the better and as the worse of a pair; a pair is swapped if the better one's place
/// is before the worse one's. Average precision has the same features with N = all pairs, twice: a
/// swapped pair counts for y = +1 and -1, and its structure is the order of the documents. NDCG has
/// Psi(y) = sum of discount(place) x, which sorting maximises; the truth's features are the mean
/// over the right orders, and it stands as the empty structure.
class RankingOracle : public Oracle {
 public:
  /// `data` outlives it.
  RankingOracle(const RankingExamples& data, const RankingOptions& options);

  std::size_t examples() const override { return data_.size(); }
  std::size_t dimensions() const override { return rows_.columns; }
  Structure truth(std::size_t i) const override;
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override;

  /// w.x of the documents of a query.
  std::vector<double> scores(std::size_t i, std::span<const double> w) const;
  const RankingExamples& data() const { return data_; }
  const RankingOptions& options() const { return options_; }

 private:
  struct Swaps {
    double count = 0;
    std::vector<double> coefficient;  ///< of each document: as the better less as the worse
  };
  Swaps swaps(std::size_t i, StructureView y) const;
  std::span<const double> relevance(std::size_t i) const {
    return {data_.relevance.data() + data_.query[i], data_.documents(i)};
  }
  void add_documents(std::size_t i, std::span<const double> coefficient, double scale,
                     JointFeatures& out) const;
  std::vector<double> coefficients(std::size_t i, StructureView y) const;
  Structure worst_precision(std::size_t i, std::span<const double> f) const;

  const RankingExamples& data_;
  Rows rows_;
  RankingOptions options_;
  std::vector<double> pairs_;  ///< of each query
  std::vector<double> divisor_;
};

/// The same maxima by other means: pairs one by one, orders by exchanging neighbours (NDCG) or by
/// dynamic programming over all merges (average precision), small ones by enumeration.
class RankingWitness : public SameExamples {
 public:
  explicit RankingWitness(const RankingOracle& ranking)
      : SameExamples(ranking), ranking_(ranking) {}

  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 private:
  Structure exchanged(std::size_t i, std::span<const double> w, Ask ask) const;
  Structure merged(std::size_t i, std::span<const double> w, Ask ask) const;

  const RankingOracle& ranking_;
};

/// 1 / log2(1 + place), places counted from 1.
double ranking_discount(std::size_t place);

/// Scores of rankings. Queries without a relevant document have no right answer: `skipped` leaves
/// them out, `zero` counts 0 for each.
struct RankingScores {
  std::size_t queries = 0, judged = 0;  ///< judged: with a relevant document
  double map = 0, mrr = 0;              ///< sums over the judged
  double ndcg[4] = {};                  ///< at 1, 3, 5, 10
  static constexpr std::size_t at[4] = {1, 3, 5, 10};

  /// Documents by falling score; of equal scores the later one comes first, so that a machine which
  /// says nothing gains nothing from the order of the file.
  void add(std::span<const double> relevance, std::span<const double> scores);
};

StructuredTask ranking_task();

}  // namespace maxmargin
