#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The problem restricted to some variables S, the others N fixed:
///
///   min over a_S   1/2 a_S' Q_SS a_S + (p_S + Q_SN a_N)' a_S
///   subject to     A_S a_S = d - A_N a_N,   l_S <= a_S <= u_S
///
/// Its matrix is K over the points of S alone.
struct SubProblem {
  DualQp qp;
  std::vector<Index> variables;  ///< S, in the order given: variable k of qp is variables[k]
  std::vector<Index> points;     ///< of the whole problem's K, increasing; those of qp.K

  /// The values of S among those of all variables, and back.
  std::vector<double> part_of(std::span<const double> a) const;
  void put_back(std::span<const double> part, std::span<double> a) const;
};

/// The others at zero, whatever their bounds say.
SubProblem sub_problem(const DualQp& qp, std::span<const Index> variables);

/// The others at their values in `a`, where f = K s a is known for all points.
SubProblem sub_problem(const DualQp& qp, std::span<const Index> variables,
                       std::span<const double> a, std::span<const double> f,
                       const Threads& threads);

/// The different points of some variables, increasing; `row` has the point of each variable.
std::vector<Index> points_of(std::span<const Index> row, std::span<const Index> variables);

/// The position among these points of the point of each variable.
std::vector<Index> positions_of(std::span<const Index> row, std::span<const Index> variables,
                                std::span<const Index> points);

}  // namespace maxmargin
