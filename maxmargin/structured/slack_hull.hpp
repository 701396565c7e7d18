#pragma once

#include "maxmargin/structured/same_examples.hpp"

namespace maxmargin {

/// Slack rescaling by an oracle for margin rescaling (Sarawagi and Gupta 2008). With d = Delta(y)
/// and m = w.psi(y), the objective d (1 - m) increases in d and decreases in m. Asked with w / t,
/// the oracle returns a structure with the largest t d - m; over all t these are the vertices of
/// the convex hull of the points (d, m) on that side, and the best of them is returned. A point
/// inside the hull can be better than all vertices, so this is a heuristic.
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
