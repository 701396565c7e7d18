#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace maxmargin {

/// P(positive | f) = 1 / (1 + exp(slope f + offset)), Platt's sigmoid. The slope is negative where
/// f tells the classes apart.
struct PlattSigmoid {
  double slope = 0;
  double offset = 0;

  double operator()(double f) const;
  friend bool operator==(const PlattSigmoid&, const PlattSigmoid&) = default;
};

/// When the coupling of pairs stops: the largest violation of its optimality condition times the
/// number of classes, and a limit of rounds (at least the number of classes).
struct Coupling {
  double tolerance = 1e-10;
  int rounds = 1000;
};

/// The probabilities p, summing to 1, that make sum over pairs of (r_ji p_i - r_ij p_j)^2 smallest
/// (Wu, Lin and Weng 2004, the second method). `pairwise[i * classes + j]` is r_ij, the probability
/// of class i if it is i or j; r_ij + r_ji = 1 and all of them lie strictly between 0 and 1.
std::vector<double> couple(std::span<const double> pairwise, std::size_t classes,
                           const Coupling& coupling = {});

/// Changes probabilities by the least sum of squares so that `label` leads every other by a little:
/// enough to be seen in six digits.
void make_largest(std::size_t label, std::span<double> probabilities);

/// Turns decision values into probabilities; learned by cross-validation, from decision values at
/// held-out rows.
struct Calibration {
  int folds = 0;                      ///< of the cross-validation it comes from; 0: there is none
  double weight = 0;                  ///< the summed weights of the rows it was learned from
  std::vector<PlattSigmoid> sigmoid;  ///< classes: one for each machine
  double noise = 0;  ///< numbers: mean |y - f|, the scale of noise with Laplace's distribution
  /// Quantiles, at equal steps from the smallest to the largest, of y - f (numbers) or of f
  /// (novelty).
  std::vector<double> marks;

  bool none() const { return folds == 0; }

  /// How much of the training rows is at most as normal as this one: small for novel rows. Never
  /// below 1 / (rows + 1).
  double p_value(double f) const;

  struct Interval {
    double lower, upper;
  };
  /// Holds y - f with the given probability, as far as the rows seen can tell: between quantiles
  /// that leave the same share out on either side. Of Laplace's distribution if there are no marks.
  Interval interval(double level) const;
};

/// Marks for Calibration: the quantiles of values with weights (empty: all 1).
std::vector<double> quantile_marks(std::span<const double> values, std::span<const double> weights);

}  // namespace maxmargin
