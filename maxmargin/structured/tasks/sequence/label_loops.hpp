#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

// Vectorised loops of chains over all labels of a token; linalg/class_sums.hpp has others.

/// to[l] = max over k of from[k] + pair[k labels + l], with the same bits on any machine
void best_before(const double* from, const double* pair, std::size_t labels, double* to);

/// Arrays over labels are padded with zeros to whole vectors of 16 floats.
constexpr std::size_t label_stride(std::size_t labels) { return (labels + 15) / 16 * 16; }

/// sums[r][l] = sum over k of z[r][k] w[k][l], where rows of z have `rank` floats.
void label_sums(const float* z, std::size_t rows, std::size_t rank, const float* w,
                std::size_t stride, float* sums);

/// w[k][l] += sum over r of z[r][k] change[r][l]
void add_label_changes(std::span<const float* const> z, std::size_t rank, const float* change,
                       std::size_t stride, float* w);

}  // namespace maxmargin
