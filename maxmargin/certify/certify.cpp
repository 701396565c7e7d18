#include "maxmargin/certify/certify.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/known.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

Rounding rounding_of(const DualQp& qp, std::span<const double> beta) {
  double squares = 0, largest = 0;
  for (const double coefficient : beta) squares += coefficient * coefficient;
  for (const double value : qp.K->diagonal()) largest = std::max(largest, std::abs(value));
  const double deviation = qp.K->deviation() * largest;
  return {deviation * std::sqrt(squares), deviation * squares / 2};
}

Known product_at(const DualQp& qp, std::vector<double> a, Precision precision,
                 const Threads& threads) {
  const std::vector<double> beta = qp.coefficients(a);
  std::vector<double> f(qp.K->size());
  qp.K->multiply(beta, f, precision, threads);
  double rounding = rounding_of(qp, beta).f;
  if (precision == Precision::exact) rounding *= qp.K->traits().double_error / qp.K->deviation();
  return {std::move(a), std::move(f), rounding};
}

}  // namespace

Rounding expected_rounding(const DualQp& qp, std::span<const double> a) {
  return rounding_of(qp, qp.coefficients(a));
}

Known known_at(const DualQp& qp, std::vector<double> a, const Known& known,
               const Threads& threads) {
  std::vector<double> change = qp.coefficients(a), f(qp.K->size());
  const std::vector<double> before = qp.coefficients(known.a);
  for (std::size_t p = 0; p < change.size(); ++p) change[p] -= before[p];
  qp.K->multiply(change, f, Precision::fast, threads);
  for (std::size_t p = 0; p < f.size(); ++p) f[p] += known.f[p];
  return {std::move(a), std::move(f), std::hypot(known.rounding, rounding_of(qp, change).f)};
}

Certified certify(const DualQp& qp, Solution solution, Precision precision,
                  const Threads& threads) {
  return certify_near(nullptr, qp, std::move(solution), precision, threads);
}

Certified certify_near(const Known* known, const DualQp& qp, Solution solution, Precision precision,
                       const Threads& threads) {
  const Stopwatch clock;
  Known now = known != nullptr && precision == Precision::fast
                  ? known_at(qp, std::move(solution.a), *known, threads)
                  : product_at(qp, std::move(solution.a), precision, threads);
  solution.a = std::move(now.a);
  const std::vector<double>& f = now.f;
  Evaluation evaluation = evaluate(qp, solution.a, f, solution.lambda);

  Certificate certificate;
  certificate.primal = evaluation.primal;
  certificate.dual = evaluation.dual;
  certificate.gap = evaluation.gap;
  certificate.relative_gap = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
  certificate.kkt = evaluation.kkt;
  certificate.rounding = now.rounding;
  certificate.mercer = qp.K->definite() != Definite::no;
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    double sum = -qp.d[r];
    for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.A[r][v] * solution.a[v];
    certificate.equality_residual = std::max(certificate.equality_residual, std::abs(sum));
  }
  for (std::size_t v = 0; v < qp.size(); ++v)
    certificate.bound_residual =
        std::max({certificate.bound_residual, qp.block[v].lower - solution.a[v],
                  solution.a[v] - qp.block[v].upper});
  certificate.best_primal = std::min(solution.best_primal, evaluation.primal);
  certificate.best_dual = std::max(solution.best_dual, evaluation.dual);
  solution.lambda = std::move(evaluation.lambda);
  return {std::move(solution), certificate, clock.seconds(), std::move(now.f)};
}

}  // namespace maxmargin
