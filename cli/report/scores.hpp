#pragma once

#include <string>
#include <unordered_map>

#include "cli/terminal/output.hpp"
#include "maxmargin/model/agreement.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin::cli {

/// Compares predictions with the labels of the data, batch by batch.
class Scores {
 public:
  explicit Scores(const Model& model);

  /// `predicted` as of Predictor::predict; `batch` may have no labels.
  void add(const Dataset& batch, std::size_t row, double predicted);

  /// What `predict --probability` writes beside the prediction.
  void add_beside(const Dataset& batch, std::size_t row, std::span<const double> beside);

  Json json() const;
  std::string summary() const;

 private:
  /// The class number of a label, or one that no prediction has.
  double class_of(const Dataset& batch, std::size_t row) const;
  bool labelled() const { return labelled_ > 0; }

  Outcome outcome_;
  std::unordered_map<std::string, double> by_name_;
  std::unordered_map<double, double> by_value_;

  std::uint64_t rows_ = 0, labelled_ = 0;
  std::uint64_t correct_ = 0, novel_ = 0;
  std::uint64_t normal_labels_ = 0, novel_labels_ = 0;  // labels 1 and -1 of one-class data
  Agreement agreement_;                                 // of numbers
  std::uint64_t judged_beside_ = 0;
  double beside_ = 0;  // summed: log loss of classes; rows within their interval
};

}  // namespace maxmargin::cli
