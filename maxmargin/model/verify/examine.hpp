#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "maxmargin/model/verify/enclosed.hpp"
#include "maxmargin/model/verify/formulation.hpp"
#include "maxmargin/model/verify/kernel_sums.hpp"

namespace maxmargin {

/// Doubles that were rounded a few times.
inline constexpr Extended stored_rounding = 4 * double_rounding;

/// The error of f from float kernel values with independent errors, relative to the norms of
/// coefficients and kernel values.
inline constexpr Extended float_share = 16 * 0x1p-24L;

/// A dual variable this near to a bound, relative to the length of its interval, is at the bound;
/// one without an upper bound, relative to the largest of all.
inline constexpr Extended at_bound = 1e-9L;

/// A training row as one machine sees it.
struct SeenRow {
  Index row = 0;
  Index point = 0;                    ///< rows with the same features are the same point
  KernelSum sum{};                    ///< without bias and functions
  Enclosed offset{};                  ///< sum of the functions' coefficients times their values
  const double* functions = nullptr;  ///< their values
  double target = 0;                  ///< +1 or -1, or the number to predict
  double price = 1;                   ///< of its loss; greater than 0, infinite for a hard margin
  /// Of predicting too much, where that has a price of its own; 0 as `price` may be then.
  std::optional<double> price_over{};
  bool is_basis = false;  ///< a basis function stands on it, and it is none of the machine's rows

  /// Of an error there.
  double price_at(Extended f) const { return f > target ? price_over.value_or(price) : price; }
};

/// What a model says of one machine.
struct Claimed {
  struct Coefficient {
    Enclosed value;
    int parts = 0;      ///< of which it is the sum
    Extended size = 0;  ///< of which it is the sum, without their signs
  };
  std::map<Index, Coefficient> beta;  ///< of each point that has one
  const double* bias = nullptr;       ///< null where the machine has none
  double width = 0;                   ///< as of Machine
  /// Each function's sum of beta times its value, which has to be 0, its coefficient, and the sum
  /// of sizes.
  std::vector<Enclosed> function_sum;
  std::vector<double> function_coefficient;
  std::vector<Extended> function_size;
};

/// Enclosures of primal, dual and KKT violation of one machine. A `slack` is what a model's numbers
/// may have changed by when they were rounded to doubles, after its certificate was made: sums of
/// several coefficients, those of nu-SVC that are divided by rho, and costs.
struct Examined {
  Enclosed primal, dual;
  Extended kkt_low = 0, kkt_high = 0;
  Extended equality = 0, bound = 0;  ///< by how much constraints are missed, at least
  Extended primal_slack = 0, dual_slack = 0, kkt_slack = 0, constraint_slack = 0;
  /// What float kernel values may have changed; allowed for where objectives are no bounds.
  Extended primal_float = 0, dual_float = 0;
  bool foreign = false;  ///< a coefficient stands on a point that the machine does not see
};

/// From the definitions alone. `diagonal(row)` bounds K(row, row). The dual is that of the best
/// dual variables with these coefficients, clipped to their bounds and moved onto the equality
/// constraints; the price of the moves is included.
Examined examine(const Formulation& formulation, std::vector<SeenRow> rows, const Claimed& claimed,
                 const std::function<Extended(std::size_t)>& diagonal);

}  // namespace maxmargin
