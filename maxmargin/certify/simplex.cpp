#include "maxmargin/certify/simplex.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

constexpr double double_deviation = 1e-15;

/// Adds one example to the certificate of its class.
void add_example(const SimplexQp& qp, std::size_t i, const double* a,
                 const std::vector<std::vector<double>>& f, SimplexCertified& result) {
  double largest = -infinity, lowest = infinity, mean = 0, sum = 0, excess = 0;
  for (std::size_t k = 0; k < qp.classes; ++k) {
    const double g = qp.error(i, k) + f[k][qp.row[i]], t = qp.upper(i, k) - a[k];
    largest = std::max(largest, g);
    if (t > 0) lowest = std::min(lowest, g);
    sum += a[k];
    excess = std::max(excess, -t);
  }
  for (std::size_t k = 0; k < qp.classes; ++k) {
    const double g = qp.error(i, k) + f[k][qp.row[i]];
    mean += (qp.upper(i, k) - a[k]) * (largest - g);  // every term >= 0
    result.of_class[k].dual -= qp.error(i, k) * a[k];
  }
  Certificate& mine = result.of_class[qp.label[i]];
  mine.primal += qp.cost[i] * (largest - f[qp.label[i]][qp.row[i]]);
  mine.gap += mean;
  mine.kkt = std::max(mine.kkt, largest - lowest);
  mine.equality_residual = std::max(mine.equality_residual, std::abs(sum));
  mine.bound_residual = std::max(mine.bound_residual, excess);
}

}  // namespace

SimplexCertified certify(const SimplexQp& qp, std::span<const double> a,
                         std::vector<std::vector<double>> f, double rounding) {
  SimplexCertified result;
  Certificate zero;
  zero.primal = zero.dual = zero.gap = zero.kkt = 0;
  zero.rounding = rounding;
  zero.mercer = qp.K->definite() != Definite::no;
  result.of_class.assign(qp.classes, zero);
  for (std::size_t i = 0; i < qp.size(); ++i) add_example(qp, i, &a[i * qp.classes], f, result);
  for (std::size_t k = 0; k < qp.classes; ++k) {
    const std::vector<double> beta = qp.coefficients(a, k);
    double half = 0;
    for (std::size_t p = 0; p < beta.size(); ++p) half += beta[p] * f[k][p] / 2;
    result.of_class[k].primal += half;
    result.of_class[k].dual -= half;
  }
  Certificate& whole = result.certificate;
  whole = zero;
  for (const Certificate& each : result.of_class) {
    whole.primal += each.primal;
    whole.dual += each.dual;
    whole.gap += each.gap;
    whole.kkt = std::max(whole.kkt, each.kkt);
    whole.equality_residual = std::max(whole.equality_residual, each.equality_residual);
    whole.bound_residual = std::max(whole.bound_residual, each.bound_residual);
  }
  whole.relative_gap = std::min(2 * whole.gap / (std::abs(whole.primal) + std::abs(whole.dual)),
                                relative_gap(whole.primal, whole.dual));
  if (!(whole.relative_gap >= 0)) whole.relative_gap = 0;
  whole.best_primal = whole.primal;
  whole.best_dual = whole.dual;
  for (Certificate& each : result.of_class) {
    each.relative_gap = whole.relative_gap;
    each.best_primal = each.primal;
    each.best_dual = each.dual;
  }
  result.f = std::move(f);
  return result;
}

SimplexCertified certify(const SimplexQp& qp, std::span<const double> a, Precision precision,
                         const Threads& threads) {
  const Stopwatch clock;
  std::vector<std::vector<double>> f(qp.classes, std::vector<double>(qp.K->size()));
  double squares = 0, largest = 0;
  for (std::size_t k = 0; k < qp.classes; ++k) {
    const std::vector<double> beta = qp.coefficients(a, k);
    double of_class = 0;
    for (const double each : beta) of_class += each * each;
    squares = std::max(squares, of_class);
    qp.K->multiply(beta, f[k], precision, threads);
  }
  for (const double value : qp.K->diagonal()) largest = std::max(largest, std::abs(value));
  const double deviation = precision == Precision::exact ? double_deviation : qp.K->deviation();
  SimplexCertified result = certify(qp, a, std::move(f), deviation * largest * std::sqrt(squares));
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
