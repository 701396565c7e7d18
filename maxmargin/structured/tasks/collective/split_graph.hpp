#pragma once

#include <span>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"

namespace maxmargin {

/// A graph made a forest: of links that close a cycle the second document is copied, and the link
/// leads to the copy. A document and its copies may have different labels, which is a relaxation;
/// each counts for 1 / (1 + copies) of the document, so that copies pay for it too. The best labels
/// of the forest are found exactly. As structure these are the labels of the documents, then those
/// of the copies in the order of their links; where all copies agree it is left out.
class SplitGraph {
 public:
  SplitGraph(std::size_t documents, const std::vector<FieldLink>& links);

  std::size_t documents() const { return weight_.size(); }
  std::size_t copies() const { return copied_.size(); }
  /// What each document and each of its copies counts for.
  double weight(std::size_t document) const { return weight_[document]; }
  /// The document that a copy is of.
  std::size_t original(std::size_t copy) const { return links_[copied_[copy]].b; }
  /// The label at the second end of a link.
  std::int32_t second_label(StructureView y, std::size_t link) const;

  /// The largest sum of gain[d * labels + y_d], shared by copies, and attraction[l] for links whose
  /// ends both have l: from leaves to roots.
  Structure best(std::span<const double> gain, std::span<const double> attraction) const;
  /// The same by taking leaves away one after the other: plain, for verify.
  Structure best_plainly(std::span<const double> gain, std::span<const double> attraction) const;

 private:
  /// Gains of documents with what their links to copies can add, and the best label of each copy
  /// for each label of its link's first end.
  std::vector<double> folded(std::span<const double> gain, std::span<const double> attraction,
                             std::vector<std::int32_t>& of_copy) const;
  Structure with_copies(Structure y, std::size_t labels,
                        const std::vector<std::int32_t>& of_copy) const;

  const std::vector<FieldLink>& links_;
  std::vector<double> weight_;
  std::vector<std::size_t> copied_;        ///< links that lead to copies
  std::vector<std::size_t> copy_of_link_;  ///< or none
  std::vector<std::vector<std::size_t>> near_;
};

}  // namespace maxmargin
