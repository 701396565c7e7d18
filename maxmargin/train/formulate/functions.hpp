#pragma once

#include <span>
#include <string>
#include <vector>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/loss/losses.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/task/task.hpp"

namespace maxmargin {

struct Example;

/// The unpenalised functions of a semi-parametric machine, evaluated at the training rows.
struct FunctionValues {
  std::vector<std::string> names;
  std::vector<double> values;  ///< names.size() numbers a row

  std::size_t count() const { return names.size(); }
  std::span<const double> of_row(std::size_t row) const {
    return {values.data() + row * count(), count()};
  }
  bool agree(std::size_t row, std::size_t other) const;
};

/// The span of the functions, and of the bias where it costs nothing either, has many bases. An
/// orthonormal one over the examples (mean square 1; the bias stays what it is) gives rows that no
/// scale of a function and no likeness of two spoils:
///   psi_c = sum_j recipe[c][j] phi_j,   psi_0 = phi_0 = 1 with a bias.
struct FunctionBasis {
  std::vector<std::vector<double>> values;  ///< psi_c at each example, without the bias
  std::vector<std::vector<double>> recipe;  ///< with the bias first, where it is there
  std::vector<std::vector<double>> given;   ///< phi_j at each example, without the bias
  bool has_bias = false;

  /// Throws Error, naming a function that is zero everywhere or depends on others.
  FunctionBasis(const FunctionValues& functions, std::span<const Example> examples, Bias bias);

  /// Multipliers of rows with the psi, behind those of `lambda` that belong to the bias, become the
  /// coefficients of the phi. All thresholds of the bias are shifted alike.
  void translate(std::vector<double>& lambda) const;

  /// The row of psi_c: sum_v s_v a_v psi_c(x_v) = d, given the sum of s_v a_v.
  void add_rows(std::span<const Index> example_of_variable, double sum, DualQp& qp) const;

  /// The rows of the phi themselves, whose sums are zero.
  std::vector<std::vector<double>> given_rows(std::span<const Index> example_of_variable,
                                              const DualQp& qp) const;
};

/// Throws Error where so many functions cannot be told apart in so many rows.
void require_rows_for_functions(std::size_t functions, std::size_t rows, bool has_bias);
/// Functions by their values, the bias first where it is among them, made orthonormal in terms of
/// the values given. Throws Error as FunctionBasis does.
Orthonormal independent_functions(std::span<const std::string> names,
                                  std::vector<std::vector<double>> columns, bool has_bias);

/// Throws Error unless a machine with these functions can be trained on the examples: rows enough,
/// functions that do not depend on each other, and a nu that is feasible with them.
void check_functions(const FunctionValues& functions, std::span<const Example> examples,
                     const Loss& loss, Bias bias);

}  // namespace maxmargin
