#include "maxmargin/certify/certify.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/certify/certify_known.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/certify/extended.hpp"
#include "maxmargin/certify/known.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

Known product_at(const DualQp& qp, std::vector<double> a, Precision precision,
                 const Threads& threads) {
  const std::vector<double> beta = qp.coefficients(a);
  std::vector<double> f(qp.K->size());
  qp.K->multiply(beta, f, precision, threads);
  const double error = product_error(*qp.K, beta, precision) + coefficient_error(qp, a);
  return {std::move(a), std::move(f), {error}};
}

/// f in long double, rounded once.
Known extended_product_at(const DualQp& qp, std::vector<double> a, const Threads& threads) {
  std::vector<double> f(qp.K->size());
  const double error = extended_product(*qp.K, qp.coefficients(a), f, threads);
  const double rounding = coefficient_error(qp, a);
  return {std::move(a), std::move(f), {rounded_up(error + rounding)}};
}

/// Clips the variables that a solver left outside of their bounds by a rounding error.
void put_within_bounds(const DualQp& qp, std::vector<double>& a) {
  for (std::size_t v = 0; v < qp.size(); ++v)
    a[v] = std::isnan(a[v]) ? qp.block[v].lower
                            : std::clamp(a[v], qp.block[v].lower, qp.block[v].upper);
}

double largest_error(const DualQp& qp, const ProductError& error) {
  double largest = 0;
  for (std::size_t p = 0; p < qp.K->size(); ++p)
    largest = std::max(largest, error.at(p) * std::sqrt(std::abs(qp.K->diagonal()[p])));
  return rounded_up(largest);
}

/// Points whose f enters an objective: support vectors, and those whose loss may change within
/// twice the error of f.
std::vector<Index> points_at_stake(const DualQp& qp, const Certified& rough) {
  std::vector<bool> at_stake(qp.K->size(), false);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const std::size_t p = qp.row[v];
    double rest = -block.sign * rough.f[p] - block.linear;
    for (std::size_t r = 0; r < qp.A.size(); ++r) rest -= qp.A[r][v] * rough.solution.lambda[r];
    const double error =
        2 * std::abs(block.sign) * rough.error.at(p) * std::sqrt(std::abs(qp.K->diagonal()[p]));
    if (rough.solution.a[v] != 0 || block.conjugate_beyond(rest - error) != 0 ||
        block.conjugate_beyond(rest + error) != 0)
      at_stake[p] = true;
  }
  std::vector<Index> points;
  for (std::size_t p = 0; p < at_stake.size(); ++p)
    if (at_stake[p]) points.push_back(static_cast<Index>(p));
  return points;
}

}  // namespace

double expected_rounding(const DualQp& qp, std::span<const double> a) {
  double squares = 0, largest = 0;
  for (const double coefficient : qp.coefficients(a)) squares += coefficient * coefficient;
  for (const double value : qp.K->diagonal()) largest = std::max(largest, std::abs(value));
  return qp.K->deviation() * largest * std::sqrt(squares);
}

namespace {

/// beta(a) - beta(known).
std::vector<double> change_of(const DualQp& qp, std::span<const double> a, const Known& known) {
  std::vector<double> change = qp.coefficients(a);
  const std::vector<double> before = qp.coefficients(known.a);
  for (std::size_t p = 0; p < change.size(); ++p) change[p] -= before[p];
  return change;
}

Known moved(const DualQp& qp, std::vector<double> a, const Known& known, Precision precision,
            const Threads& threads) {
  const std::vector<double> change = change_of(qp, a, known);
  std::vector<double> f(qp.K->size());
  qp.K->multiply(change, f, precision, threads);
  for (std::size_t p = 0; p < f.size(); ++p) f[p] += known.f[p];
  // The differences, and the sums above, are rounded too.
  const double more = product_error(*qp.K, change, precision) +
                      2 * (coefficient_error(qp, a) + coefficient_error(qp, known.a));
  ProductError error = known.error;
  error.all = rounded_up(error.all + more);
  for (double& each : error.of_point) each = rounded_up(each + more);
  return {std::move(a), std::move(f), std::move(error)};
}

/// Whether beta(a) - beta(known) has so few non-zeros that its product costs little.
bool is_small_change(const DualQp& qp, std::span<const double> a, const Known& known,
                     const CertifyChoice& choice) {
  const auto is_there = [](double each) { return each != 0; };
  return choice.near_share * std::ranges::count_if(change_of(qp, a, known), is_there) <=
         std::ranges::count_if(a, is_there);
}

}  // namespace

Known known_at(const DualQp& qp, std::vector<double> a, const Known& known,
               const Threads& threads) {
  return moved(qp, std::move(a), known, Precision::fast, threads);
}

Certified certify(const DualQp& qp, Solution solution, Precision precision,
                  const Threads& threads) {
  return certify_from(nullptr, qp, std::move(solution), precision, threads);
}

namespace {

/// The certificate but for its objectives: KKT violation, residuals, what is known of K.
Certificate conditions_of(const DualQp& qp, std::span<const double> a,
                          const Evaluation& evaluation) {
  Certificate certificate;
  certificate.kkt = std::isnan(evaluation.kkt) ? infinity : evaluation.kkt;
  certificate.mercer = qp.K->definite() != Definite::no;
  certificate.sampled = qp.K->definite() == Definite::unknown;
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    double sum = -qp.d[r];
    for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.A[r][v] * a[v];
    certificate.equality_residual = std::max(certificate.equality_residual, std::abs(sum));
  }
  return certificate;
}

void put_objectives(double primal, double dual, Certificate& certificate) {
  certificate.primal = certificate.best_primal = primal;
  certificate.dual = certificate.best_dual = dual;
  certificate.gap = rounded_up(std::max(0.0, primal - dual));
  certificate.relative_gap = relative_gap(primal, dual);
}

/// The certificate of a point whose f is known.
Certified judged(const DualQp& qp, Solution solution, Known now, const Stopwatch& clock) {
  solution.a = std::move(now.a);
  Evaluation evaluation = evaluate(qp, solution.a, now.f, solution.lambda);
  solution.lambda = std::move(evaluation.lambda);
  Certificate certificate = conditions_of(qp, solution.a, evaluation);
  // Objectives over a kernel that is not positive semi-definite bound nothing, however rounded.
  const bool mercer = certificate.mercer;
  const Enclosure enclosure =
      enclose(qp, solution.a, now.f, mercer ? now.error : ProductError{}, solution.lambda);
  put_objectives(enclosure.primal, enclosure.dual, certificate);
  certificate.rounding = mercer ? largest_error(qp, now.error) : expected_rounding(qp, solution.a);
  Certified result{std::move(solution), certificate, clock.seconds(), std::move(now.f),
                   std::move(now.error)};
  result.charge = std::max(0.0, certificate.gap - enclosure.gap);
  return result;
}

}  // namespace

Certified certify_from(const Known* known, const DualQp& qp, Solution solution, Precision precision,
                       const Context& context) {
  const Stopwatch clock;
  put_within_bounds(qp, solution.a);
  const bool is_known =
      known != nullptr &&
      (precision == Precision::fast ||
       (known->in_double && is_small_change(qp, solution.a, *known, context.costs.certify)));
  Known now = is_known ? moved(qp, std::move(solution.a), *known, precision, context.threads)
                       : product_at(qp, std::move(solution.a), precision, context.threads);
  return judged(qp, std::move(solution), std::move(now), clock);
}

Certified certify_known(const DualQp& qp, Solution solution, Known known) {
  return judged(qp, std::move(solution), std::move(known), Stopwatch());
}

Certified judge_unproved(const DualQp& qp, Solution solution, std::vector<double> f, double error) {
  const Stopwatch clock;
  put_within_bounds(qp, solution.a);
  Evaluation evaluation = evaluate(qp, solution.a, f, solution.lambda);
  solution.lambda = std::move(evaluation.lambda);
  Certificate certificate = conditions_of(qp, solution.a, evaluation);
  put_objectives(evaluation.primal, evaluation.dual, certificate);
  certificate.rounding = expected_rounding(qp, solution.a);
  return {std::move(solution), certificate, clock.seconds(), std::move(f), {error}};
}

Certified certify_finer(const DualQp& qp, Certified rough, const Context& context) {
  // Restricting K copies the points: worth it where few of them need f in double.
  const CertifyChoice& choice = context.costs.certify;
  const std::size_t all = qp.K->size();
  std::vector<Index> points;
  if (all >= choice.least_points &&
      qp.K->value_error(Precision::exact) < qp.K->value_error(Precision::fast))
    points = points_at_stake(qp, rough);
  if (points.empty() || points.size() > all / choice.points_at_stake)
    return certify(qp, std::move(rough.solution), Precision::exact, context.threads);
  const Stopwatch clock;
  const std::vector<double> beta = qp.coefficients(rough.solution.a);
  std::vector<double> own(points.size()), f(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) own[k] = beta[points[k]];
  const std::shared_ptr<const Quadratic> K = qp.K->restrict_to(points);
  K->multiply(own, f, Precision::exact, context.threads);
  const double error =
      product_error(*K, own, Precision::exact) + coefficient_error(qp, rough.solution.a);
  Known now{std::move(rough.solution.a), std::move(rough.f), std::move(rough.error)};
  if (now.error.of_point.empty()) now.error.of_point.assign(all, now.error.all);
  for (std::size_t k = 0; k < points.size(); ++k) {
    now.f[points[k]] = f[k];
    now.error.of_point[points[k]] = error;
  }
  return judged(qp, std::move(rough.solution), std::move(now), clock);
}

std::optional<Certified> certify_extended(const DualQp& qp, const Solution& solution,
                                          const Context& context) {
  const auto support = static_cast<std::size_t>(
      std::ranges::count_if(solution.a, [](double each) { return each != 0; }));
  if (!has_extended_product(*qp.K, support, context.costs.certify)) return std::nullopt;
  const Stopwatch clock;
  Solution within = solution;
  put_within_bounds(qp, within.a);
  Known now = extended_product_at(qp, std::move(within.a), context.threads);
  return judged(qp, std::move(within), std::move(now), clock);
}

}  // namespace maxmargin
