#pragma once

#include <optional>
#include <string>

#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// How good a solution is, computed from `a` alone by code that knows no solver. The objectives are
/// bounds, with all rounding on the safe side: where K is positive semi-definite the optimum lies
/// between them.
struct Certificate {
  double primal = infinity;        ///< >= 1/2 a'Q~a + sum phi*(-h) + lambda'd
  double dual = -infinity;         ///< <= -(1/2 a'Q~a + sum phi(a))
  double gap = infinity;           ///< primal - dual, rounded up
  double relative_gap = infinity;  ///< 2 gap / (|primal| + |dual|), (10.9)
  double kkt = infinity;           ///< largest violation m(a) - M(a) of the optimality conditions
  double equality_residual = 0;    ///< largest |A a - d|
  double bound_residual = 0;       ///< largest excess over a bound
  double rounding = 0;             ///< a bound of the error of f at any point
  double best_primal = infinity;   ///< the best bounds that were certified in the run (10.21)
  double best_dual = -infinity;
  bool mercer = true;    ///< false: K is not positive semi-definite, so the gap is no bound
  bool sampled = false;  ///< `mercer` is known from some of the rows of K only
};

struct Certified {
  Solution solution;  ///< lambda chosen to make the gap smallest
  Certificate certificate;
  double seconds = 0;         ///< that the certificate took
  std::vector<double> f;      ///< K s a at the points
  ProductError error = {};    ///< of f
  double charge = 0;          ///< the part of the gap that rounding may have made
  std::string obstacle = {};  ///< why a run has not converged, in a sentence, where that is known
};

/// h = Q~a + A'lambda; chooses lambda to make the primal smallest (exactly, where no variable
/// stands in two equality rows).
Certified certify(const DualQp& qp, Solution solution, Precision precision, const Threads& threads);

/// As certify, with f from products in long double: where the rounding of doubles, multiplied by
/// the costs, is more than the gap that is asked for. Nothing where K has no such products, or they
/// would take minutes.
std::optional<Certified> certify_extended(const DualQp& qp, const Solution& solution,
                                          const Context& context);

/// Refines `rough`, which was certified with float kernel values: f again in double where it
/// matters, at support vectors and where the error of f may change a loss.
Certified certify_finer(const DualQp& qp, Certified rough, const Context& context);

/// The expected error of f from float kernel values; not a bound, but the noise below which a KKT
/// violation cannot be seen.
double expected_rounding(const DualQp& qp, std::span<const double> a);

}  // namespace maxmargin
