#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// What keeps the steps of the multipliers from running away.
enum class Safeguard {
  augmented,  ///< a penalty on the residuals of the rows, steps below twice that penalty
  bounded,    ///< a longest step, halved where a residual changes its sign
  none        ///< Newton's step as it is
};
template <>
struct Named<Safeguard> {
  static constexpr std::array<std::pair<Safeguard, std::string_view>, 3> values{
      {{Safeguard::augmented, "augmented"},
       {Safeguard::bounded, "bounded"},
       {Safeguard::none, "none"}}};
};

/// Where a run of the primal-dual method stands after a step.
struct PrimalDualState {
  std::size_t iteration;
  double violation;  ///< of the conditions on the variables, (2) (iii-v)
  double residual;   ///< largest |A a - d|, (2) (i)
  const std::vector<double>& lambda;
  bool dual_step;   ///< the multipliers were moved
  OffsetGap bound;  ///< after a dual step: of the point that it left (problem 10.2)
};

/// The minimal primal-dual method (S8; Kienzle and Schoelkopf, "Training support vector machines
/// with multiple equality constraints", 2005).
struct PrimalDual {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for kernel rows
  double primal_tolerance = 0;                     ///< eps_p; 0: half of stop.kkt
  double dual_tolerance = 0;  ///< eps_d; 0: what moves the derivatives by eps_p
  Safeguard safeguard = Safeguard::augmented;
  double penalty = 3;
  bool hessian = false;
  bool wait = false;
  bool orthogonal = true;
  bool newton = true;
  int working_set = 256;
  /// Called after every working set unless null; must outlive the run.
  const std::function<void(const PrimalDualState&)>* watch = nullptr;

  static constexpr bool takes_start = true;  ///< uses Run::start
  static constexpr std::string_view name = "primal-dual";
  static constexpr std::string_view summary =
      "one variable at a time, Newton steps on the multipliers; any number of equality rows";
  static constexpr auto fields = std::tuple{
      field("primal-tolerance", &PrimalDual::primal_tolerance,
            "largest violation at which the multipliers move; 0: half of --tolerance",
            non_negative),
      field("dual-tolerance", &PrimalDual::dual_tolerance,
            "largest residual of an equality row at the end; 0: follows from the other",
            non_negative),
      field("safeguard", &PrimalDual::safeguard,
            "of the multipliers' steps: augmented, bounded or none"),
      field(
          "penalty", &PrimalDual::penalty,
          "of the augmented Lagrangian, in units of Q's mean diagonal over the rows' mean squares",
          positive),
      field("hessian", &PrimalDual::hessian,
            "estimate the curvature of the dual function on the way"),
      field("wait", &PrimalDual::wait, "move the multipliers only when that estimate has settled"),
      field("orthogonal", &PrimalDual::orthogonal,
            "make several equality rows orthogonal to each other first"),
      field("newton", &PrimalDual::newton,
            "also move all free variables at once, where one at a time takes long"),
      field("working-set", &PrimalDual::working_set, "variables in a working set",
            Range{1, 4096, false, false, "from 1 to 4096"})};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const PrimalDual& options);

/// Solves qp with any small number k of equality rows (none is allowed), whatever their entries:
///
///   min 1/2 a'Qa + p'a   subject to   A a = d,   l <= a <= u
///
/// At fixed multipliers the rows are prices, so that variables can move one at a time, the largest
/// violation first; when no violation is above eps_p, lambda_r moves by Newton's step
/// (A a - d)_r / h_r on the dual function, whose curvature h_r = A_r'Q^-1 A_r comes from k more
/// systems Q gamma = -A_r solved alongside, one step each for a step of the variables (seed, 5.2).
/// Several rows are made orthogonal first, so that the diagonal stands for the Hessian.
/// At the end the little that A a misses d by is taken from the free variables. Needs Q positive
/// semi-definite; rows and products of K; O(n) memory for each of the k + 1 systems, beside the
/// cache. A working set costs O(points) for each of its rows that changed and O(n k) to choose.
Solution run(const DualQp& qp, const PrimalDual& options, const Run& run);

}  // namespace maxmargin
