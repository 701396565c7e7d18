#include "maxmargin/structured/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

constexpr double unit = std::numeric_limits<double>::epsilon() / 2;

/// The scores that oracles are asked with, and how wrong each may be: 0 where they are w itself.
struct Scores {
  std::span<const double> values;
  double error = 0;
  double operator[](std::size_t k) const { return values[k]; }
};

Scores scores_of(const Structured& problem, const StructuredWeights& w) {
  const Metric* metric = problem.oracle.metric();
  return {w.scores(), metric == nullptr ? 0 : metric->score_error(w.coefficients())};
}

/// s of a structure, and a bound of its rounding error.
struct Scored {
  double s = 0;
  double error = 0;
};

Scored score(const Structured& problem, std::size_t i, StructureView y, double loss,
             const Scores& w, JointFeatures& psi) {
  psi.clear();
  problem.oracle.difference(i, y, problem.plane_scale(loss), psi);
  double sum = 0, size = 0, given = 0;
  for (std::size_t k = 0; k < psi.size(); ++k) {
    const double term = w[psi.index[k]] * psi.value[k];
    sum += term;
    size += std::abs(term);
    given += w.error * std::abs(psi.value[k]);
  }
  return {loss - sum, static_cast<double>(psi.size() + 2) * unit * (size + loss) + given};
}

/// A bound of the rounding errors inside an oracle, whose sums run over all features of the truth
/// and of y.
double oracle_error(const Oracle& oracle, std::size_t i, StructureView y, const Scores& w,
                    JointFeatures& psi) {
  psi.clear();
  oracle.features(i, oracle.truth(i), 1, psi);
  oracle.features(i, y, 1, psi);
  double size = 0, given = 0;
  for (std::size_t k = 0; k < psi.size(); ++k) {
    size += std::abs(w[psi.index[k]] * psi.value[k]);
    given += w.error * std::abs(psi.value[k]);
  }
  return static_cast<double>(psi.size() + 2) * unit * size + given;
}

/// What wrong scores may change of 1/2 c'Mc.
double half_norm_error(const StructuredWeights& w, double score_error) {
  double size = 0;
  if (score_error > 0)
    for (const double c : w.coefficients()) size += std::abs(c);
  return size * score_error / 2;
}

struct Term {
  double violation = 0;  ///< m_i
  double A = 0, sum_as = 0, sum_loss = 0;
  double rounding = 0;
  std::uint64_t planes = 0;
  bool whole = true;  ///< all points are structures, none belongs to a relaxation only
};

[[noreturn]] void refuse(const Structured& problem, std::size_t i, const std::string& what,
                         const std::string& mend) {
  throw Error(Fault::data, problem.oracle.example_name(i) + ": " + what, mend);
}

double checked_loss(const Structured& problem, std::size_t i, StructureView y) {
  const double loss = problem.oracle.loss(i, y);
  if (!std::isfinite(loss) || loss < 0)
    refuse(problem, i, "the oracle gives a structure the loss " + std::to_string(loss),
           "a loss is a finite number and not negative");
  return loss;
}

/// `a_error`: the relative rounding error of sums over planes.
Term term_of(const Structured& problem, std::size_t i, const std::vector<Plane>& planes,
             StructureView violator, const Scores& w, double a_error) {
  JointFeatures psi;
  Term term;
  const double loss = checked_loss(problem, i, violator);
  const Scored best = score(problem, i, violator, loss, w, psi);
  if (!std::isfinite(best.s))
    refuse(problem, i, "a score is not finite", "look for infinite or huge features");
  const double inner =
      oracle_error(problem.oracle, i, violator, w, psi) * problem.plane_scale(loss);
  const bool maximises = problem.oracle.exactness() != Exactness::heuristic;
  const double tolerance = 1e3 * (inner + best.error);
  if (maximises && best.s < -tolerance)
    refuse(problem, i, "the oracle's most violated structure is worse than the truth",
           "mend the oracle, or let it say that it is heuristic");
  term.whole = problem.oracle.is_integral_structure(i, violator);
  term.violation = std::max(0.0, best.s);
  double charged = inner + best.error;
  double weighted_error = 0;
  for (const Plane& plane : planes) {
    if (!(plane.alpha >= 0) || !std::isfinite(plane.alpha))
      refuse(problem, i, "a plane has a negative alpha", "the model is damaged: train it again");
    const double plane_loss = checked_loss(problem, i, plane.y);
    const Scored known = score(problem, i, plane.y, plane_loss, w, psi);
    if (maximises && known.s > best.s + tolerance + 1e3 * known.error && known.s > tolerance)
      refuse(problem, i,
             "the oracle's most violated structure is worse than one it returned before",
             "mend the oracle, or let it say that it is heuristic");
    term.violation = std::max(term.violation, known.s);
    charged = std::max(charged, known.error);
    if (plane.alpha == 0) continue;
    ++term.planes;
    term.whole = term.whole && problem.oracle.is_integral_structure(i, plane.y);
    term.A += plane.alpha;
    term.sum_as += plane.alpha * known.s;
    term.sum_loss += plane.alpha * plane_loss;
    weighted_error += plane.alpha * (known.error + a_error * (std::abs(known.s) + plane_loss));
  }
  const double U = problem.capacity();
  if (term.A > U * (1 + 1e-9))
    refuse(problem, i, "the sum of its planes' alpha is larger than C/n",
           "the model is damaged: train it again");
  const double slope = problem.slack == Slack::squared
                           ? 2 * problem.share() * term.violation
                           : (problem.slack == Slack::linear ? U : term.A);
  term.rounding = weighted_error + (slope + std::max(0.0, term.A - U)) * charged +
                  std::max(0.0, term.A - U) * term.violation;
  return term;
}

}  // namespace

CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const WeightsToCertify& weights, const Threads& threads) {
  const StructuredWeights& w = weights.other == nullptr ? weights.own : *weights.other;
  const std::size_t n = problem.oracle.examples();
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  CertifiedStructures result;
  result.violators = problem.oracle.most_violated(all, w.scores(), problem.ask(), threads);
  std::size_t count = 0;
  for (const auto& each : planes) count += each.size();
  const double a_error = static_cast<double>(count + 2) * unit;
  const Scores asked = scores_of(problem, w);
  std::vector<Term> terms(n);
  threads.split(n, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      terms[i] = term_of(problem, i, planes[i], result.violators[i], asked, a_error);
  });

  StructuredCertificate& certificate = result.certificate;
  certificate.exactness = problem.oracle.exactness();
  const double half_norm = w.squared_norm() / 2;
  const double own_half_norm = weights.own.squared_norm() / 2;
  double cost = 0, sum_loss = 0, squares = 0, gap = 0;
  bool whole = true;
  result.terms.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Term& term = terms[i];
    result.terms[i] = problem.gap_term(term.violation, term.A, term.sum_as);
    gap += result.terms[i];
    cost += problem.cost(term.violation);
    sum_loss += term.sum_loss;
    squares += problem.curvature() / 2 * term.A * term.A;
    certificate.rounding += term.rounding;
    certificate.planes += term.planes;
    whole = whole && term.whole;
    if (problem.slack == Slack::none)
      certificate.violation = std::max(certificate.violation, term.violation);
  }
  // A maximum over a superset that is attained at a structure is the maximum over the structures.
  if (certificate.exactness == Exactness::relaxed && whole)
    certificate.exactness = Exactness::exact;
  certificate.rounding += static_cast<double>(n) * unit * (cost + sum_loss + std::abs(half_norm)) +
                          half_norm_error(w, asked.error) +
                          half_norm_error(weights.own, scores_of(problem, weights.own).error);
  certificate.primal = half_norm + cost;
  certificate.dual = sum_loss - own_half_norm - squares;
  if (weights.other != nullptr) gap = certificate.primal - certificate.dual;
  certificate.gap = std::max(0.0, gap) + certificate.rounding;
  const double size = std::abs(certificate.primal) + std::abs(certificate.dual);
  certificate.relative_gap = size > 0 ? 2 * certificate.gap / size : 0;
  return result;
}

CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const Threads& threads) {
  return certify(problem, planes, {StructuredWeights(problem, planes)}, threads);
}

double structured_primal(const Structured& problem, std::span<const double> scores,
                         double squared_norm, const Threads& threads) {
  const std::size_t n = problem.oracle.examples();
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<Structure> found =
      problem.oracle.most_violated(all, scores, problem.ask(), threads);
  double cost = 0;
  JointFeatures psi;
  for (std::size_t i = 0; i < n; ++i) {
    const double loss = checked_loss(problem, i, found[i]);
    cost += problem.cost(std::max(0.0, score(problem, i, found[i], loss, {scores}, psi).s));
  }
  return squared_norm / 2 + cost;
}

}  // namespace maxmargin
