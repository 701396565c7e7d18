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

StructuredWeights::StructuredWeights(const Structured& problem, const Planes& planes)
    : StructuredWeights(problem.oracle) {
  JointFeatures psi;
  for (std::size_t i = 0; i < planes.size(); ++i)
    for (const Plane& plane : planes[i]) {
      if (plane.alpha == 0) continue;
      psi.clear();
      problem.oracle.difference(i, plane.y, problem.plane_scale(plane.loss), psi);
      for (std::size_t k = 0; k < psi.size(); ++k)
        coefficients_[psi.index[k]] += plane.alpha * psi.value[k];
    }
  if (metric_ == nullptr) return;
  psi.clear();
  for (std::size_t j = 0; j < coefficients_.size(); ++j)
    if (coefficients_[j] != 0) psi.add(j, coefficients_[j]);
  metric_->add_product(psi, 1, scores_);
}

double StructuredWeights::squared_norm() const {
  const std::span<const double> seen = scores();
  double sum = 0;
  for (std::size_t j = 0; j < coefficients_.size(); ++j) sum += coefficients_[j] * seen[j];
  return sum;
}

}  // namespace maxmargin
