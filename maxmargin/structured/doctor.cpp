#include "maxmargin/structured/doctor.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin {
namespace {

constexpr double rounding = 1e-9;

class Examination {
 public:
  Examination(const Structured& problem, std::size_t example)
      : problem_(problem), oracle_(problem.oracle), i_(example) {}

  void check_truth() const {
    const double loss = oracle_.loss(i_, oracle_.truth(i_));
    if (loss != 0) refuse("the loss of the truth is " + std::to_string(loss) + ", not 0");
    // Before the oracle is called, which might read beyond the end of w.
    JointFeatures features;
    oracle_.features(i_, oracle_.truth(i_), 1, features);
    check_features(features);
  }

  /// The oracle's answer, after the tests that need no other structure.
  Structure answer(std::span<const double> w) const {
    Structure y = oracle_.most_violated(i_, w, problem_.ask());
    if (y != oracle_.most_violated(i_, w, problem_.ask()))
      refuse("the oracle gives two answers to the same question");
    const double loss = oracle_.loss(i_, y);
    if (!std::isfinite(loss) || loss < 0)
      refuse("the loss of a structure is " + std::to_string(loss));
    JointFeatures psi, plain;
    oracle_.difference(i_, y, 1, psi);
    oracle_.features(i_, oracle_.truth(i_), 1, plain);
    oracle_.features(i_, y, -1, plain);
    check_features(psi);
    check_features(plain);
    if (std::abs(psi.dot(w) - plain.dot(w)) > rounding * (1 + size(plain, w)))
      refuse("difference() is not the truth's features less those of the structure");
    return y;
  }

  void check_no_better(StructureView found, StructureView other, std::span<const double> w,
                       const std::string& which) const {
    if (oracle_.exactness() == Exactness::heuristic) return;
    const double mine = score(found, w), its = score(other, w);
    if (its > mine + rounding * (1 + std::abs(its) + scale_))
      refuse("the oracle's most violated structure has s = " + std::to_string(mine) + ", " + which +
             " has " + std::to_string(its));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Fault::data, oracle_.example_name(i_) + ": " + what, "mend the oracle");
  }
  void check_features(const JointFeatures& features) const {
    for (std::size_t k = 0; k < features.size(); ++k) {
      if (features.index[k] >= oracle_.dimensions())
        refuse("feature " + std::to_string(features.index[k]) + " is beyond the " +
               std::to_string(oracle_.dimensions()) + " dimensions");
      if (!std::isfinite(features.value[k])) refuse("a feature is not finite");
    }
  }
  static double size(const JointFeatures& features, std::span<const double> w) {
    double sum = 0;
    for (std::size_t k = 0; k < features.size(); ++k)
      sum += std::abs(features.value[k] * w[features.index[k]]);
    return sum;
  }
  double score(StructureView y, std::span<const double> w) const {
    JointFeatures psi;
    const double loss = oracle_.loss(i_, y);
    oracle_.difference(i_, y, problem_.plane_scale(loss), psi);
    scale_ = std::max(scale_, size(psi, w));
    return loss - psi.dot(w);
  }

  const Structured& problem_;
  const Oracle& oracle_;
  std::size_t i_;
  mutable double scale_ = 0;
};

}  // namespace

void examine(const Structured& problem, const DoctorOptions& options) {
  check(problem);
  const std::size_t n = problem.oracle.examples();
  const std::size_t count = std::min(n, options.examples);
  Rng rng(options.seed);
  std::vector<std::vector<double>> weights(options.weights + 1);
  for (std::size_t k = 0; k < weights.size(); ++k)
    for (std::size_t j = 0; j < problem.oracle.dimensions(); ++j)
      weights[k].push_back(k == 0 ? 0 : 2 * rng.uniform() - 1);
  for (std::size_t e = 0; e < count; ++e) {
    const std::size_t i = e * n / count;
    const Examination one(problem, i);
    one.check_truth();
    std::vector<Structure> found;
    for (const auto& w : weights) found.push_back(one.answer(w));
    for (std::size_t k = 0; k < weights.size(); ++k) {
      one.check_no_better(found[k], problem.oracle.truth(i), weights[k], "the truth");
      for (const Structure& other : found)
        one.check_no_better(found[k], other, weights[k], "one that it returned for another w");
    }
  }
}

}  // namespace maxmargin
