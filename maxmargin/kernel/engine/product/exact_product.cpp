#include "maxmargin/kernel/engine/product/exact_product.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/kernel/engine/error_bound.hpp"
#include "maxmargin/kernel/engine/panel/left_panel.hpp"
#include "maxmargin/kernel/engine/panel/prepare.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"
#include "maxmargin/kernel/engine/product/pair_differences.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t panel_columns = panel_width<double>;
constexpr std::size_t product_rows_at_once = 32;
// The lists of so many rows are used for all columns before the next are made.
constexpr std::size_t rows_listed = 256;
// A panel over more features than these would not stay in a cache.
constexpr std::size_t most_features_at_once = 8192;
// Sums of products are faster than those of differences: an error below this is no reason.
constexpr double good_enough = 1e-12;

/// Rows as lists of their non-zeros.
struct Lists {
  std::vector<std::uint32_t> features;
  std::vector<double> values;
  std::vector<std::size_t> offsets{0};
  std::vector<double> base;

  Lists(const Summation& summation, const Origin& origin, const Rows& rows,
        std::span<const Index> which, std::size_t panel_features) {
    for (const Index row : which) {
      double sum = 0;
      rows.for_each(row, [&](Index feature, double raw) {
        const double value = origin.relative(feature, summation.value(raw));
        if (value == 0) return;
        // What only this side has adds its own term; what both have adds the rest to the other's.
        if (summation.is_euclidean() || feature >= panel_features) sum += summation.alone(value);
        if (feature >= panel_features) return;
        features.push_back(feature);
        values.push_back(value);
      });
      offsets.push_back(features.size());
      base.push_back(sum);
    }
  }
  ListedRow<double> list(std::size_t r) const {
    return {features.data() + offsets[r], values.data() + offsets[r], offsets[r + 1] - offsets[r]};
  }
};

/// Columns side by side, feature by feature.
struct Panel {
  AlignedVector<double> values;
  alignas(64) double base[panel_columns];

  void fill(const Summation& summation, const Origin& origin, const Rows& columns,
            std::size_t begin, std::size_t count) {
    values.assign(columns.columns * panel_columns, 0.0);
    std::fill_n(base, panel_columns, 0.0);
    for (std::size_t c = 0; c < count; ++c)
      columns.for_each(begin + c, [&](Index feature, double raw) {
        const double value = origin.relative(feature, summation.value(raw));
        if (value == 0) return;
        values[feature * panel_columns + c] = value;
        base[c] += summation.alone(value);
      });
  }
};

/// Calls use(first, rows, c, here, finish, sums) with the sums of the rows from which[first] on and
/// the columns from begin + c on: those of a row after those of the one before.
template <class Use>
void for_each_tile(const Form& form, const Rows& left, std::span<const Index> which,
                   const Rows& columns, std::size_t begin, std::size_t count, const Use& use) {
  const Summation summation(form.pairing);
  const Origin origin(summation, left, columns);
  alignas(64) double sums[product_rows_at_once * panel_columns];
  Panel panel;
  for (std::size_t first = 0; first < which.size(); first += rows_listed) {
    const auto some = which.subspan(first, std::min(rows_listed, which.size() - first));
    const Lists lists(summation, origin, left, some, columns.columns);
    for (std::size_t c = 0; c < count; c += panel_columns) {
      const std::size_t here = std::min(panel_columns, count - c);
      panel.fill(summation, origin, columns, begin + c, here);
      for (std::size_t r = 0; r < some.size(); r += product_rows_at_once) {
        const std::size_t rows = std::min(product_rows_at_once, some.size() - r);
        ListedRow<double> tile[product_rows_at_once];
        for (std::size_t k = 0; k < rows; ++k) tile[k] = lists.list(r + k);
        list_sums<double>(summation.pairing, panel.values.data(), {tile, rows}, sums);
        const Finish<double> finish{summation.factor, 1.0, lists.base.data() + r, panel.base};
        use(first + r, rows, c, here, finish, sums);
      }
    }
  }
}

bool is_distance(const Form& form) {
  const Summation summation(form.pairing);
  return !summation.is_product() || summation.is_euclidean();
}

void add_values(const double* values, std::size_t width, std::size_t rows, std::size_t columns,
                const double* coefficients, const SeveralSums& sums, double* y) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < sums.count; ++k) {
      const double weight = coefficients[r * sums.count + k];
      if (weight == 0) continue;
      for (std::size_t c = 0; c < columns; ++c)
        y[k * sums.stride + c] += weight * values[c + r * width];
    }
}

}  // namespace

ExactValues::ExactValues(const Form& form, const Rows& columns) : form_(form) {
  const Summation summation(form.pairing);
  const Origin origin(summation, columns, columns);
  double norm = 0, alone = 0, raw_sum = 0;
  std::size_t longest = 0;
  // Of sums of products of the numbers as they are, the squares are all that counts.
  const bool is_plain = summation.is_product() && !summation.roots && origin.is_zero();
  for (std::size_t i = 0; i < columns.count; ++i) {
    double squares = 0, sum = 0, raws = 0;
    std::size_t count = 0;
    const auto add = [&](Index feature, double raw) {
      const double value = origin.relative(feature, summation.value(raw));
      squares += value * value;
      sum += summation.alone(value);
      raws += std::abs(raw);
      ++count;
    };
    const auto add_square = [&](Index, double raw) {
      squares += raw * raw;
      ++count;
    };
    if (is_plain)
      columns.for_each(i, add_square);
    else
      columns.for_each(i, add);
    norm = std::max(norm, squares);
    alone = std::max(alone, sum);
    raw_sum = std::max(raw_sum, raws);
    longest = std::max(longest, count);
  }
  SumError sums = summation.is_product() ? product_sums(form, unit_roundoff, longest, norm)
                                         : list_sums_error(unit_roundoff, longest, alone);
  // Roots are rounded before anything is taken from them.
  if (summation.roots) sums = sums + moved_rows(unit_roundoff * std::sqrt(raw_sum));
  error_ = value_error(form, sums, unit_roundoff);
  if (form.pairing == Pairing::dot) return;
  const std::size_t most = std::min(columns.columns, 2 * longest);
  const double of_differences =
      value_error(form, difference_sums_error(unit_roundoff, 2 * most, 0), unit_roundoff);
  if (error_ <= std::max(good_enough, of_differences)) return;
  by_differences_ = true;
  error_ = of_differences;
}

void ExactValues::block(const Rows& left, std::span<const Index> which, const Rows& columns,
                        std::size_t begin, std::size_t count, double* out,
                        std::size_t stride) const {
  const auto values = by_differences_ ? difference_block : exact_left_panel_block;
  values(form_, left, which, columns, begin, count, out, stride);
}

void ExactValues::add_product(const Rows& left, std::span<const Index> which,
                              std::span<const double> coefficients, const Rows& columns,
                              std::size_t begin, std::size_t count, double* y) const {
  if (columns.columns <= most_features_at_once && !by_differences_)
    return for_each_tile(form_, left, which, columns, begin, count,
                         [&](std::size_t first, std::size_t rows, std::size_t c, std::size_t here,
                             const Finish<double>& finish, const double* sums) {
                           add_exactly(form_.map, is_distance(form_), finish, sums, rows,
                                       coefficients.data() + first, here, y + c);
                         });
  std::vector<double> tile(product_rows_at_once * count);
  for (std::size_t r = 0; r < which.size(); r += product_rows_at_once) {
    const auto some = which.subspan(r, std::min(product_rows_at_once, which.size() - r));
    block(left, some, columns, begin, count, tile.data(), count);
    for (std::size_t i = 0; i < some.size(); ++i)
      for (std::size_t c = 0; c < count; ++c) y[c] += coefficients[r + i] * tile[i * count + c];
  }
}

void ExactValues::add_products(const Rows& left, std::span<const Index> which, const Rows& columns,
                               std::size_t begin, std::size_t count,
                               const SeveralSums& sums) const {
  if (columns.columns <= most_features_at_once && !by_differences_) {
    const bool cut = is_distance(form_);
    alignas(64) double values[product_rows_at_once * panel_columns];
    return for_each_tile(form_, left, which, columns, begin, count,
                         [&](std::size_t first, std::size_t rows, std::size_t c, std::size_t here,
                             const Finish<double>& finish, const double* raw) {
                           for (std::size_t r = 0; r < rows; ++r)
                             for (std::size_t i = 0; i < panel_columns; ++i) {
                               const double sum = finish.factor * raw[r * panel_columns + i] +
                                                  (finish.row_base[r] + finish.column_base[i]);
                               values[r * panel_columns + i] = cut ? std::max(sum, 0.0) : sum;
                             }
                           map_exactly(form_.map, {values, rows * panel_columns});
                           add_values(values, panel_columns, rows, here,
                                      sums.coefficients.data() + first * sums.count, sums,
                                      sums.y + c);
                         });
  }
  std::vector<double> tile(product_rows_at_once * count);
  for (std::size_t r = 0; r < which.size(); r += product_rows_at_once) {
    const auto some = which.subspan(r, std::min(product_rows_at_once, which.size() - r));
    block(left, some, columns, begin, count, tile.data(), count);
    add_values(tile.data(), count, some.size(), count, sums.coefficients.data() + r * sums.count,
               sums, sums.y);
  }
}

}  // namespace maxmargin
