#pragma once

#include <optional>

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// The duality gap of a structural machine, computed from its planes by one pass of the oracle over
/// all examples; this code knows no solver:
///
///   P - D = sum_i [ (C/n) m_i - sum_y a_iy s_i(y) ],   every term >= 0
///
/// (for squared slacks (C/n) m_i^2 + c/2 A_i^2 - sum_y a_iy s_i(y)). Without slack the margins hold
/// up to `violation`, and the gap is that of the problem whose margins are smaller by as much.
struct StructuredCertificate {
  double primal = infinity, dual = -infinity;
  double gap = infinity;           ///< the sum, plus `rounding`
  double relative_gap = infinity;  ///< 2 gap / (|primal| + |dual|)
  double rounding = 0;             ///< a bound of the rounding error of the gap
  double violation = 0;            ///< largest m_i, where no slack is allowed
  Exactness exactness = Exactness::exact;
  std::uint64_t planes = 0;  ///< with alpha > 0

  /// Whether the gap bounds the distance from the optimum, of the problem or of its relaxation.
  bool bounds() const { return exactness != Exactness::heuristic; }
};

struct CertifiedStructures {
  StructuredCertificate certificate;
  std::vector<double> terms;         ///< each example's term of the gap
  std::vector<Structure> violators;  ///< the oracle's answers
};

/// `own` is sum a psi. A solver that keeps the best w it met gives that as `other`: the primal is
/// then that of `other`. Throws Error for a plane that violates the dual's constraints, or an
/// oracle whose answer is worse than a known plane by more than rounding.
struct WeightsToCertify {
  const StructuredWeights& own;
  const StructuredWeights* other = nullptr;
};
CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const WeightsToCertify& w, const Threads& threads);
/// The same with w = sum a psi.
CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const Threads& threads);

/// The primal objective at w, by one call of the oracle per example.
double structured_primal(const Structured& problem, std::span<const double> scores,
                         double squared_norm, const Threads& threads);

}  // namespace maxmargin
