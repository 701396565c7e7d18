#pragma once

#include <memory>
#include <vector>

#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/engine/panel/prepare.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"
#include "maxmargin/kernel/engine/panel/used_features.hpp"

namespace maxmargin {

/// Whether rows enter the sums as lists of their non-zeros, in groups with a common list (float
/// panels only), or whole.
enum class LeftSide { listed, grouped, dense };

/// What the columns are packed as.
struct Packing {
  LeftSide side = LeftSide::listed;
  double unit = 0;              ///< values are whole multiples of it; 0: as they are
  double slack = 0;             ///< how far a value may be from a whole multiple
  double trusted_norm = 0;      ///< rows whose sum of squares is above it are evaluated in double
  bool by_differences = false;  ///< distances from differences; dense float rows only
  bool by_products = false;     ///< besides, in sums over rows: from inner products
  double stretch = 1;           ///< of values by differences: a decay is then a power of two, in
                                ///< sums by products half a square is
  double deviation = 5e-8;      ///< expected relative error of a value
  double float_error = 1;       ///< the proved one, see error_bound.hpp
  double nonzeros = 0;          ///< of a row on average; not those stored as zeros
  double most_units = 0;        ///< the largest sum of squares of a row, in squares of the unit
  UsedFeatures used;
};

/// The columns packed into panels of numbers of type T: float or double values as they are, or
/// float, int16, int8 or byte whole multiples of a unit. Sums are of type Sum; float panels with
/// double sums are summed by blocks.
template <class T, class Sum = typename SumOf<T>::type>
std::unique_ptr<Engine> make_panel_engine(const Form& form, const Rows& columns, Packing packing,
                                          const Threads& threads);

/// Bytes that such panels would take.
template <class T>
std::size_t panel_bytes(std::size_t used_features, std::size_t rows);

}  // namespace maxmargin
