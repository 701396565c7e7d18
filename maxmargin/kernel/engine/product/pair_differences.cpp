#include "maxmargin/kernel/engine/product/pair_differences.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t pair_columns = panel_width<double>;
// Rows with more features than these are compared by their non-zeros.
constexpr std::size_t most_pair_features = 8192;

/// One tile of columns side by side, feature by feature.
class Columns {
 public:
  explicit Columns(const Rows& rows) : rows_(rows), panel_(rows.columns * pair_columns) {}

  void fill(std::size_t begin, std::size_t count) {
    std::fill(panel_.begin(), panel_.end(), 0.0);
    for (std::size_t c = 0; c < count; ++c)
      rows_.for_each(begin + c, [&](Index feature, double value) {
        panel_[feature * pair_columns + c] = value;
      });
  }
  const double* values() const { return panel_.data(); }

 private:
  const Rows& rows_;
  AlignedVector<double> panel_;
};

/// Rows as they are, all features of the columns; what they have besides adds to every sum.
struct WholeRows {
  std::vector<double> values, besides;
  std::vector<const double*> row;

  WholeRows(Pairing pairing, const Rows& left, std::span<const Index> which, std::size_t features)
      : values(which.size() * features, 0.0), besides(which.size(), 0.0) {
    for (std::size_t r = 0; r < which.size(); ++r) {
      row.push_back(values.data() + r * features);
      left.for_each(which[r], [&](Index feature, double value) {
        if (feature < features)
          values[r * features + feature] = value;
        else
          besides[r] += safe_pair_term(pairing, value, 0);
      });
    }
  }
};

void sum_by_panels(Pairing pairing, const Rows& left, std::span<const Index> which,
                   const Rows& columns, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) {
  const std::size_t features = columns.columns;
  Columns tile(columns);
  alignas(64) double sums[rows_a_tile * pair_columns];
  for (std::size_t first = 0; first < which.size(); first += rows_a_tile) {
    const auto some = which.subspan(first, std::min(rows_a_tile, which.size() - first));
    const WholeRows rows(pairing, left, some, features);
    for (std::size_t c = 0; c < count; c += pair_columns) {
      const std::size_t here = std::min(pair_columns, count - c);
      tile.fill(begin + c, here);
      std::fill_n(sums, some.size() * pair_columns, 0.0);
      if (pairing == Pairing::squared_euclidean && features > 0) {
        difference_sums(tile.values(), rows.row, features, sums);
      } else {
        for (std::size_t r = 0; r < some.size(); ++r)
          for (std::size_t j = 0; j < features; ++j)
            for (std::size_t k = 0; k < here; ++k)
              sums[r * pair_columns + k] +=
                  safe_pair_term(pairing, rows.row[r][j], tile.values()[j * pair_columns + k]);
      }
      for (std::size_t r = 0; r < some.size(); ++r)
        for (std::size_t k = 0; k < here; ++k)
          out[(first + r) * stride + c + k] = sums[r * pair_columns + k] + rows.besides[r];
    }
  }
}

using Entries = std::vector<std::pair<Index, double>>;

Entries entries_of(const Rows& rows, std::size_t row) {
  Entries entries;
  rows.for_each(row, [&](Index feature, double value) { entries.emplace_back(feature, value); });
  return entries;
}

/// Of rows of many features by their non-zeros, both in increasing order of features.
double sum_of(Pairing pairing, const Entries& x, const Entries& z) {
  double sum = 0;
  std::size_t i = 0, j = 0;
  while (i < x.size() || j < z.size()) {
    const bool of_x = j == z.size() || (i < x.size() && x[i].first <= z[j].first);
    const bool of_z = i == x.size() || (j < z.size() && z[j].first <= x[i].first);
    sum += safe_pair_term(pairing, of_x ? x[i].second : 0, of_z ? z[j].second : 0);
    i += of_x;
    j += of_z;
  }
  return sum;
}

}  // namespace

void difference_block(const Form& form, const Rows& left, std::span<const Index> which,
                      const Rows& columns, std::size_t begin, std::size_t count, double* out,
                      std::size_t stride) {
  if (columns.columns <= most_pair_features) {
    sum_by_panels(form.pairing, left, which, columns, begin, count, out, stride);
  } else {
    std::vector<Entries> rows;
    for (const Index row : which) rows.push_back(entries_of(left, row));
    for (std::size_t c = 0; c < count; ++c) {
      const Entries column = entries_of(columns, begin + c);
      for (std::size_t r = 0; r < rows.size(); ++r)
        out[r * stride + c] = sum_of(form.pairing, rows[r], column);
    }
  }
  for (std::size_t r = 0; r < which.size(); ++r) map_exactly(form.map, {out + r * stride, count});
}

}  // namespace maxmargin
