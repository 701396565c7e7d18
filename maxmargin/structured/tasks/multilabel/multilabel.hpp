#pragma once

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

struct MultilabelExamples {
  Features x;
  std::size_t labels = 0;
  std::vector<Structure> y;       ///< a zero or one for each label
  std::vector<std::size_t> line;  ///< of each row
  std::vector<FieldLink> links;   ///< pairs of labels with a weight
  double bias = 1;                ///< value of a constant feature; 0: none
};

/// Multi-label classification as a pairwise binary field: each label has weights of x, each link of
/// two labels a weight for both together. Delta is the share of wrong labels. Inference is exact by
/// max-product where the links are a forest, exact by enumeration for up to `most_enumerated`
/// labels, and the relaxation of binary_field.hpp otherwise.
class MultilabelOracle : public Oracle {
 public:
  /// Part of what it says of its exactness, and so the same in every run.
  static constexpr std::size_t most_enumerated = CostModel{}.structured.most_enumerated;
  /// `data` outlives it.
  explicit MultilabelOracle(const MultilabelExamples& data);

  std::size_t examples() const override { return data_.y.size(); }
  std::size_t dimensions() const override { return data_.labels * columns_ + data_.links.size(); }
  Structure truth(std::size_t i) const override { return data_.y[i]; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  void margins(std::size_t i, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override;
  void combine(std::size_t i, std::span<const StructureView> ys, std::span<const double> scale,
               JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  Exactness exactness() const override {
    return method_ == Method::relaxed ? Exactness::relaxed : Exactness::exact;
  }
  bool is_structure(std::size_t, StructureView y) const override {
    return is_field_structure(y, data_.labels, data_.links);
  }
  bool is_integral_structure(std::size_t, StructureView y) const override {
    return is_integral(y, data_.labels);
  }
  std::string example_name(std::size_t i) const override {
    return "row " + std::to_string(i + 1) + " (line " + std::to_string(data_.line[i]) + ")";
  }
  const MultilabelExamples& data() const { return data_; }
  /// The inference problem, up to a constant.
  BinaryField field(std::size_t i, std::span<const double> w, Ask ask) const;

 private:
  enum class Method { forest, all, relaxed };
  struct Terms {
    std::vector<double> label, link;
  };
  Terms no_terms() const {
    return {std::vector<double>(data_.labels, 0.0), std::vector<double>(data_.links.size(), 0.0)};
  }
  void add_terms(StructureView y, double scale, Terms& terms) const;
  void append(std::size_t i, const Terms& terms, JointFeatures& out) const;

  const MultilabelExamples& data_;
  Rows rows_;
  std::size_t columns_;
  Method method_;
};

/// Enumeration for few labels; for more, leaf elimination where the links are a forest, otherwise
/// the relaxation by another maximum flow algorithm.
class MultilabelWitness : public EnumerationOracle {
 public:
  explicit MultilabelWitness(const MultilabelOracle& oracle)
      : EnumerationOracle(oracle), oracle_(oracle) {}

  Exactness exactness() const override { return oracle_.exactness(); }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  bool next(std::size_t, Structure& y) const override {
    return next_integral(oracle_.data().labels, y);
  }

 private:
  const MultilabelOracle& oracle_;
};

/// The Chow-Liu tree (1968): that with the largest sum of mutual informations; and all pairs.
std::vector<FieldLink> label_tree(const std::vector<Structure>& y, std::size_t labels);
std::vector<FieldLink> label_pairs(std::size_t labels);

StructuredTask multilabel_task();

}  // namespace maxmargin
