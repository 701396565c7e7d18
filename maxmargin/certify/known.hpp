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
};

/// f at `a` by the product of the difference from `known`.
Known known_at(const DualQp& qp, std::vector<double> a, const Known& known, const Threads& threads);

/// As certify, but only the product of the difference from `known` has to be computed. A `known` of
/// float kernel values is of no use for an exact certificate.
Certified certify_from(const Known* known, const DualQp& qp, Solution solution, Precision precision,
                       const Threads& threads);

}  // namespace maxmargin
