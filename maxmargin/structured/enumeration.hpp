#pragma once

#include "maxmargin/structured/same_examples.hpp"

namespace maxmargin {

/// Another oracle's examples, their most violated structures found by looking at one structure
/// after the other: slow and plain, to verify the other's. Of equal ones the first.
class EnumerationOracle : public SameExamples {
 public:
  using SameExamples::SameExamples;

  bool answers(Ask) const override { return true; }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  /// The next structure after y in some order; an empty one to begin with, and false at the end.
  virtual bool next(std::size_t i, Structure& y) const = 0;
};

}  // namespace maxmargin
