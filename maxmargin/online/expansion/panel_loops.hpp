#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace maxmargin {

// The inner loops of an expansion, over its slots; `size` is a multiple of 8 in those over panels.

/// sums[i] = sum over k of times[k] rows[k][i], in the order of k, each product rounded: the same
/// bits as a plain loop on any machine.
void panel_sums(std::span<const double* const> rows, std::span<const double> times,
                std::size_t size, double* sums);

/// A kernel of binary rows: table[base + lengths[i] + by c] where c features are common.
struct CountMap {
  const double* table;
  const std::int32_t* lengths;
  std::int32_t base, by;
};
/// values[i] for c = sum over k of rows[k][i], which is at most 255. The rows and lengths have room
/// for a multiple of 64.
void values_of_counts(std::span<const std::uint8_t* const> rows, const CountMap& map,
                      std::size_t size, double* values);

/// s[i] = base + bases[i] - 2 s[i]; whether one of them is less than `share` of base + bases[i].
bool distances(double base, const double* bases, std::size_t size, double share, double* s);

/// s[i] = exp(-rate s[i]), or exp(-rate sqrt(s[i])); negative ones count as 0.
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
/// The first row of the highest gradient among those that can go up (`size`: none), and the lowest
/// gradient of those that can go down.
struct PairEnds {
  std::size_t up;
  double highest, lowest;
};
PairEnds pair_ends(const PairArrays& rows);
/// The rows that are between their bounds, or could move towards a bias of `middle`, in order.
void movable_rows(const PairArrays& rows, double middle, std::vector<std::size_t>& found);
/// The row with which `up`, whose kernel row is k, gains most: the largest
/// (gradient[up] - gradient[j])^2 / curvature[j]; `size`: none.
std::size_t best_partner(const PairArrays& rows, std::size_t up, const double* k);
/// k(x,x) + k(z,z) - 2 k(x,z), or a little where rows are the same.
inline double pair_curvature(double self, double other, double k) {
  const double curvature = self + other - 2 * k;
  return curvature > 1e-12 ? curvature : 1e-12;
}

}  // namespace maxmargin
