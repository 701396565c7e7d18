#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// The smallest boxes around the columns of each panel, and around several panels: a row far
/// enough from a box has negligible kernel values with all columns in it.
class PanelBoxes {
 public:
  /// Panels that have a common box as well.
  static constexpr std::size_t panels_a_group = 8;

  PanelBoxes() = default;
  PanelBoxes(std::size_t panels, std::size_t slots);

  bool empty() const { return stride_ == 0; }
  /// Floats that a row given to the tests has: slots, and zeros.
  std::size_t stride() const { return stride_; }
  std::size_t bytes() const { return (panels_.size() + groups_.size()) * sizeof(float); }

  /// Widens the boxes of a panel by a column, given as such a row.
  void add(std::size_t panel, const float* row);

  /// Those of `among` whose rows (row r at rows + r * stride()) are nearer to the panel's box, or
  /// to that of its group, than sqrt(limit). What is left out is farther for certain.
  std::vector<Index> near_panel(std::size_t panel, const float* rows, std::span<const Index> among,
                                double limit) const;
  std::vector<Index> near_group(std::size_t panel, const float* rows, std::span<const Index> among,
                                double limit) const;

 private:
  std::size_t stride_ = 0;
  AlignedVector<float> panels_, groups_;  ///< for each box the lower ends, then the upper ones
};

}  // namespace maxmargin
