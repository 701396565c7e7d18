#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "maxmargin/data/columns.hpp"
#include "maxmargin/data/dataset.hpp"

namespace maxmargin {

/// How `--scale` maps each feature: range: [min,max] to [-1,1]; unit: [min,max] to [0,1];
/// deviation: mean 0 and deviation 1; maximum: divided by the largest absolute value, so that zeros
/// stay zero and sparse data stays sparse.
enum class ScalingKind { range, unit, deviation, maximum };

/// x_j becomes (x_j - offset_j) * factor_j; a constant feature becomes 0.
struct Scaling {
  ScalingKind kind = ScalingKind::maximum;
  std::vector<double> offset;
  std::vector<double> factor;
  /// The feature j of each offset and factor, increasing; empty: they are those of all features.
  std::vector<Index> feature{};

  bool lists_features() const { return !feature.empty(); }
};

/// Learns the scaling of a data set; where there are large gaps between its features, of those that
/// occur. A kind that would fill up sparse rows (an offset that is not zero) does so if that fits
/// into `most_bytes`, else throws an Error that names `maximum`.
Scaling learn_scaling(const Rows& rows, ScalingKind kind, std::size_t most_bytes);

/// The scaling of so many features, of which the columns tell; none is listed.
Scaling scaling_of(const Columns& columns, std::size_t features, ScalingKind kind);

/// Applies it to one row of all features; `number` of the row is for messages.
void apply(const Scaling& scaling, std::span<double> row, std::size_t number);

/// Applies it. More features than the scaling was learned from are an Error, unless it lists those
/// that occurred: then rows become sparse, and all others are zero, as a constant feature is.
void apply(const Scaling& scaling, Features& rows);

std::optional<ScalingKind> scaling_kind(std::string_view name);
std::string_view to_string(ScalingKind kind);

}  // namespace maxmargin
