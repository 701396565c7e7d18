#pragma once

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// Slack rescaling by an oracle that knows margin rescaling only. With d = Delta(y) and
/// m = w.psi(y), what is to be largest, d (1 - m), rises with d and falls with m; asked for w / t
/// the oracle finds the structure with the largest t d - m, so that all corners of the convex hull
/// of (d, m) on that side can be had, and the best of them is taken (Sarawagi and Gupta, 2008). A
/// structure inside the hull may be better than all its corners: a heuristic, and declared so.
class SlackHull : public Oracle {
 public:
  /// `oracle` outlives it.
  explicit SlackHull(const Oracle& oracle) : oracle_(oracle) {}

  std::size_t examples() const override { return oracle_.examples(); }
  std::size_t dimensions() const override { return oracle_.dimensions(); }
  Structure truth(std::size_t i) const override { return oracle_.truth(i); }
  double loss(std::size_t i, StructureView y) const override { return oracle_.loss(i, y); }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    oracle_.features(i, y, scale, out);
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  Exactness exactness() const override { return Exactness::heuristic; }
  bool answers(Ask) const override { return true; }
  const Metric* metric() const override { return oracle_.metric(); }
  void difference(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    oracle_.difference(i, y, scale, out);
  }
  void margins(std::size_t i, std::span<const StructureView> ys, std::span<const double> w,
               std::span<double> out) const override {
    oracle_.margins(i, ys, w, out);
  }
  void combine(std::size_t i, std::span<const StructureView> ys, std::span<const double> scale,
               JointFeatures& out) const override {
    oracle_.combine(i, ys, scale, out);
  }
  bool is_structure(std::size_t i, StructureView y) const override {
    return oracle_.is_structure(i, y);
  }
  bool is_whole_structure(std::size_t i, StructureView y) const override {
    return oracle_.is_whole_structure(i, y);
  }
  std::string example_name(std::size_t i) const override { return oracle_.example_name(i); }

 private:
  const Oracle& oracle_;
};

}  // namespace maxmargin
