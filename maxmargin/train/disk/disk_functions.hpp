#pragma once

#include <memory>
#include <vector>

#include "maxmargin/task/task.hpp"
#include "maxmargin/train/disk/reshape.hpp"
#include "maxmargin/train/disk/spill.hpp"
#include "maxmargin/train/formulate/problems.hpp"

namespace maxmargin {

/// The functions of a semi-parametric machine for rows on disk: columns behind the features, psi,
/// which are orthonormal over the rows (mean square 1; and to 1, where the bias is free).
struct DiskFunctions {
  std::unique_ptr<RowFile> rows;            ///< what the kernel sees, and psi behind it
  std::vector<std::vector<double>> recipe;  ///< of psi in the phi, as FunctionBasis has it
  bool has_bias = false;                    ///< the first of the recipe

  std::size_t count() const { return recipe.size() - (has_bias ? 1 : 0); }
  /// The bias and the coefficients of the phi, from those of the psi.
  std::vector<double> translated(double bias, std::span<const double> coefficients) const;
};

/// Two passes over the rows: the triangular factor of the functions at the rows of each class, by
/// rotations, which tells their span whatever its condition; then the rows. Throws Error as
/// check_functions does, for any of the machines. Nothing where `go_on` said no.
std::optional<DiskFunctions> functions_on_disk(const SpilledData& data, const Subproblems& problems,
                                               std::span<const ParametricFunction> functions,
                                               const Threads& threads, const GoOn& go_on = {});

}  // namespace maxmargin
