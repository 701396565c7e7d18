#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/libsvm/model.hpp"
#include "maxmargin/model/predict.hpp"

namespace maxmargin {

/// The decision rules of a model, see LibsvmPredictor.
double libsvm_predicted(const LibsvmModel& model, std::span<const double> decision_values);
std::vector<double> libsvm_probabilities(const LibsvmModel& model,
                                         std::span<const double> decision_values);
double libsvm_likeliest(const LibsvmModel& model, std::span<const double> decision_values);

/// Predicts as LIBSVM does: decision values in the order of its pairs, votes without regard to
/// margins. Rows have the features of LIBSVM's files.
class LibsvmPredictor {
 public:
  /// Keeps a reference: the model must outlive it.
  explicit LibsvmPredictor(const LibsvmModel& model);

  std::size_t pairs() const { return model_.rho.size(); }

  /// values[row * pairs() + pair]. Unless they only decide between classes they are exact, so that
  /// they have the digits of LIBSVM's.
  std::vector<double> decision_values(const Rows& rows, const Threads& threads) const;
  std::vector<double> decision_values(const Rows& rows, const Threads& threads,
                                      Precision precision) const;

  /// The label that most pairs vote for, the first of them in LIBSVM's order of classes; the value
  /// of a regression; +1 or -1 of one-class.
  double predict(std::span<const double> decision_values) const {
    return libsvm_predicted(model_, decision_values);
  }

  /// The probability of each class, in LIBSVM's order; that of "normal" and of "novel" for
  /// one-class. The model has what they are made of.
  std::vector<double> probabilities(std::span<const double> decision_values) const {
    return libsvm_probabilities(model_, decision_values);
  }
  /// The label with the largest of them, which need not be that of predict(): LIBSVM's -b 1.
  double likeliest(std::span<const double> decision_values) const {
    return libsvm_likeliest(model_, decision_values);
  }

 private:
  struct PairMachine {
    std::size_t machine;  ///< of the own model that decides a pair
    double sign;          ///< -1: its positive class is the pair's second
  };
  Features matrix_rows(const Rows& rows) const;
  std::vector<double> by_definition(const Rows& rows, const Threads& threads) const;

  const LibsvmModel& model_;
  std::unique_ptr<Engine> engine_;  ///< of the support vectors, for classes of a few; or else own_
  std::vector<double> of_column_;   ///< with it: the coefficients, column by column
  std::vector<std::uint64_t> serial_;  ///< precomputed kernel: the columns in use, increasing
  Model own_;
  std::optional<Predictor> predictor_;  ///< none where there is only one class
  std::vector<PairMachine> pair_machine_;
};

/// The class with the most votes of all pairs, the first of equals.
std::size_t libsvm_voted(std::span<const double> decision_values, std::size_t classes);

/// LIBSVM's probabilities of classes from the decision values of all pairs.
std::vector<double> libsvm_probabilities(std::span<const double> decision_values,
                                         std::span<const double> prob_a,
                                         std::span<const double> prob_b, std::size_t classes);

}  // namespace maxmargin
