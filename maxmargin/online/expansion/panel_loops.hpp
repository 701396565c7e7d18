#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace maxmargin {

// Vectorised loops over the slots of an expansion. In those over panels `size` is a multiple of 8.

/// sums[i] = sum over k of times[k] rows[k][i], in the order of k and without fused operations: the
/// same bits as a scalar loop on any machine.
void panel_sums(std::span<const double* const> rows, std::span<const double> times,
                std::size_t size, double* sums);

/// A kernel of binary rows with c common features: table[base + lengths[i] + by c].
struct CountMap {
  const double* table;
  const std::int32_t* lengths;
  std::int32_t base, by;
};
/// values[i] for c = sum over k of rows[k][i], which is at most 255. The rows and lengths have room
/// for a multiple of 64.
void values_of_counts(std::span<const std::uint8_t* const> rows, const CountMap& map,
                      std::size_t size, double* values);

/// s[i] = base + bases[i] - 2 s[i]; returns whether some s[i] < share (base + bases[i]).
bool distances(double base, const double* bases, std::size_t size, double share, double* s);

/// s[i] = exp(-rate s[i]), or exp(-rate sqrt(s[i])), where negative s[i] are taken as 0.
void decay(double rate, std::size_t size, double* s);
void root_decay(double rate, std::size_t size, double* s);

/// sum of x[i] y[i]
double inner_product(const double* x, const double* y, std::size_t size);

/// y[i] += by x[i]
void add_multiple(double by, const double* x, std::size_t size, double* y);

/// The position of the smallest of |x[i]| weight[i] among those with weight[i] > 0; `size`: none.
std::size_t smallest_product(const double* x, const double* weight, std::size_t size);

/// A dual machine as arrays over its rows, each alpha between least and most.
struct PairArrays {
  const double *gradient, *alpha, *least, *most, *self;
  std::size_t size;
};
/// m(alpha), the highest gradient of a row that can increase (`up` is the first of these; `size`:
/// none), and M(alpha), the lowest gradient of a row that can decrease.
struct ViolatingPair {
  std::size_t up;
  double highest, lowest;
};
ViolatingPair most_violating_pair(const PairArrays& rows);
/// Appends, in order, the free rows and those that violate the KKT conditions at the bias `middle`.
void movable_rows(const PairArrays& rows, double middle, std::vector<std::size_t>& found);
/// Second-order selection: the row j that can decrease with the largest
/// (gradient[up] - gradient[j])^2 / curvature(up, j), k being the kernel row of `up`; `size`: none.
std::size_t best_partner(const PairArrays& rows, std::size_t up, const double* k);
/// k(x,x) + k(z,z) - 2 k(x,z), at least 1e-12 so that equal rows have a finite step.
inline double pair_curvature(double self, double other, double k) {
  const double curvature = self + other - 2 * k;
  return curvature > 1e-12 ? curvature : 1e-12;
}

}  // namespace maxmargin
