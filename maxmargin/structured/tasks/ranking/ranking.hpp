#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/same_examples.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// The documents of all queries, query by query.
struct RankingExamples {
  Features x;
  std::vector<double> relevance;      ///< of each document
  std::vector<std::size_t> query{0};  ///< first document of each query, and the end
  std::vector<std::string> name;      ///< of each query
  std::vector<std::size_t> line;      ///< of its first document

  std::size_t size() const { return query.size() - 1; }
  std::size_t documents(std::size_t i) const { return query[i + 1] - query[i]; }
};

/// The loss of a ranking.
///   pairs             share or number of swapped pairs
///   average_precision 1 - AP, with binary relevance
///   ndcg              1 - NDCG
enum class RankingLoss { pairs, average_precision, ndcg };
/// The divisor of a query's number of swapped pairs: its pairs; the mean number of pairs over all
/// queries, so that every pair has the same weight; or 1.
enum class PairWeight { query, pairs, none };

struct RankingOptions {
  RankingLoss loss = RankingLoss::pairs;
  PairWeight weight = PairWeight::query;
};

/// Ranking machines, one per loss. Pairwise (Joachims 2002, 2006), over pairs (a, b) of documents
/// of a query with a more relevant than b:
///
///   psi(y) = sum of (x_a - x_b) over swapped pairs / N,     Delta(y) = their number / N
///
/// The most violated structure swaps exactly the pairs with w.(x_a - x_b) < 1, found by sorting in
/// O(k log k). A structure has two positions for each document, one as the better and one as the
/// worse of a pair; a pair is swapped if the better one's position is before the worse one's.
///
/// Average precision (Yue, Finley, Radlinski and Joachims 2007): a structure is an order of the
/// documents, and psi is twice that above with N = all pairs, as each pair has y = +1 or -1.
///
/// NDCG (Chapelle, Le, Smola 2007): Psi(y) = sum of discount(rank) x over an order of the
/// documents, which sorting maximises. The truth's Psi is the mean over all right orders; it is the
/// empty structure.
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

  /// w.x of each document of a query.
  std::vector<double> scores(std::size_t i, std::span<const double> w) const;
  const RankingExamples& data() const { return data_; }
  const RankingOptions& options() const { return options_; }

 private:
  struct Swaps {
    double count = 0;
    std::vector<double> coefficient;  ///< by document: swaps as the better minus swaps as the worse
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

/// The same maxima by other algorithms: loops over all pairs; exchanges of neighbours (NDCG);
/// dynamic programming over all merges (average precision); enumeration of few documents.
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

/// 1 / log2(1 + rank), ranks counted from 1.
double ranking_discount(std::size_t rank);

/// Sums of ranking scores. A query without a relevant document has no right answer: the means can
/// leave it out, or count it as 0.
struct RankingScores {
  std::size_t queries = 0, judged = 0;  ///< judged: with a relevant document
  double map = 0, mrr = 0;              ///< sums over the judged
  double ndcg[4] = {};                  ///< at 1, 3, 5, 10
  static constexpr std::size_t at[4] = {1, 3, 5, 10};

  /// Adds a query. Of equal scores the later document comes first, so that constant scores do not
  /// profit from the order of the file.
  void add(std::span<const double> relevance, std::span<const double> scores);
};

StructuredTask ranking_task();

}  // namespace maxmargin
