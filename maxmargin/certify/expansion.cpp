#include "maxmargin/certify/expansion.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {

ExpansionCertified certify(const DualQp& qp, ExpansionPoint expansion, const Threads& threads) {
  const Stopwatch clock;
  ExpansionCertified result;
  Certificate& found = result.certificate;
  std::vector<double> f(qp.K->size()), correlation(qp.K->size());
  qp.K->multiply(expansion.beta, f, Precision::exact, threads);
  qp.K->multiply(qp.coefficients(expansion.a), correlation, Precision::exact, threads);
  double largest = 1;
  for (const double each : correlation) largest = std::max(largest, std::abs(each));
  for (double& a : expansion.a) a /= largest;
  for (double& each : correlation) each /= largest;

  found.primal = found.dual = found.gap = found.kkt = 0;
  found.mercer = true;  // nothing here asks whether K is positive semi-definite
  for (std::size_t p = 0; p < f.size(); ++p) {
    found.primal += std::abs(expansion.beta[p]);
    found.gap += std::abs(expansion.beta[p]) - expansion.beta[p] * correlation[p];
  }
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double value = block.sign * f[qp.row[v]];
    for (std::size_t r = 0; r < qp.A.size(); ++r) value += qp.A[r][v] * expansion.lambda[r];
    const double a = expansion.a[v], loss = block.conjugate(-value);
    const double term = std::max(0.0, loss + block.value(a) + value * a);
    found.primal += loss;
    found.dual -= block.value(a);
    found.gap += term;
    found.kkt = std::max(found.kkt, term / (block.upper - block.lower));
    found.bound_residual = std::max({found.bound_residual, a - block.upper, block.lower - a});
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    double sum = -qp.d[r];
    for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.A[r][v] * expansion.a[v];
    found.equality_residual = std::max(found.equality_residual, std::abs(sum));
    found.primal += expansion.lambda[r] * qp.d[r];
  }
  found.relative_gap = relative_gap(found.primal, found.dual);
  found.best_primal = found.primal;
  found.best_dual = found.dual;
  result.expansion = std::move(expansion);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
