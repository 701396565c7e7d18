#pragma once

#include "maxmargin/structured/same_examples.hpp"

namespace maxmargin {

/// Slack rescaling by an oracle that knows margin rescaling only. With d = Delta(y) and
/// m = w.psi(y), what is to be largest, d (1 - m), rises with d and falls with m; asked for w / t
/// the oracle finds the structure with the largest t d - m, so that all corners of the convex hull
/// of (d, m) on that side can be had, and the best of them is taken (Sarawagi and Gupta, 2008). A
/// structure inside the hull may be better than all its corners: a heuristic, and declared so.
class SlackHull : public SameExamples {
 public:
  using SameExamples::SameExamples;

  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  Exactness exactness() const override { return Exactness::heuristic; }
  bool answers(Ask) const override { return true; }
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    other_.difference(i, y, scale, out);
  }
  void margins(std::size_t i, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override {
    other_.margins(i, ys, w, out);
  }
  void combine(std::size_t i, std::span<const StructureView> ys, std::span<const double> scale,
               JointFeatures& out) const override {
    other_.combine(i, ys, scale, out);
  }
};

}  // namespace maxmargin
