#include "maxmargin/certify/certify.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

// The deviation of a kernel value in double from the true one, relative to the largest.
constexpr double double_deviation = 1e-15;

}  // namespace

Rounding expected_rounding(const DualQp& qp, std::span<const double> a) {
  double squares = 0, largest = 0;
  for (const double coefficient : qp.coefficients(a)) squares += coefficient * coefficient;
  for (const double value : qp.K->diagonal()) largest = std::max(largest, std::abs(value));
  const double deviation = qp.K->deviation() * largest;
  return {deviation * std::sqrt(squares), deviation * squares / 2};
}

Certified certify(const DualQp& qp, Solution solution, Precision precision,
                  const Threads& threads) {
  const Stopwatch clock;
  const std::vector<double> beta = qp.coefficients(solution.a);
  std::vector<double> f(qp.K->size());
  qp.K->multiply(beta, f, precision, threads);
  Evaluation evaluation = evaluate(qp, solution.a, f, solution.lambda);

  Certificate certificate;
  certificate.primal = evaluation.primal;
  certificate.dual = evaluation.dual;
  certificate.gap = evaluation.gap;
  certificate.relative_gap = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
  certificate.kkt = evaluation.kkt;
  certificate.rounding = expected_rounding(qp, solution.a).f;
  if (precision == Precision::exact) certificate.rounding *= double_deviation / qp.K->deviation();
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
  return {std::move(solution), certificate, clock.seconds(), std::move(f)};
}

}  // namespace maxmargin
