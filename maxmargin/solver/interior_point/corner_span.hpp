#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace maxmargin {

/// The directions of w and b that rows Z_S on their corners see: a move along any other changes
/// none of their f. Found from the eigenvectors of Z_S'Z_S, which is given by its lower triangle.
class CornerSpan {
 public:
  CornerSpan(std::vector<double> matrix, std::size_t numbers);

  std::size_t rank() const { return values_.size(); }
  /// The least move by which f changes by r, in the sense of least squares, from Z_S'r.
  std::vector<double> fit(std::span<const double> right) const;
  /// What is left of x without the directions that are seen.
  std::vector<double> unseen(std::span<const double> x) const;
  /// Makes a matrix that acts on what is seen only, as Z_S'D Z_S, one that has an inverse.
  void complete(std::vector<double>& matrix) const;

 private:
  std::size_t numbers_;
  std::vector<double> vectors_;  ///< one after another
  std::vector<double> values_;
};

}  // namespace maxmargin
