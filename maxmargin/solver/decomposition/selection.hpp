#pragma once

#include <array>
#include <span>
#include <vector>

#include "maxmargin/base/named.hpp"
#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// By what a variable is worth a place in a working set (Learning with Kernels, table 10.1). With h
/// the derivative of the quadratic part and the rows' prices, and phi the variable's own share:
enum class SelectionRule {
  kkt_gap,    ///< its term of the gap, phi(a) + phi*(-h) + h a, (10.59)
  gradient,   ///< the size of h + phi'(a) where the variable can follow it, (10.60)
  multiplier  ///< how far it is from where it would go alone, argmax phi*(-h), (10.62)
};
template <>
struct Named<SelectionRule> {
  static constexpr std::array<std::pair<SelectionRule, std::string_view>, 3> values = {
      {{SelectionRule::kkt_gap, "kkt-gap"},
       {SelectionRule::gradient, "gradient"},
       {SelectionRule::multiplier, "multiplier"}}};
};

/// What each variable scores; 0 where its conditions hold to `tolerance`. `h` by the variable.
std::vector<double> scores(const DualQp& qp, std::span<const double> a, std::span<const double> h,
                           SelectionRule rule, double tolerance);

/// Up to `size` variables with the highest scores. Balanced: as many that would raise as that would
/// lower the sum of their equality row, the best of each kind, so that the set can move.
std::vector<Index> best_scored(const DualQp& qp, std::span<const double> a,
                               std::span<const double> h, std::span<const double> score,
                               std::size_t size, bool balanced);

}  // namespace maxmargin
