#pragma once

#include <span>
#include <vector>

#include "maxmargin/kernel/engine/panel/prepare.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"

namespace maxmargin {

/// Kernel values of a few rows, scattered into one panel, against columns that stay as they are
/// stored: for sparse data with so many features that packing the columns would not pay, and, in
/// double, for exact values of anything.
template <class T>
void left_panel_block(const Form& form, const Rows& left, std::span<const Index> which,
                      const Rows& columns, std::size_t begin, std::size_t count,
                      std::span<float* const> out);

void exact_left_panel_block(const Form& form, const Rows& left, std::span<const Index> which,
                            const Rows& columns, std::size_t begin, std::size_t count, double* out,
                            std::size_t stride);

}  // namespace maxmargin
