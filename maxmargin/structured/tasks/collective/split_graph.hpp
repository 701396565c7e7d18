#pragma once

#include <span>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/structured/tasks/binary_field.hpp"

namespace maxmargin {

/// A relaxation by splitting nodes: where a link closes a cycle, its second document is copied and
/// the link leads to the copy, so that the graph becomes a forest. A document and its copies may
/// have different labels; its unary scores are divided equally among them. Max-product finds the
/// best labels of the forest exactly. As structure these are the labels of the documents, then
/// those of the copies in the order of their links; the latter are left out where all copies agree
/// with their documents.
class SplitGraph {
 public:
  SplitGraph(std::size_t documents, const std::vector<FieldLink>& links);

  std::size_t documents() const { return weight_.size(); }
  std::size_t copies() const { return copied_.size(); }
  /// 1 / (1 + copies) of the document.
  double weight(std::size_t document) const { return weight_[document]; }
  std::size_t original(std::size_t copy) const { return links_[copied_[copy]].b; }
  /// The label at the second end of a link.
  std::int32_t second_label(StructureView y, std::size_t link) const;

  /// Maximises the sum of gain[d * labels + y_d], divided among copies, and of attraction[l] for
  /// links whose ends both have l, by max-product messages from leaves to roots.
  Structure best(std::span<const double> gain, std::span<const double> attraction) const;
  /// The same by eliminating one leaf after another, for verify.
  Structure best_plainly(std::span<const double> gain, std::span<const double> attraction) const;

 private:
  /// Unary scores with the messages of the copies, which are leaves, added; and the best label of
  /// each copy for each label of its neighbour.
  std::vector<double> folded(std::span<const double> gain, std::span<const double> attraction,
                             std::vector<std::int32_t>& of_copy) const;
  Structure with_copies(Structure y, std::size_t labels,
                        const std::vector<std::int32_t>& of_copy) const;

  const std::vector<FieldLink>& links_;
  std::vector<double> weight_;
  std::vector<std::size_t> copied_;        ///< links that lead to copies
  std::vector<std::size_t> copy_of_link_;  ///< or none
  std::vector<std::vector<std::size_t>> neighbours_;
};

}  // namespace maxmargin
