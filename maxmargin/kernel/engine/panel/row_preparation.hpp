#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "maxmargin/kernel/engine/dense_values.hpp"
#include "maxmargin/kernel/engine/panel/panel_engine.hpp"
#include "maxmargin/kernel/engine/panel/prepare.hpp"
#include "maxmargin/kernel/engine/panel/prepared_rows.hpp"

namespace maxmargin {

/// Brings rows into the numbers that panels of T are made of.
template <class T, class Sum>
class RowPreparation {
  using Value = typename SumOf<T>::type;
  using Prepared = PreparedRows<T, Sum>;
  static constexpr bool is_binary = std::is_same_v<T, std::uint8_t>;
  static constexpr bool in_quads = std::is_same_v<T, std::int8_t>;

 public:
  /// `packing` must outlive it.
  RowPreparation(const Summation& summation, const Packing& packing)
      : summation_(summation), packing_(packing), unit_(packing.unit, packing.slack) {}

  struct Row {
    bool fits;        ///< its values are near enough to the numbers
    Sum column_base;  ///< what is added to the sums of the row as a column
  };
  /// Adds a row; of `length` values where rows are dense.
  Row add(const Rows& left, std::size_t row, std::size_t length, Prepared& rows) const {
    return packing_.side == LeftSide::dense ? add_dense(left, row, length, rows)
                                            : add_list(left, row, rows);
  }

 private:
  Row add_list(const Rows& left, std::size_t row, Prepared& rows) const {
    double base = 0, norm = 0, column_base = 0;
    bool fits = true;
    left.for_each(row, [&](Index feature, double raw) {
      if (raw == 0) return;
      const double exact = summation_.value(raw);
      Value value{};
      fits = in_units(exact, value) && fits;
      norm += exact * exact;
      if (value == 0) return;  // too small for T; chi-squared divides by what is listed
      const double alone = summation_.alone(static_cast<double>(value));
      const std::uint32_t number = number_of(feature);
      const bool used = number != UsedFeatures::unused;
      if (!used || summation_.is_euclidean()) base += alone;
      column_base += alone;
      if (!used) return;
      if constexpr (in_quads) base += summation_.factor * quad_origin * static_cast<double>(value);
      rows.add(number, value);
    });
    rows.end_list();
    rows.base.push_back(whole_sum(base));
    return {fits && norm <= packing_.trusted_norm, whole_sum(column_base)};
  }

  /// Dense rows are of products.
  Row add_dense(const Rows& left, std::size_t row, std::size_t length, Prepared& rows) const {
    const std::vector<double>& center = packing_.used.center;
    const std::size_t at = rows.dense.size();
    rows.dense.resize(at + length);
    T* dense = rows.dense.data() + at;
    if constexpr (std::is_same_v<T, std::int16_t>) {
      Row added{};
      const auto add_run = [&](std::size_t first, const auto* values, std::size_t count) {
        added = add_whole_numbers(first, values, count, dense, rows);
      };
      if (!summation_.roots && left.columns <= packing_.used.number.size() &&
          visit_without_gaps(left, row, add_run))
        return added;
    }
    double norm = 0, unused = 0, used = 0;  // sums of squares: exact, of rounded values
    bool fits = true;
    const auto add = [&](std::size_t feature, double exact) {
      Value value{};
      fits = in_units(exact * packing_.stretch, value) & fits;
      const double square = static_cast<double>(value) * static_cast<double>(value);
      norm += exact * exact;
      const std::uint32_t number = number_of(feature);
      if (number == UsedFeatures::unused) {
        unused += square;
      } else {
        used += square;
        dense[number] = static_cast<T>(value);
      }
    };
    if (center.empty()) {
      left.for_each(row, [&](Index feature, double raw) { add(feature, summation_.value(raw)); });
    } else {
      std::vector<double>& values = rows.centered;
      values.assign(std::max(center.size(), left.columns), 0.0);
      left.for_each(row,
                    [&](Index feature, double raw) { values[feature] = summation_.value(raw); });
      for (std::size_t j = 0; j < center.size(); ++j) values[j] -= center[j];
      for (std::size_t j = 0; j < values.size(); ++j) add(j, values[j]);
    }
    rows.end_list();
    if (!summation_.is_euclidean()) used = unused = 0;
    const double all = packing_.by_differences ? 0 : used + unused;
    rows.base.push_back(whole_sum(packing_.by_differences ? unused : all));
    return {fits && norm <= packing_.trusted_norm, whole_sum(all)};
  }

  /// The values of the features from `first` on, by vectors.
  Row add_whole_numbers(std::size_t first, const auto* values, std::size_t count,
                        std::int16_t* dense, Prepared& rows) const {
    const std::uint32_t* numbers = packing_.used.number.data() + first;
    rows.units.resize(count);
    const WholeNumbers whole = whole_numbers(values, count, unit_, rows.units.data());
    for (std::size_t j = 0; j < count; ++j)
      if (numbers[j] != UsedFeatures::unused) dense[numbers[j]] = rows.units[j];
    rows.end_list();
    const Sum base = whole_sum(summation_.is_euclidean() ? whole.unit_norm : 0);
    rows.base.push_back(base);
    return {whole.fit && whole.norm <= packing_.trusted_norm, base};
  }

  std::uint32_t number_of(std::size_t feature) const {
    const std::vector<std::uint32_t>& numbers = packing_.used.number;
    return feature < numbers.size() ? numbers[feature] : UsedFeatures::unused;
  }

  /// The value in units; false when T cannot hold it.
  bool in_units(double value, Value& result) const {
    if constexpr (std::is_same_v<T, double>) {
      result = value;
      return true;
    } else {
      double units = value;
      if (packing_.unit != 0 && !unit_.divides(value, units)) return false;
      if (is_binary && units != 1) return false;
      if (in_quads && !(units >= 0 && units <= 255)) return false;
      result = static_cast<Value>(units);
      return true;
    }
  }

  /// Sums of bytes are taken modulo 256; a row whose sum does not fit is not trusted anyway.
  static Sum whole_sum(double base) {
    if constexpr (is_binary)
      return static_cast<Sum>(static_cast<std::uint64_t>(base));
    else
      return static_cast<Sum>(base);
  }

  Summation summation_;
  const Packing& packing_;
  Unit unit_;
};

}  // namespace maxmargin
