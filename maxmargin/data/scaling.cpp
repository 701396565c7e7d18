#include "maxmargin/data/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/columns.hpp"

namespace maxmargin {
namespace {

constexpr std::array<std::pair<ScalingKind, std::string_view>, 4> names{
    {{ScalingKind::range, "range"},
     {ScalingKind::unit, "unit"},
     {ScalingKind::deviation, "deviation"},
     {ScalingKind::maximum, "maximum"}}};

double inverse(double size) {
  return size == 0 ? 0 : std::min(1 / size, std::numeric_limits<double>::max());
}

struct OffsetFactor {
  double offset, factor;
};

OffsetFactor scale_of(const Columns& columns, std::size_t k, ScalingKind kind) {
  const double low = columns.low[k], high = columns.high[k];
  if (columns.constant(k)) return {0, 0};
  const double half = high / 2 - low / 2;  // high - low might overflow
  switch (kind) {
    case ScalingKind::range:
      return {low / 2 + high / 2, inverse(half)};
    case ScalingKind::unit:
      return {low, inverse(half) / 2};
    case ScalingKind::deviation:
      return {columns.mean[k], inverse(columns.deviation[k])};
    default:
      return {0, inverse(std::max(std::abs(low), std::abs(high)))};
  }
}

bool fills_up(const Scaling& scaling) {
  return std::any_of(scaling.offset.begin(), scaling.offset.end(),
                     [](double offset) { return offset != 0; });
}

double scaled(const Scaling& scaling, std::size_t feature, double value, std::size_t row) {
  const double factor = scaling.factor[feature];
  if (factor == 0) return 0;
  const double offset = scaling.offset[feature];
  double result = (value - offset) * factor;
  if (!std::isfinite(result))
    result = value * factor - offset * factor;  // the difference overflowed
  if (!std::isfinite(result))
    throw Error(Fault::data,
                "feature " + std::to_string(feature + 1) + " of row " + std::to_string(row + 1) +
                    " becomes too large by scaling",
                "it is far outside of the values that the scaling was learned from");
  return result;
}

}  // namespace

Scaling scaling_of(const Columns& columns, std::size_t features, ScalingKind kind) {
  Scaling scaling{kind, std::vector<double>(features, 0), std::vector<double>(features, 0)};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto [offset, factor] = scale_of(columns, k, kind);
    scaling.offset[columns.feature[k]] = offset;
    scaling.factor[columns.feature[k]] = factor;
  }
  return scaling;
}

void apply(const Scaling& scaling, std::span<double> row, std::size_t number) {
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = scaled(scaling, j, row[j], number);
}

Scaling learn_scaling(const Rows& rows, ScalingKind kind, std::size_t most_bytes) {
  const auto too_large = [&](const std::string& what, const std::string& mend) {
    throw Error(
        Fault::usage,
        what + " needs more than the " + std::to_string(most_bytes >> 20) + " MB that are allowed",
        mend);
  };
  if (rows.columns > most_bytes / (2 * sizeof(double)))
    too_large("scaling " + std::to_string(rows.columns) + " features",
              "number the features without large gaps, or allow more memory");
  const Columns columns = describe_columns(rows);
  Scaling scaling = scaling_of(columns, rows.columns, kind);
  if (rows.sparse() && fills_up(scaling) && rows.count > 0 &&
      rows.columns > most_bytes / sizeof(double) / rows.count)
    too_large("scaling by " + std::string(to_string(kind)) + " makes sparse rows dense and that",
              "use the scaling maximum, which keeps zeros");
  return scaling;
}

void apply(const Scaling& scaling, Features& rows) {
  const std::size_t columns = scaling.factor.size();
  if (rows.columns() > columns)
    throw Error(Fault::data,
                "the data has " + std::to_string(rows.columns()) +
                    " features but the scaling was learned from " + std::to_string(columns),
                "use data with the same features");
  if (!rows.is_sparse() && rows.columns() < columns)
    throw Error(Fault::data,
                "the data has only " + std::to_string(rows.columns()) + " of the " +
                    std::to_string(columns) + " features that the scaling was learned from",
                "use data with the same features");
  const bool sparse = rows.is_sparse() && !fills_up(scaling);
  Features changed = sparse ? Features::sparse(columns) : Features::dense(columns);
  const Rows view = rows.view();
  std::vector<Index> features;
  std::vector<double> values;
  std::vector<double> zero_row;
  for (std::size_t j = 0; j < (sparse ? 0 : columns); ++j)
    zero_row.push_back(scaled(scaling, j, 0, 0));
  for (std::size_t i = 0; i < view.count; ++i) {
    features.clear();
    values = zero_row;
    view.for_each(i, [&](Index feature, double value) {
      const double result = scaled(scaling, feature, value, i);
      if (!sparse) {
        values[feature] = result;
      } else if (result != 0) {
        features.push_back(feature);
        values.push_back(result);
      }
    });
    if (sparse)
      changed.append(features, values);
    else
      changed.append(values);
  }
  changed.fit();
  rows = std::move(changed);
}

std::optional<ScalingKind> scaling_kind(std::string_view name) {
  for (const auto& [kind, text] : names)
    if (text == name) return kind;
  return {};
}

std::string_view to_string(ScalingKind kind) {
  for (const auto& [each, text] : names)
    if (each == kind) return text;
  return "maximum";
}

}  // namespace maxmargin
