#pragma once

#include "maxmargin/problem/matrix/quadratic.hpp"

// Default implementations of PartialProducts by rows, which every matrix has.
namespace maxmargin {

void among_by_rows(const Quadratic& K, std::span<const Index> points, std::span<const Index> which,
                   std::span<float* const> out, const Threads& threads);
void block_by_rows(const Quadratic& K, std::span<const Index> which, std::span<const Index> columns,
                   std::span<float* const> out, const Threads& threads);
void add_product_by_rows(const Quadratic& K, std::span<const Index> which,
                         std::span<const double> coefficients, std::span<double> y,
                         const Threads& threads);

}  // namespace maxmargin
