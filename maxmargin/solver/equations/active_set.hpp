#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/equations/reduced_kkt.hpp"

namespace maxmargin {

/// Where a variable is thought to end.
enum class Side : unsigned char { lower, upper, inside };

/// A point with every variable exactly at a bound or inside, and how good it is.
struct Polished {
  std::vector<double> a;
  Evaluation evaluation;
  double equality_residual = infinity;

  /// Relative to the terms that it is the sum of.
  bool is_feasible() const { return equality_residual <= 1e-11; }
};

/// What an interior point lacks: its variables come close to their bounds and never reach them.
/// Here each is put where it seems to belong, and the equations of those inside are solved to
/// rounding; those that leave their bounds, or whose multiplier has the wrong sign, change sides,
/// and so on.
class ActiveSet {
 public:
  ActiveSet(const DualQp& qp, PointMatrix& K, ReducedKkt& kkt);

  /// The best point within some rounds; each factors a matrix over the variables inside. Ends early
  /// when nothing changes sides any more.
  Polished polish(std::vector<double> a, std::vector<double> lambda, std::vector<Side> side,
                  int rounds, const GoOn& go_on);

 private:
  void move_to_sides(std::vector<double>& a, std::span<const Side> side) const;
  bool solve_inside(std::vector<double>& a, std::vector<double>& lambda, std::span<const Side> side,
                    const GoOn& go_on);
  bool factor(const std::vector<Index>& inside, std::span<const double> a, const GoOn& go_on);
  bool change_sides(std::vector<double>& a, std::span<const double> lambda,
                    std::vector<Side>& side) const;
  std::vector<double> gradient(std::span<const double> a, std::span<const double> lambda) const;
  Polished judged(std::vector<double> a, std::vector<double> lambda) const;

  const DualQp& qp_;
  PointMatrix& K_;
  ReducedKkt& kkt_;
  double scale_;  ///< of the entries of Q
};

/// d - A a
std::vector<double> residual_of(const DualQp& qp, std::span<const double> a);

/// Moves `a` by little until A a = d, as far as its bounds allow.
void restore_equality(const DualQp& qp, std::vector<double>& a);

}  // namespace maxmargin
