#pragma once

#include <memory>

#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The kernel matrix of some rows, evaluated by blocks as it is asked for. `rows` is shared, not
/// copied. For a precomputed kernel row i of it holds K(i, .) over all rows, and `points` says
/// which of them the matrix is about; otherwise `points` is empty and all rows are. Throws Error
/// when kernel and data do not fit: values the kernel does not take, kernel values beyond the range
/// of float, a precomputed matrix that is not square or not symmetric.
std::shared_ptr<const Quadratic> make_kernel_quadratic(const Kernel& kernel,
                                                       std::shared_ptr<const Features> rows,
                                                       std::vector<Index> points = {},
                                                       Definite precomputed = Definite::unknown,
                                                       const Context& context = Threads(1));

/// The same for a matrix whose parts are the matrices of several problems, each of a few stretches
/// of neighbouring rows (classes): expensive values that several of them need are computed once and
/// stored, within `bytes`.
std::shared_ptr<const Quadratic> make_shared_quadratic(const Kernel& kernel,
                                                       std::shared_ptr<const Features> rows,
                                                       std::size_t bytes,
                                                       const Context& context = Threads(1));

}  // namespace maxmargin
