#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

// The inner loops of an expansion, over its slots; `size` is a multiple of 8 in those over panels.

/// sums[i] = sum over k of times[k] rows[k][i], in the order of k, each product rounded: the same
/// bits as a plain loop on any machine.
void panel_sums(std::span<const double* const> rows, std::span<const double> times,
                std::size_t size, double* sums);

/// s[i] = base + bases[i] - 2 s[i]; whether one of them is less than `share` of base + bases[i].
bool distances(double base, const double* bases, std::size_t size, double share, double* s);

/// s[i] = exp(-rate s[i]), or exp(-rate sqrt(s[i])); negative ones count as 0.
void decay(double rate, std::size_t size, double* s);
void root_decay(double rate, std::size_t size, double* s);

/// sum of x[i] y[i]
double inner_product(const double* x, const double* y, std::size_t size);

/// The position of the smallest of |x[i]| weight[i] among those with weight[i] > 0; `size`: none.
std::size_t smallest_product(const double* x, const double* weight, std::size_t size);

}  // namespace maxmargin
