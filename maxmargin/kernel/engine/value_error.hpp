#pragma once

namespace maxmargin {

/// The error that a kernel value is expected to have which was rounded to float, relative to the
/// largest values.
inline constexpr double float_rounding = 5e-8;

}  // namespace maxmargin
