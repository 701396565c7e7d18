#include "maxmargin/certify/expansion.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/certify/extended.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

/// K x at the points, wrong by at most error sqrt(K_pp).
struct Product {
  std::vector<double> value;
  double error = 0;
};

/// The residual of the equality row, moved onto the variable with the most room: a bound of the
/// move, in the unit of the variable.
struct Move {
  std::size_t variable = 0;
  double size = 0;  ///< infinite where none has the room
};

Move equality_move(const DualQp& qp, std::span<const double> a, double& residual) {
  Move move;
  if (qp.A.empty()) return move;
  ExactSum exact;
  for (std::size_t v = 0; v < qp.size(); ++v) exact.add_product(qp.A[0][v], a[v]);
  residual = std::abs(exact.value());
  if (residual == 0) return move;
  double room = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (qp.A[0][v] == 0) continue;
    const bool falls = (exact.value() > 0) == (qp.A[0][v] > 0);
    const double own = falls ? a[v] - qp.block[v].lower : qp.block[v].upper - a[v];
    if (own > room) room = own, move.variable = v;
  }
  move.size = room > 0 ? rounded_up(residual / std::abs(qp.A[0][move.variable])) : infinity;
  if (!(move.size <= rounded_down(room))) move.size = infinity;
  return move;
}

/// 1, or what the dual variables have to be divided by until |K s a| <= 1 surely holds.
double divisor(const DualQp& qp, const Product& correlation, const Move& move) {
  double largest = 1;
  const double moved = move.size > 0 ? std::abs(qp.block[move.variable].sign) * move.size *
                                           scale_of(*qp.K, qp.row[move.variable])
                                     : 0;
  for (std::size_t p = 0; p < correlation.value.size(); ++p)
    largest =
        std::max(largest, rounded_up(std::abs(correlation.value[p]) +
                                     rounded_up((correlation.error + moved) * scale_of(*qp.K, p))));
  return std::isnan(largest) ? infinity : largest;
}

/// The dual of `a` after the move and the division, which divides the values of straight blocks
/// too.
double dual_bound(const DualQp& qp, std::span<const double> a, const Move& move, double by) {
  if (!std::isfinite(move.size) || !std::isfinite(by)) return -infinity;
  EnclosedSum values;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Near value = value_at(qp.block[v], a[v]);
    values.add(value.value, value.error);
  }
  if (move.size > 0) values.add(rounded_up(std::abs(qp.block[move.variable].linear) * move.size));
  return rounded_down(-values.upper() / by);
}

double primal_bound(const DualQp& qp, const ExpansionPoint& expansion, const Product& f) {
  EnclosedSum primal;
  for (const double beta : expansion.beta) primal.add(std::abs(beta));
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const std::size_t p = qp.row[v];
    double rest = -block.sign * f.value[p] - block.linear;
    double size = std::abs(block.sign * f.value[p]) + std::abs(block.linear);
    for (std::size_t r = 0; r < qp.A.size(); ++r) {
      rest -= qp.A[r][v] * expansion.lambda[r];
      size += std::abs(qp.A[r][v] * expansion.lambda[r]);
    }
    const double error =
        std::abs(block.sign) * f.error * scale_of(*qp.K, p) + 6 * unit_roundoff * size;
    const Near loss = highest_conjugate(block, {rest, rounded_up(error)});
    primal.add(loss.value, loss.error);
  }
  return primal.upper();
}

/// The largest term of the gap for a cost of 1.
double violation(const DualQp& qp, const ExpansionPoint& expansion, std::span<const double> f) {
  double worst = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double value = block.sign * f[qp.row[v]];
    for (std::size_t r = 0; r < qp.A.size(); ++r) value += qp.A[r][v] * expansion.lambda[r];
    const double a = expansion.a[v];
    const double term = block.conjugate(-value) + block.value(a) + value * a;
    worst = std::max(worst, term / (block.upper - block.lower));
  }
  return std::isnan(worst) ? infinity : worst;
}

}  // namespace

ExpansionCertified certify(const DualQp& qp, ExpansionPoint expansion, const Threads& threads) {
  const Stopwatch clock;
  ExpansionCertified result;
  Certificate& found = result.certificate;
  // Where K is not positive semi-definite its diagonal bounds nothing, and nothing is claimed.
  found.mercer = qp.K->definite() != Definite::no;
  found.sampled = qp.K->definite() == Definite::unknown;
  const auto product = [&](std::span<const double> x, double more) {
    Product made{std::vector<double>(qp.K->size()), 0};
    qp.K->multiply(x, made.value, Precision::exact, threads);
    if (found.mercer) made.error = rounded_up(product_error(*qp.K, x, Precision::exact) + more);
    return made;
  };
  for (std::size_t v = 0; v < qp.size(); ++v)
    expansion.a[v] = std::clamp(expansion.a[v], qp.block[v].lower, qp.block[v].upper);
  const Product f = product(expansion.beta, 0);
  Product correlation = product(qp.coefficients(expansion.a), coefficient_error(qp, expansion.a));
  double residual = 0;
  const double by = divisor(qp, correlation, {});
  if (by > 1 && std::isfinite(by)) {
    // The division rounds the variables: the products are those of slightly other ones.
    double reach = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) {
      expansion.a[v] /= by;
      reach += std::abs(qp.block[v].sign * expansion.a[v]) * scale_of(*qp.K, qp.row[v]);
    }
    for (double& each : correlation.value) each /= by;
    if (found.mercer)
      correlation.error = rounded_up(correlation.error / by + 4 * unit_roundoff * reach);
  }
  const Move move = equality_move(qp, expansion.a, residual);
  found.primal = found.best_primal = primal_bound(qp, expansion, f);
  found.dual = found.best_dual = dual_bound(qp, expansion.a, move, divisor(qp, correlation, move));
  found.gap = rounded_up(std::max(0.0, found.primal - found.dual));
  found.relative_gap = relative_gap(found.primal, found.dual);
  found.kkt = violation(qp, expansion, f.value);
  found.equality_residual = residual;
  for (std::size_t p = 0; p < qp.K->size(); ++p)
    found.rounding = std::max(found.rounding, rounded_up(f.error * scale_of(*qp.K, p)));
  result.expansion = std::move(expansion);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
