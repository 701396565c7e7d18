#pragma once

#include <memory>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Rows as the machines of a model see them.
struct RowsToPredict {
  Features x;
  std::vector<double> functions;  ///< as of ParametricFunctions::values, where there are any
};

/// What is predicted from the decision values of one row: the class number, the regression value,
/// or +1 / -1 (novelty).
double predicted(const Model& model, std::span<const double> decision_values);

/// The decision values that may decide what is predicted by their sign or order, if each of them
/// has an error of up to `error`.
std::vector<std::size_t> in_doubt(const Model& model, std::span<const double> values,
                                  std::span<const double> error);

/// A model made ready for prediction: support vectors packed once, all machines evaluated on the
/// same kernel tiles.
class Predictor {
 public:
  /// Keeps a reference: the model must outlive it. Throws Error for a kernel that is the user's own
  /// function when the model has none, as after loading it from a file.
  explicit Predictor(const Model& model, const CostModel& costs = {});
  explicit Predictor(Model&&) = delete;
  ~Predictor();

  /// f of every machine for every row: values[row * machines + machine]. Rows are taken as they
  /// are: see prepared(), without which a model that scales its rows has no functions. Sums are
  /// double; kernel values are float, and double for the f that are so near to zero (or,
  /// one-vs-rest, to the largest) that the prediction could depend on it. The same bits for any
  /// number of threads and whatever other rows are given. `exact`: all of them with double kernel
  /// values.
  std::vector<double> decision_values(const Rows& rows, const Threads& threads,
                                      Precision precision = Precision::fast) const;
  std::vector<double> decision_values(const RowsToPredict& rows, const Threads& threads,
                                      Precision precision = Precision::fast) const;

  double predict(std::span<const double> decision_values) const {
    return predicted(model_, decision_values);
  }

  /// The probability of each class for the decision values of one row; that of the class predict()
  /// gives is strictly the largest. Error unless the model is one of classes with a calibration.
  std::vector<double> probabilities(std::span<const double> decision_values) const;

  /// A copy of rows with the model's features, scaled as it was trained when it has a scaling.
  /// Features that the model does not know: sparse rows keep them where there is no scaling, since
  /// they count in a distance; otherwise they must be zero, else Error. Sparse rows may have fewer
  /// (the others are zero), dense ones may not. The model's functions see the rows as given.
  RowsToPredict prepared(const Rows& rows) const;
  /// Should a function have no value, the first row is called `first_row` + 1.
  RowsToPredict prepared(const Rows& rows, const Threads& threads, std::size_t first_row = 0) const;

  /// Whether rows can do without prepared().
  bool takes_as_it_is(const Rows& rows) const;

 private:
  struct Packed;
  std::vector<double> values_of(Rows rows, std::span<const double> functions,
                                const Threads& threads, Precision precision) const;
  void evaluate(const Rows& rows, std::span<const double> functions, std::size_t begin,
                Precision precision, std::span<double> values) const;
  void add_functions(std::span<const double> functions, std::size_t row, double* sums) const;

  const Model& model_;
  std::unique_ptr<Packed> packed_;
};

}  // namespace maxmargin
