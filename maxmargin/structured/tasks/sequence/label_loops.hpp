#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

// Inner loops of chains over all labels of a token, vectorised; linalg/class_sums.hpp has others.

/// to[l] = max over k of from[k] + pair[k labels + l], with the same bits on any machine
void best_before(const double* from, const double* pair, std::size_t labels, double* to);

/// Numbers of labels, in vectors of floats: label_stride(labels) of them stand side by side, those
/// behind the last label are 0.
constexpr std::size_t label_stride(std::size_t labels) { return (labels + 15) / 16 * 16; }

/// sums[r][l] = sum over k of z[r][k] w[k][l], for rows of `rank` floats that follow each other.
void label_sums(const float* z, std::size_t rows, std::size_t rank, const float* w,
                std::size_t stride, float* sums);

/// w[k][l] += sum over r of z[r][k] change[r][l]
void add_label_changes(std::span<const float* const> z, std::size_t rank, const float* change,
                       std::size_t stride, float* w);

}  // namespace maxmargin
