#pragma once

#include <memory>
#include <vector>

#include "maxmargin/kernel/engine.hpp"
#include "maxmargin/kernel/prepare.hpp"
#include "maxmargin/kernel/tiles.hpp"

namespace maxmargin {

/// Whether rows enter the sums as lists of their non-zeros, in groups with a common list (float
/// panels only), or whole.
enum class LeftSide { listed, grouped, dense };

/// For each feature its number among those that occur in some row, or `unused`.
struct UsedFeatures {
  static constexpr std::uint32_t unused = 0xffffffffu;
  std::vector<std::uint32_t> number;
  std::size_t count = 0;
  /// Of each feature, subtracted from all values; empty: nothing. A distance does not change, but
  /// its rounding does.
  std::vector<double> center;
};
UsedFeatures used_features(const Rows& rows);
/// Centered at the features' means, or in the middle between their extremes: whichever leaves the
/// smaller largest sum of squares of a row, which is returned in `norm`. Features that have one
/// value in all rows are left out.
UsedFeatures centered_features(const Summation& summation, const Rows& rows, double& norm);

/// What the columns are packed as.
struct Packing {
  LeftSide side = LeftSide::listed;
  double unit = 0;              ///< values are whole multiples of it; 0: as they are
  double slack = 0;             ///< how far a value may be from a whole multiple
  double trusted_norm = 0;      ///< rows whose sum of squares is above it are evaluated in double
  bool by_differences = false;  ///< distances from differences; dense float rows only
  double deviation = 5e-8;      ///< expected relative error of a value
  UsedFeatures used;
};

/// The columns packed into panels of numbers of type T: float or double values as they are, or
/// float, int16, int8 or byte whole multiples of a unit. Sums are of type Sum; float panels with
/// double sums are summed by blocks.
template <class T, class Sum = typename SumOf<T>::type>
std::unique_ptr<Engine> make_panel_engine(const Form& form, const Rows& columns, Packing packing);

/// Bytes that such panels would take.
template <class T>
std::size_t panel_bytes(std::size_t used_features, std::size_t rows);

}  // namespace maxmargin
