#pragma once

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// A base for oracles that solve the inference of another oracle's problem by another algorithm.
class SameExamples : public Oracle {
 public:
  /// `other` outlives it.
  explicit SameExamples(const Oracle& other) : other_(other) {}

  std::size_t examples() const override { return other_.examples(); }
  std::size_t dimensions() const override { return other_.dimensions(); }
  Structure truth(std::size_t i) const override { return other_.truth(i); }
  double loss(std::size_t i, StructureView y) const override { return other_.loss(i, y); }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    other_.features(i, y, scale, out);
  }
  const Metric* metric() const override { return other_.metric(); }
  bool is_structure(std::size_t i, StructureView y) const override {
    return other_.is_structure(i, y);
  }
  bool is_integral_structure(std::size_t i, StructureView y) const override {
    return other_.is_integral_structure(i, y);
  }
  std::string example_name(std::size_t i) const override { return other_.example_name(i); }

 protected:
  const Oracle& other_;
};

}  // namespace maxmargin
