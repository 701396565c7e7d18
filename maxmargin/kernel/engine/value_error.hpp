#pragma once

namespace maxmargin {

// The error that a kernel value is expected to have, relative to the largest values: one that was
// rounded to float, one that was rounded to double, and one that is the map of a sum in double.
inline constexpr double float_rounding = 5e-8;
inline constexpr double double_rounding = 1.1e-16;
inline constexpr double double_value_error = 1e-15;

}  // namespace maxmargin
