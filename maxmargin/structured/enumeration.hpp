#pragma once

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// Another oracle's examples, their most violated structures found by looking at one structure
/// after the other: slow and plain, to verify the other's. Of equal ones the first.
class EnumerationOracle : public Oracle {
 public:
  explicit EnumerationOracle(const Oracle& other) : other_(other) {}

  std::size_t examples() const override { return other_.examples(); }
  std::size_t dimensions() const override { return other_.dimensions(); }
  Structure truth(std::size_t i) const override { return other_.truth(i); }
  double loss(std::size_t i, StructureView y) const override { return other_.loss(i, y); }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    other_.features(i, y, scale, out);
  }
  bool answers(Ask) const override { return true; }
  const Metric* metric() const override { return other_.metric(); }
  bool is_structure(std::size_t i, StructureView y) const override {
    return other_.is_structure(i, y);
  }
  bool is_whole_structure(std::size_t i, StructureView y) const override {
    return other_.is_whole_structure(i, y);
  }
  std::string example_name(std::size_t i) const override { return other_.example_name(i); }

  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;

 protected:
  /// The next structure after y in some order; an empty one to begin with, and false at the end.
  virtual bool next(std::size_t i, Structure& y) const = 0;
  const Oracle& other_;
};

}  // namespace maxmargin
