#include "maxmargin/train/folds/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace maxmargin {
namespace {

/// The negative log-likelihood of sigmoids over given values, and its derivatives.
class Likelihood {
 public:
  Likelihood(std::span<const double> f, std::span<const double> target,
             std::span<const double> weight)
      : f_(f), weight_(weight) {
    for (std::size_t i = 0; i < f.size(); ++i)
      (target[i] > 0 ? positive_ : negative_) += weight_of(i);
    softened_.reserve(f.size());
    for (std::size_t i = 0; i < f.size(); ++i)
      softened_.push_back(target[i] > 0 ? (positive_ + 1) / (positive_ + 2) : 1 / (negative_ + 2));
  }

  /// The best constant probability.
  PlattSigmoid constant() const { return {0, std::log((negative_ + 1) / (positive_ + 1))}; }

  double value(const PlattSigmoid& at) const {
    double sum = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const double z = at.slope * f_[i] + at.offset;
      const double term = z >= 0 ? softened_[i] * z + std::log(1 + std::exp(-z))
                                 : (softened_[i] - 1) * z + std::log(1 + std::exp(z));
      sum += weight_of(i) * term;
    }
    return sum;
  }

  struct Derivatives {
    double slope = 0, offset = 0;
    double slope2 = 0, cross = 0, offset2 = 0;
  };
  Derivatives derivatives(const PlattSigmoid& at) const {
    Derivatives d;
    // Keeps the matrix of second derivatives invertible.
    d.slope2 = d.offset2 = 1e-12;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const double z = at.slope * f_[i] + at.offset, small = std::exp(-std::abs(z));
      const double p = (z >= 0 ? small : 1) / (1 + small);
      const double first = weight_of(i) * (softened_[i] - p);
      const double second = weight_of(i) * (small / (1 + small) / (1 + small));
      d.slope += f_[i] * first;
      d.offset += first;
      d.slope2 += f_[i] * f_[i] * second;
      d.cross += f_[i] * second;
      d.offset2 += second;
    }
    return d;
  }

 private:
  double weight_of(std::size_t i) const { return weight_.empty() ? 1 : weight_[i]; }

  std::span<const double> f_, weight_;
  std::vector<double> softened_;
  double positive_ = 0, negative_ = 0;
};

/// The decision values of one machine at rows that it was not trained on.
struct JudgedRows {
  std::vector<double> f, target, weight;

  JudgedRows(const Prepared& prepared, const Subproblem& problem, std::span<const double> values,
             const Task& task) {
    const auto* svc = std::get_if<Svc>(&task);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Example& example = problem.examples[k];
      if (std::isnan(values[k])) continue;
      f.push_back(values[k]);
      target.push_back(example.target);
      // The cost is price times weight, that of its class included; of a hard margin it is infinite
      // and classes have no weights.
      const bool has_price = svc != nullptr && !svc->hard_margin;
      weight.push_back(has_price                             ? example.cost / svc->cost
                       : std::holds_alternative<NuSvc>(task) ? example.cost
                                                             : prepared.weight_of(example.row));
    }
  }
};

PlattSigmoid falling_sigmoid(const JudgedRows& judged) {
  const PlattSigmoid sigmoid = fit_sigmoid(judged.f, judged.target, judged.weight);
  if (sigmoid.slope <= 0) return sigmoid;
  // A sigmoid that decreases: f is of no use, and the probability constant.
  return fit_sigmoid(std::vector(judged.f.size(), 0.0), judged.target, judged.weight);
}

}  // namespace

PlattSigmoid fit_sigmoid(std::span<const double> f, std::span<const double> target,
                         std::span<const double> weight, double tolerance) {
  constexpr int most_steps = 100;
  constexpr double shortest_step = 1e-10, sufficient = 1e-4;
  const Likelihood likelihood(f, target, weight);
  PlattSigmoid best = likelihood.constant();
  double least = likelihood.value(best);
  for (int step = 0; step < most_steps; ++step) {
    const Likelihood::Derivatives d = likelihood.derivatives(best);
    if (std::abs(d.slope) < tolerance && std::abs(d.offset) < tolerance) break;
    const double determinant = d.slope2 * d.offset2 - d.cross * d.cross;
    const double slope = -(d.offset2 * d.slope - d.cross * d.offset) / determinant;
    const double offset = -(d.slope2 * d.offset - d.cross * d.slope) / determinant;
    const double fall = d.slope * slope + d.offset * offset;
    double length = 1;
    for (; length >= shortest_step; length /= 2) {
      const PlattSigmoid next{best.slope + length * slope, best.offset + length * offset};
      const double value = likelihood.value(next);
      if (!(value < least + sufficient * length * fall)) continue;
      best = next;
      least = value;
      break;
    }
    if (length < shortest_step) break;
  }
  return best;
}

Calibration calibrate(const Prepared& prepared, const OutOfFold& judged, const Task& task,
                      int folds) {
  Calibration result;
  result.folds = folds;
  const Outcome outcome = prepared.problems.outcome;
  for (std::size_t i = 0; i < judged.predicted.size(); ++i)
    if (!std::isnan(judged.predicted[i])) result.weight += prepared.weight_of(i);
  for (std::size_t m = 0; m < judged.f.size(); ++m) {
    JudgedRows rows(prepared, prepared.problems.list[m], judged.f[m], task);
    if (outcome == Outcome::classes) {
      result.sigmoid.push_back(falling_sigmoid(rows));
      continue;
    }
    if (outcome == Outcome::number)
      for (std::size_t k = 0; k < rows.f.size(); ++k) {
        rows.f[k] = rows.target[k] - rows.f[k];
        result.noise += rows.weight[k] * std::abs(rows.f[k]) / result.weight;
      }
    result.marks = quantile_marks(rows.f, rows.weight);
  }
  return result;
}

}  // namespace maxmargin
