#pragma once

#include <optional>

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// How good the solution of a structural machine is, computed from its planes by one pass of the
/// oracle over all examples, by code that knows no solver:
///
///   P - D = sum_i [ (C/n) m_i - sum_y a_iy s_i(y) ],   every term >= 0
///
/// (for squared slacks (C/n) m_i^2 + c/2 A_i^2 - sum_y a_iy s_i(y)). Without slack, w keeps its
/// margins but for `violation`, and the gap is that of the problem with margins so much smaller.
struct StructuredCertificate {
  double primal = infinity, dual = -infinity;
  double gap = infinity;           ///< the sum, and what rounding may have hidden
  double relative_gap = infinity;  ///< 2 gap / (|primal| + |dual|)
  double rounding = 0;             ///< bound of the error of the gap from sums in double
  double violation = 0;            ///< largest m_i, where no slack is allowed
  Exactness exactness = Exactness::exact;
  std::uint64_t planes = 0;  ///< with alpha > 0

  /// Whether the gap is a bound: of the problem, or of its relaxation.
  bool bounds() const { return exactness != Exactness::heuristic; }
};

struct CertifiedStructures {
  StructuredCertificate certificate;
  std::vector<double> terms;         ///< each example's share of the gap
  std::vector<Structure> violators;  ///< the oracle's answers
};

/// Certifies `own`, which is sum a psi; with `other`, that for the primal in its place: what a
/// solver has that keeps the best w it met. Throws Error for a plane that breaks the constraints of
/// the dual, or an oracle whose answer is worse than a plane by more than rounding.
struct WeightsToCertify {
  const StructuredWeights& own;
  const StructuredWeights* other = nullptr;
};
CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const WeightsToCertify& w, const Threads& threads);
/// The same, with w = sum a psi.
CertifiedStructures certify(const Structured& problem, const Planes& planes,
                            const Threads& threads);

/// P at some w; the oracle is asked once for each example.
double structured_primal(const Structured& problem, std::span<const double> scores,
                         double squared_norm, const Threads& threads);

}  // namespace maxmargin
