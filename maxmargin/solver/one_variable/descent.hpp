#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/solver/one_variable/set_steps.hpp"
#include "maxmargin/solver/one_variable/violations.hpp"

namespace maxmargin {

/// Minimises, by box-constrained steps of one variable each,
///
///   L(a) = 1/2 a'Qa + p'a + lambda'r + 1/2 sum_k penalty_k r_k^2,   r = A a - d,   l <= a <= u
///
/// the (augmented) Lagrangian of a DualQp: the equality rows are prices here, not constraints. A
/// working set is the variables with the largest violations; steps inside it cost O(set), and then
/// each point that has changed O(points) for its row of K. A set of one variable is the
/// Gauss-Seidel step on the largest violation.
class Descent {
 public:
  /// What several of them on the same matrix share.
  struct Shared {
    RowCache& cache;
    std::size_t working_set;
    Context context;
    bool newton = false;  ///< in a set where single steps take long, move all free ones at once
  };

  /// `qp` and what is shared must outlive it. Starts from `a`, which lies within the bounds; `f`
  /// are the products K beta there, where they are known.
  Descent(const DualQp& qp, std::vector<double> a, Precision precision, Shared shared,
          std::vector<double> f = {});

  std::vector<double> lambda, penalty;  ///< of each row; 0 at first

  /// Computes the derivatives of L anew and returns the largest violation of its optimality
  /// conditions: a derivative whose variable is not at the bound that it points to.
  double look();

  /// Steps in one working set, chosen by the derivatives of the last look(), until its violations
  /// are at most `target`.
  struct Progress {
    std::size_t steps = 0;
    double decrease = 0;  ///< of L
  };
  Progress improve(double target, std::size_t most_steps);

  /// Each variable of a set once, in the order given.
  Progress pass(const std::vector<Index>& set, Pace pace);

  /// Newton steps of all variables that are free at the last look(); see free_steps.hpp.
  Progress improve_free(int most_steps);
  std::vector<Index> free_variables() const;

  /// The variables with a violation above `least` at the last look(), in their order.
  std::vector<Index> violators(double least) const;

  const std::vector<double>& a() const { return a_; }
  const std::vector<double>& f() const { return f_; }                ///< K beta at the points
  const std::vector<double>& residual() const { return residual_; }  ///< A a - d
  /// Of L, at the last look().
  const std::vector<double>& slope() const { return slope_; }
  /// lambda + penalty residual: the multipliers at which `a` is stationary for the Lagrangian.
  std::vector<double> multipliers() const;
  bool is_free(std::size_t v) const {
    return a_[v] > qp_.block[v].lower && a_[v] < qp_.block[v].upper;
  }

  /// Computes K beta anew, without the rounding errors of the steps.
  void refresh();

  /// The variables moved elsewhere, with the products K beta there.
  void move_to(std::vector<double> a, std::vector<double> f);

 private:
  Index worst() const;
  std::vector<Index> choose_set();
  void refresh_residual();
  SetProblem problem_of(const std::vector<Index>& set) const;
  std::size_t solve_set(const std::vector<Index>& set, SetProblem& problem, double target,
                        std::size_t most_steps) const;
  bool move_free(const std::vector<Index>& set, SetProblem& problem) const;
  Progress taken(const std::vector<Index>& set, const SetProblem& problem, std::size_t steps);
  void fill_kernel(const std::vector<Index>& set, SetProblem& problem) const;
  void carry_over(const std::vector<Index>& set, std::span<const double> now);
  RowCache::Wishes wishes(const std::vector<Index>& set, const std::vector<Index>& changed) const;
  std::vector<bool> precious() const;
  std::vector<Index> most_violating(std::size_t wanted);

  const DualQp& qp_;
  Precision precision_;
  VariableColumns columns_;
  Shared shared_;
  std::vector<double> a_, f_, residual_, slope_;
  std::vector<double> violation_;   // at the last look()
  std::vector<double> task_worst_;  // the largest of each task of the look
  double last_least_ = 0;           // violation that was in the last working set
  std::vector<Index> last_set_;
  std::vector<bool> in_set_;    // already chosen, false between calls
  std::vector<double> change_;  // of each point's coefficient, zero between calls
};

}  // namespace maxmargin
