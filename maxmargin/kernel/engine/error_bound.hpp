#pragma once

#include <cstddef>

#include "maxmargin/kernel/form.hpp"
#include "maxmargin/linalg/enclosed.hpp"

// Proved error bounds of kernel values (docs/certificate.md): a bound e
// with |computed - K(x,z)| <= e sqrt(K(x,x) K(z,z)), K the kernel of the stored numbers as real
// numbers go. It holds for kernels that are positive semi-definite.
namespace maxmargin {

/// How wrong a sum over the features may be. Of distances d: by `absolute` + `relative` d + `root`
/// sqrt(d); of products: by `absolute` |x| |z|.
struct SumError {
  double absolute = 0, relative = 0, root = 0;
};

/// Of sums of `terms` products in arithmetic of this roundoff, of inner products or of distances
/// |x|^2 + |z|^2 - 2 x'z between rows whose sums of squares are at most `norm`.
SumError product_sums(const Form& form, double roundoff, std::size_t terms, double norm);

/// Of distances from differences of `terms` features, of values that have that roundoff themselves
/// where they are not the stored ones: then `norm` is the largest sum of squares, otherwise 0.
SumError difference_sums_error(double roundoff, std::size_t terms, double norm);

/// Of sums of |x - z| or (x - z)^2 / (x + z), taken as differences from what one side has alone;
/// that is at most `alone` for a row.
SumError list_sums_error(double roundoff, std::size_t terms, double alone);

/// Of exact distances between rows that were moved by at most `deviation` each.
SumError moved_rows(double deviation);

/// Of several causes together.
SumError operator+(const SumError& x, const SumError& y);

/// The bound, with the map evaluated in arithmetic of this roundoff.
double value_error(const Form& form, const SumError& sum, double roundoff);

}  // namespace maxmargin
