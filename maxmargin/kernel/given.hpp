#pragma once

#include <variant>

#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// Whether the values of a kernel come with the data, feature j of row i being K(x_i, x_j): it can
/// be computed from no features, neither by a form nor by a function. Rows are then known by their
/// numbers alone, and cannot be scaled, compared or renumbered.
inline bool is_given(const Kernel& kernel) {
  return visit_list(
      [](const auto& each) {
        constexpr bool has_form = requires { each.form(); };
        constexpr bool has_function = requires { each.function; };
        return !has_form && !has_function;
      },
      kernel);
}

}  // namespace maxmargin
