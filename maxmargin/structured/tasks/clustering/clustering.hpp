#pragma once

#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/grouped_rows.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Sets of items, and to which cluster each belongs.
struct ClusteringExamples {
  GroupedRows items;
  Structure cluster;  ///< of each item; numbered by first occurrence within its set

  std::size_t size() const { return items.name.size(); }
  std::size_t count(std::size_t i) const { return items.start[i + 1] - items.start[i]; }
};

/// Correlation clustering (Finley and Joachims 2005): a structure is a cluster for each item,
/// numbered by first occurrence. With N pairs of items
///
///   Psi(y) = sum of phi(a, b) / N over pairs in one cluster,   phi = (1, |x_a - x_b|)
///   Delta(y) = pairs that are together in one of y and the truth only / N
///
/// Inference is NP-hard, and the oracle a heuristic: greedy agglomeration, then moves of single
/// items until none improves.
class ClusteringOracle : public Oracle {
 public:
  /// `data` outlives it.
  explicit ClusteringOracle(const ClusteringExamples& data) : data_(data), rows_(data.items.x) {}

  std::size_t examples() const override { return data_.size(); }
  std::size_t dimensions() const override { return rows_.columns + 1; }
  Structure truth(std::size_t i) const override;
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  Exactness exactness() const override { return Exactness::heuristic; }
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override {
    return "set " + data_.items.name[i] + " (line " + std::to_string(data_.items.line[i]) + ")";
  }
  /// gain[a * n + b]: the score of a and b being in one cluster, in the inference problem.
  std::vector<double> gains(std::size_t i, std::span<const double> w, Ask ask) const;
  const ClusteringExamples& data() const { return data_; }

 private:
  double pairs(std::size_t i) const;
  /// |x_a - x_b| of two rows.
  std::vector<double> distances(std::size_t a, std::size_t b) const;

  const ClusteringExamples& data_;
  Rows rows_;
};

/// Enumeration of the clusterings of few items; for more, moves of single items, starting with one
/// cluster.
class ClusteringWitness : public EnumerationOracle {
 public:
  explicit ClusteringWitness(const ClusteringOracle& oracle)
      : EnumerationOracle(oracle), oracle_(oracle) {}

  static constexpr std::size_t few = 7;
  Exactness exactness() const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  bool next(std::size_t i, Structure& y) const override;

 private:
  const ClusteringOracle& oracle_;
};

/// The same clusters, numbered by first occurrence.
Structure numbered_by_occurrence(StructureView y);

StructuredTask clustering_task();

}  // namespace maxmargin
