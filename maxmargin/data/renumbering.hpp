#pragma once

#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// Whether the features that sparse rows have are few among the numbers up to the largest of them.
bool has_gaps(const Rows& rows);

/// Numbers for features without the gaps between them, so that memory goes by the values that are
/// there and not by the largest number: hashed words, or one index of 2e9. Where there are few gaps
/// it does nothing. The order stays, and with it the order of every sum.
class Renumbering {
 public:
  Renumbering() = default;
  /// Of the features that these rows have.
  explicit Renumbering(const Rows& rows);

  bool none() const { return !closes_; }
  std::size_t size() const { return known_.size(); }

  /// The rows with the new numbers. Features that are not known get those behind size(), as they
  /// are met in increasing order.
  Features applied(const Rows& rows) const;
  /// The rows with their own numbers again; all features must be known.
  Features undone(const Rows& rows, std::size_t columns) const;

 private:
  std::vector<Index> known_;  ///< increasing
  bool closes_ = false;
};

}  // namespace maxmargin
