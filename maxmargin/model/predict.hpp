#pragma once

#include <memory>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// A model made ready for prediction: support vectors packed once, all machines evaluated on the
/// same kernel tiles.
class Predictor {
 public:
  explicit Predictor(const Model& model);  ///< keeps a reference: the model must outlive it
  ~Predictor();

  /// f of every machine for every row: values[row * machines + machine]. Sums are double.
  std::vector<double> decision_values(const Rows& rows, const Threads& threads) const;

  /// What is predicted from the decision values of one row: the class number, the regression value,
  /// or +1 / -1 (novelty). One-vs-one counts votes and breaks ties by the sum of margins.
  double predict(std::span<const double> decision_values) const;

  /// Scales a copy of rows as the model was trained, when it has a scaling; rows with more
  /// features than the model knows keep only those it knows when these are zero, else Error.
  Features prepared(const Rows& rows) const;

 private:
  struct Packed;
  const Model& model_;
  std::unique_ptr<Packed> packed_;
};

}  // namespace maxmargin
