#pragma once

#include <array>
#include <optional>
#include <span>

#include "maxmargin/model/probability.hpp"

// LIBSVM's own definitions of probabilities (svm-train -b 1). Its sigmoid is PlattSigmoid with
// probA = slope and probB = offset.

namespace maxmargin {

/// Its coupling of pairs stops early: probabilities are good to about two digits.
inline constexpr Coupling libsvm_coupling{0.005, 100};

/// Its sigma of a regression: the mean |y - f| over rows of a 5-fold cross-validation, those beyond
/// five standard deviations left out.
double libsvm_noise(std::span<const double> residuals);

/// Its ten marks of a one-class machine (since 3.31), increasing decision values, and from them the
/// probability, in tenths, that a row is normal.
using DensityMarks = std::array<double, 10>;
double libsvm_density(const DensityMarks& marks, double f);
/// The marks from the decision values on the training rows; nothing where fewer than five of them
/// are negative, or fewer than five not.
std::optional<DensityMarks> libsvm_density_marks(std::span<const double> f);

}  // namespace maxmargin
