#pragma once

#include <string_view>
#include <tuple>

#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// The data is the Gram matrix: feature j of row i is K(x_i, x_j), j running over the training
/// rows.
struct Precomputed {
  static constexpr std::string_view name = "precomputed";
  static constexpr std::string_view formula = "feature j of row i is K(x_i, x_j)";
  static constexpr std::tuple<> fields{};
  Definite definite() const { return Definite::unknown; }
};

}  // namespace maxmargin
