#include "maxmargin/structured/structured.hpp"

#include <cmath>

#include "maxmargin/base/error.hpp"

namespace maxmargin {

std::string_view to_string(Rescaling rescaling) {
  return rescaling == Rescaling::slack ? "slack" : "margin";
}

std::string_view to_string(Slack slack) {
  return slack == Slack::linear ? "linear" : slack == Slack::squared ? "squared" : "none";
}

void check(const Structured& problem) {
  if (problem.oracle.examples() == 0)
    throw Error(Fault::data, "there are no examples", "give a file that has some");
  if (!(problem.C > 0) || !std::isfinite(problem.C))
    throw Error(Fault::usage, "C must be a number greater than 0", "choose another --cost");
  if (!problem.oracle.answers(problem.ask()))
    throw Error(Fault::usage, "the oracle of this task does not know slack rescaling",
                "use --rescaling margin");
}

namespace {

JointFeatures nonzeros_of(const std::vector<double>& values) {
  JointFeatures list;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (values[j] != 0) list.add(j, values[j]);
  return list;
}

}  // namespace

std::vector<double> plane_coefficients(const Structured& problem, const Planes& planes) {
  std::vector<double> coefficients(problem.oracle.dimensions(), 0.0);
  JointFeatures psi;
  for (std::size_t i = 0; i < planes.size(); ++i)
    for (const Plane& plane : planes[i]) {
      if (plane.alpha == 0) continue;
      psi.clear();
      problem.oracle.difference(i, plane.y, problem.plane_scale(plane.loss), psi);
      for (std::size_t k = 0; k < psi.size(); ++k)
        coefficients[psi.index[k]] += plane.alpha * psi.value[k];
    }
  return coefficients;
}

StructuredWeights::StructuredWeights(const Oracle& oracle, std::vector<double> coefficients,
                                     Precision precision)
    : metric_(oracle.metric()), precision_(precision), coefficients_(std::move(coefficients)) {
  if (metric_ != nullptr) compute_scores();
}

void StructuredWeights::compute_scores() {
  scores_.assign(coefficients_.size(), 0.0);
  metric_->add_product(nonzeros_of(coefficients_), 1, precision_, scores_);
}

void StructuredWeights::use_exact_values() {
  if (metric_ == nullptr || precision_ == Precision::exact) return;
  precision_ = Precision::exact;
  compute_scores();
}

void StructuredWeights::begin_steps(const Oracle& oracle) {
  if (metric_ == nullptr) return;
  if (surrogate_ == nullptr) {
    std::vector<JointFeatures> truths(oracle.examples());
    for (std::size_t i = 0; i < truths.size(); ++i)
      oracle.features(i, oracle.truth(i), 1, truths[i]);
    surrogate_ = metric_->surrogate(truths);
  }
  coefficients_before_ = coefficients_;
  scores_before_ = scores_;
  surrogate_->begin(scores_);
  stepping_ = true;
}

StructuredWeights::Step StructuredWeights::sum_of_steps() {
  std::vector<double> change(coefficients_.size());
  for (std::size_t j = 0; j < change.size(); ++j)
    change[j] = coefficients_[j] - coefficients_before_[j];
  product_.assign(change.size(), 0.0);
  metric_->add_product(nonzeros_of(change), 1, precision_, product_);
  Step step;
  for (std::size_t j = 0; j < change.size(); ++j) {
    step.at_w += change[j] * scores_before_[j];
    step.square += change[j] * product_[j];
  }
  return step;
}

void StructuredWeights::end_steps(double t) {
  for (std::size_t j = 0; j < scores_.size(); ++j) {
    coefficients_[j] =
        t == 1 ? coefficients_[j]
               : coefficients_before_[j] + t * (coefficients_[j] - coefficients_before_[j]);
    scores_[j] = scores_before_[j] + t * product_[j];
  }
  stepping_ = false;
}

void StructuredWeights::scale(double t) {
  for (double& each : coefficients_) each *= t;
  for (double& each : scores_) each *= t;
}

double StructuredWeights::squared_norm() const {
  const std::span<const double> all = scores();
  double sum = 0;
  for (std::size_t j = 0; j < coefficients_.size(); ++j) sum += coefficients_[j] * all[j];
  return sum;
}

}  // namespace maxmargin
