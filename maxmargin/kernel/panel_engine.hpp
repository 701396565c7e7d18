#pragma once

#include <memory>

#include "maxmargin/kernel/engine.hpp"
#include "maxmargin/kernel/prepare.hpp"

namespace maxmargin {

/// Whether rows enter the sums as lists of their non-zeros or whole.
enum class LeftSide { listed, dense };

/// The columns packed into panels of numbers of type T: float or double values as they are (unit
/// 0), or float or int16 whole multiples of `unit`; features that no column has are left out. Rows
/// whose sum of squares is above `trusted_norm` are evaluated in double.
template <class T>
std::unique_ptr<Engine> make_panel_engine(const Form& form, const Rows& columns, double unit,
                                          LeftSide side, double trusted_norm);

/// Bytes that such panels would take.
template <class T>
std::size_t panel_bytes(std::size_t used_features, std::size_t rows);

/// For each feature its number among those that occur in some row, or `unused`.
struct UsedFeatures {
  static constexpr std::uint32_t unused = 0xffffffffu;
  std::vector<std::uint32_t> number;
  std::size_t count = 0;
};
UsedFeatures used_features(const Rows& rows);

}  // namespace maxmargin
