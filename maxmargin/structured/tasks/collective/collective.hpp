#pragma once

#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"
#include "maxmargin/structured/tasks/collective/split_graph.hpp"
#include "maxmargin/structured/tasks/grouped_rows.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Graphs of documents with links between them.
struct CollectiveExamples {
  GroupedRows documents;
  Structure label;  ///< of each document
  std::size_t labels = 0;
  std::vector<std::vector<FieldLink>> links;  ///< of each graph
  double bias = 1;                            ///< value of a constant feature; 0: none

  std::size_t size() const { return documents.name.size(); }
  std::size_t count(std::size_t i) const { return documents.start[i + 1] - documents.start[i]; }
};

/// Associative Markov networks (Taskar, Chatalbashev and Koller 2004): labels of linked documents,
/// with weights of x for each label, and for each label a weight of links between two documents
/// that have it. Delta is the share of documents with a wrong label. Two labels: the minimum cut of
/// binary_field.hpp, exact where all links attract, otherwise a relaxation. More labels: the
/// relaxation of split_graph.hpp to train, alpha-expansion (Boykov, Veksler and Zabih 2001) to
/// predict. A structure is a label for each document, or a point of the relaxation.
class CollectiveOracle : public Oracle {
 public:
  /// `data` outlives it.
  explicit CollectiveOracle(const CollectiveExamples& data);

  std::size_t examples() const override { return data_.size(); }
  std::size_t dimensions() const override { return data_.labels * (columns_ + 1); }
  Structure truth(std::size_t i) const override;
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  Exactness exactness() const override { return Exactness::relaxed; }
  bool is_structure(std::size_t i, StructureView y) const override;
  bool is_integral_structure(std::size_t i, StructureView y) const override {
    return is_integral(y, data_.count(i));
  }
  std::string example_name(std::size_t i) const override {
    return "graph " + data_.documents.name[i] + " (line " +
           std::to_string(data_.documents.line[i]) + ")";
  }
  const CollectiveExamples& data() const { return data_; }
  /// The unary scores, gain[d * labels + l], of the inference problem.
  std::vector<double> gains(std::size_t i, std::span<const double> w, Ask ask) const;
  /// The score of a link between two documents with this label.
  double attraction(std::span<const double> w, std::size_t label) const {
    return w[data_.labels * columns_ + label];
  }
  const SplitGraph& split(std::size_t i) const { return split_[i]; }
  /// The inference problem with two labels.
  BinaryField field(std::size_t i, std::span<const double> w, Ask ask) const;

 private:
  /// The variable of a document and a label: 0 or 1, or between them in a relaxed structure.
  double share(std::size_t i, StructureView y, std::size_t document, std::size_t label) const;
  Structure expand(std::size_t i, std::span<const double> w, Ask ask) const;

  const CollectiveExamples& data_;
  Rows rows_;
  std::size_t columns_;
  std::vector<SplitGraph> split_;  ///< of each graph, for more than two labels
};

/// Two labels by another maximum flow algorithm; more of them by leaf elimination.
class CollectiveWitness : public EnumerationOracle {
 public:
  explicit CollectiveWitness(const CollectiveOracle& oracle)
      : EnumerationOracle(oracle), oracle_(oracle) {}

  Exactness exactness() const override { return Exactness::relaxed; }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  bool next(std::size_t, Structure&) const override { return false; }

 private:
  const CollectiveOracle& oracle_;
};

StructuredTask collective_task();

}  // namespace maxmargin
