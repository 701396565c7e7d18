#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// The loss of the labels of a whole sample.
///   error      share of wrong labels
///   f1         1 - F1
///   precision  1 - precision of the k rows labelled positive
///   recall     1 - recall of the k rows labelled positive
enum class SampleLoss { error, f1, precision, recall };

struct SampleExamples {
  Features x;
  std::vector<char> positive;  ///< of each row
  SampleLoss loss = SampleLoss::f1;
  std::size_t k = 0;  ///< rows labelled positive, for precision and recall
  double bias = 1;    ///< value of a constant feature; 0: none

  std::size_t size() const { return positive.size(); }
};

/// SVMperf (Joachims 2005): multivariate losses, with the whole sample of n rows as one example. A
/// structure is a zero or one for each row, Psi = sum of the rows labelled 1 / n. With the share of
/// wrong labels as Delta it is the C-SVM with C times the mean of hinge losses. Given the numbers
/// of true and false positives, the most violated labels choose within each class by score; after
/// sorting, the best number of false positives is found for each number of true positives, O(n log
/// n).
class SampleOracle : public Oracle {
 public:
  /// `data` outlives it.
  explicit SampleOracle(const SampleExamples& data);

  std::size_t examples() const override { return 1; }
  std::size_t dimensions() const override { return rows_.columns + (data_.bias != 0 ? 1 : 0); }
  Structure truth(std::size_t) const override {
    return {data_.positive.begin(), data_.positive.end()};
  }
  double loss(std::size_t, StructureView y) const override;
  void features(std::size_t, StructureView y, double scale, JointFeatures& out) const override;
  void difference(std::size_t, StructureView y, double scale, JointFeatures& out) const override;
  void margins(std::size_t, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override;
  Structure most_violated(std::size_t, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool is_structure(std::size_t, StructureView y) const override;
  std::string example_name(std::size_t) const override { return "the sample"; }

  /// w.x of each row.
  std::vector<double> scores(std::span<const double> w) const;
  /// Delta with these numbers of true and false positives; and whether they are feasible given k.
  double loss_of(std::size_t right, std::size_t wrong) const;
  bool allows(std::size_t right, std::size_t wrong) const;
  const SampleExamples& data() const { return data_; }

 private:
  bool has_fixed_count() const {
    return data_.loss == SampleLoss::precision || data_.loss == SampleLoss::recall;
  }
  /// Appends scale / n times the sum of coefficient * row.
  void append(std::span<const double> coefficient, double scale, JointFeatures& out) const;

  const SampleExamples& data_;
  Rows rows_;
  std::size_t positives_ = 0;
};

/// Enumeration of few rows; for more, all pairs of numbers of true and false positives.
class SampleWitness : public EnumerationOracle {
 public:
  explicit SampleWitness(const SampleOracle& oracle) : EnumerationOracle(oracle), oracle_(oracle) {}

  Structure most_violated(std::size_t, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  bool next(std::size_t, Structure& y) const override;

 private:
  const SampleOracle& oracle_;
};

StructuredTask sample_task();

}  // namespace maxmargin
