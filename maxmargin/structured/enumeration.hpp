#pragma once

#include "maxmargin/structured/same_examples.hpp"

namespace maxmargin {

/// Brute force: the maximum over all structures, one after another; the first of equal ones.
/// Verifies another oracle.
class EnumerationOracle : public SameExamples {
 public:
  using SameExamples::SameExamples;

  bool answers(Ask) const override { return true; }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  /// Replaces y by its successor in some order, an empty y by the first structure; false at the
  /// end.
  virtual bool next(std::size_t i, Structure& y) const = 0;
};

}  // namespace maxmargin
