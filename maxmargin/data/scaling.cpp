#include "maxmargin/data/scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/columns.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/data/renumbering.hpp"

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

/// Where the offset and factor of a feature are; nothing where they are not listed.
std::optional<std::size_t> position_of(const Scaling& scaling, Index feature) {
  if (!scaling.lists_features()) return feature;
  const auto found = std::ranges::lower_bound(scaling.feature, feature);
  if (found == scaling.feature.end() || *found != feature) return std::nullopt;
  return static_cast<std::size_t>(found - scaling.feature.begin());
}

double scaled(const Scaling& scaling, std::size_t position, double value, std::size_t row) {
  const double factor = scaling.factor[position];
  if (factor == 0) return 0;
  const double offset = scaling.offset[position];
  double result = (value - offset) * factor;
  if (!std::isfinite(result))
    result = value * factor - offset * factor;  // the difference overflowed
  if (!std::isfinite(result)) {
    const std::uint64_t feature = scaling.lists_features() ? scaling.feature[position] : position;
    throw Error(Fault::data,
                "feature " + std::to_string(feature + 1) + " of row " + std::to_string(row + 1) +
                    " becomes too large by scaling",
                "it is far outside of the values that the scaling was learned from");
  }
  return result;
}

/// Offsets and factors of the described columns: those that are listed, or some of all.
void take_columns(const Columns& columns, Scaling& scaling) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::size_t position = scaling.lists_features() ? k : columns.feature[k];
    const auto [offset, factor] = scale_of(columns, k, scaling.kind);
    scaling.offset[position] = offset;
    scaling.factor[position] = factor;
  }
}

void require_features_of(const Scaling& scaling, const Features& rows) {
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
}

/// Leaves out zeros of a row that has a value for each of `all`.
void keep_nonzeros(std::span<const Index> all, std::vector<Index>& features,
                   std::vector<double>& values) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (values[k] == 0) continue;
    values[features.size()] = values[k];
    features.push_back(all[k]);
  }
  values.resize(features.size());
}

}  // namespace

Scaling scaling_of(const Columns& columns, std::size_t features, ScalingKind kind) {
  Scaling scaling{kind, std::vector<double>(features, 0), std::vector<double>(features, 0)};
  take_columns(columns, scaling);
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
  const bool lists = has_gaps(rows);
  if (!lists && rows.columns > most_bytes / (2 * sizeof(double)))
    too_large("scaling " + std::to_string(rows.columns) + " features",
              "number the features without large gaps, or allow more memory");
  const Columns columns = describe_columns(rows);
  Scaling scaling = lists ? Scaling{kind, {}, {}} : scaling_of(columns, rows.columns, kind);
  if (lists) {
    // A list is never empty: if no feature occurs, the first is constant.
    scaling.feature = columns.size() > 0 ? columns.feature : std::vector<Index>{0};
    scaling.offset.assign(scaling.feature.size(), 0);
    scaling.factor.assign(scaling.feature.size(), 0);
    take_columns(columns, scaling);
  }
  const std::size_t known = scaling.factor.size();
  const std::size_t value_bytes = sizeof(double) + (lists ? sizeof(Index) : 0);
  if (rows.sparse() && fills_up(scaling) && rows.count > 0 &&
      known > most_bytes / value_bytes / rows.count)
    too_large("scaling by " + std::string(to_string(kind)) + " makes sparse rows dense and that",
              "use the scaling maximum, which keeps zeros");
  return scaling;
}

void apply(const Scaling& scaling, Features& rows) {
  const bool lists = scaling.lists_features();
  if (!lists) require_features_of(scaling, rows);
  const std::size_t known = scaling.factor.size();
  const bool fills = fills_up(scaling);
  const bool sparse = lists || (rows.is_sparse() && !fills);
  const bool whole = fills || !sparse;  // every feature that is known gets a value
  Features changed =
      lists ? Features::sparse(std::max(rows.columns(), std::size_t{scaling.feature.back()} + 1))
            : no_rows(sparse, known);
  const Rows view = rows.view();
  std::vector<Index> features;
  std::vector<double> values;
  std::vector<double> zero_row;
  for (std::size_t k = 0; k < (whole ? known : 0); ++k)
    zero_row.push_back(scaled(scaling, k, 0, 0));
  for (std::size_t i = 0; i < view.count; ++i) {
    features.clear();
    values = zero_row;
    view.for_each(i, [&](Index feature, double value) {
      const auto position = position_of(scaling, feature);
      if (!position) return;
      const double result = scaled(scaling, *position, value, i);
      if (whole) {
        values[*position] = result;
      } else if (result != 0) {
        features.push_back(feature);
        values.push_back(result);
      }
    });
    if (sparse && whole) keep_nonzeros(scaling.feature, features, values);
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
