#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

/// Multi-class classification as a structural problem: Psi(x,y) is x in the block of class y, Delta
/// a cost matrix. With the cost 1 for every error it is Crammer and Singer's machine.
class MulticlassOracle : public Oracle {
 public:
  /// `cost[y * classes + z]`: the cost of z where y is right; empty: 1 for every wrong class. A
  /// `bias` other than 0 adds a constant feature of that value.
  MulticlassOracle(Features x, std::vector<Index> y, std::size_t classes, std::vector<double> cost,
                   double bias);

  std::size_t examples() const override { return y_.size(); }
  std::size_t dimensions() const override { return classes_ * columns_; }
  Structure truth(std::size_t i) const override { return {static_cast<std::int32_t>(y_[i])}; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  using Oracle::most_violated;
  bool answers(Ask) const override { return true; }
  bool is_structure(std::size_t, StructureView y) const override {
    return y.size() == 1 && y[0] >= 0 && static_cast<std::size_t>(y[0]) < classes_;
  }
  std::size_t classes() const { return classes_; }

 private:
  Features x_;
  Rows rows_;
  std::vector<Index> y_;
  std::size_t classes_, columns_;
  std::vector<double> cost_;
  double bias_;
};

StructuredTask multiclass_structured_task();

}  // namespace maxmargin
