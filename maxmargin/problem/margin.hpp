#pragma once

#include <span>
#include <string>
#include <string_view>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The sizes of a decision function f = sum of beta_v K(x_v, .) and of its coefficients, by which a
/// machine without a margin is told from one that is not solved yet.
struct Sizes {
  double norm = 0;      ///< |w|^2
  double sum = 0;       ///< of |beta|
  double squares = 0;   ///< of beta
  double diagonal = 0;  ///< the largest K(x, x)

  /// `f` and the kernel's diagonal by the point, beta by the variable.
  Sizes(std::span<const double> beta, std::span<const Index> point, std::span<const double> f,
        std::span<const double> diagonal);
  Sizes(const DualQp& qp, std::span<const double> a, std::span<const double> f);

  /// Hard margins: the variables grow without end while w shrinks, relative to them.
  bool are_unbounded() const;
  /// nu-SVC and one-class: the objective is |w|^2 / 2 alone and only falls. Once it is within the
  /// rounding of float kernel values there is no w left, nor a gap relative to it.
  bool are_of_no_margin() const;
  /// So small that the derivatives have lost all but a few of the digits of a double.
  bool are_of_no_digits() const;
};

/// Some variable has no bound and no curvature: a hard margin.
bool has_hard_margin(const DualQp& qp);
/// No variable has a share of its own in the objective: nu-SVC and one-class.
bool is_homogeneous(const DualQp& qp);

/// Why a problem of that kind may have no optimum, and what to do about it.
std::string why_unbounded(const DualQp& qp);
inline constexpr std::string_view no_margin =
    "no margin is left: take a larger nu, or another kernel";

}  // namespace maxmargin
