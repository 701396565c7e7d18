#pragma once

#include "maxmargin/certify/certify.hpp"

namespace maxmargin {

/// Variables at which f is known, from products as good as those of a certificate.
struct Known {
  std::vector<double> a;
  std::vector<double> f;  ///< K s a at the points
  ProductError error = {};
  /// About the multipliers that fit, where this is thought to be a solution; else none.
  std::vector<double> lambda = {};
  bool in_double = false;  ///< f is of kernel values in double
};

/// f at `a` by the product of the difference from `known`.
Known known_at(const DualQp& qp, std::vector<double> a, const Known& known, const Threads& threads);

/// As certify, but only the product of the difference from `known` has to be computed. For an exact
/// certificate a `known` in double is of use, where the difference has few points.
Certified certify_from(const Known* known, const DualQp& qp, Solution solution, Precision precision,
                       const Context& context);

/// The optimality conditions by a solver's own f, which nobody has proved to have this error: the
/// objectives are no bounds. For machines of which nobody is told a gap.
Certified judge_unproved(const DualQp& qp, Solution solution, std::vector<double> f, double error);

}  // namespace maxmargin
