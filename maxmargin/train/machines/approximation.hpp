#pragma once

#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/train/formulate/formulate.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// Approximates the kernel over all rows (equal ones once) as options.approximate says: one basis
/// for every machine that is trained on them.
ApproximatedKernel approximate_kernel(const Examples& data, const TrainOptions& options,
                                      const Context& context);

/// The coefficients of the basis functions, by row of the data, of what was solved.
std::vector<std::pair<Index, double>> basis_coefficients(const ApproximatedKernel& kernel,
                                                         const Formulated& formulated,
                                                         std::span<const double> a,
                                                         const Threads& threads);

/// The dual objective with the true kernel in place of its approximation: a lower bound on the
/// optimum of the machine that was approximated. Its primal is an upper bound, since a sum of basis
/// functions is a function of the true machine too. Costs all kernel values of rows that have a
/// coefficient.
double true_dual(const Examples& data, const Kernel& kernel, const Formulated& formulated,
                 std::span<const double> a, const Threads& threads);

}  // namespace maxmargin
