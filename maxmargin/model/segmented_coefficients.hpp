#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// The coefficients of all machines, laid out to meet tiles of kernel values. Support vectors that
/// serve the same machines stand together in a segment: in one-vs-one, those of one class. There
/// the coefficients form a matrix (machine by support vector), and a tile of kernel values times
/// its transpose is what the segment adds to the decision values. Where that matrix would be mostly
/// zeros the segment keeps a list instead.
class SegmentedCoefficients {
 public:
  explicit SegmentedCoefficients(const Model& model)
      : SegmentedCoefficients(model, model.support.count()) {}
  /// Of a model that has no copy of its so many support vectors.
  SegmentedCoefficients(const Model& model, std::size_t vectors);

  std::size_t machines() const { return norm_.size(); }
  /// The support vector that stands at each position: tiles have their columns in this order.
  std::span<const Index> order() const { return order_; }
  bool in_given_order() const;
  /// A decision value that is nearer to zero may have the wrong sign: float kernel values of at
  /// most `reach` have errors that are independent of one another.
  double error(std::size_t machine, double reach) const;

  /// sums[r * machines() + m] += sum over c < count of tile[r * stride + c] * (coefficient of
  /// machine m at position begin + c). A row's result does not depend on the other rows.
  void add(const float* tile, std::size_t stride, std::size_t rows, std::size_t begin,
           std::size_t count, double* sums) const;
  void add(const double* tile, std::size_t stride, std::size_t rows, std::size_t begin,
           std::size_t count, double* sums) const;

 private:
  struct Segment {
    std::size_t begin = 0, end = 0;   ///< positions
    std::vector<Index> machines;      ///< that use its support vectors
    std::vector<double> matrix;       ///< coefficient [machine][position - begin], or
    std::vector<std::size_t> start;   ///< of each position in
    std::vector<Index> machine;       ///< the machines that use it, and
    std::vector<double> coefficient;  ///< with which coefficient
  };
  struct Use {
    Index position, machine;
    double coefficient;
  };
  void fill(Segment& segment, std::span<const Use> uses) const;
  template <class Value>
  void add_tile(const Value* tile, std::size_t stride, std::size_t rows, std::size_t begin,
                std::size_t count, double* sums) const;

  std::vector<Index> order_;
  std::vector<double> norm_;  ///< of each machine's coefficients
  std::vector<Segment> segments_;
};

}  // namespace maxmargin
