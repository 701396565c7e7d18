#include "maxmargin/data/columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace maxmargin {
namespace {

/// Gives the features that occur consecutive numbers.
class Slots {
 public:
  explicit Slots(const Rows& rows) {
    if (!rows.sparse()) {
      feature_.resize(rows.columns);
      std::iota(feature_.begin(), feature_.end(), Index{0});
      return;
    }
    const Index* const begin = rows.index + rows.start[0];
    const Index* const end = rows.index + rows.start[rows.count];
    if (rows.columns <= 2 * rows.stored() + (1u << 20)) {
      slot_.assign(rows.columns, 0);
      for (const Index* at = begin; at != end; ++at) slot_[*at] = 1;
      for (std::size_t j = 0; j < slot_.size(); ++j) {
        if (slot_[j] == 0) continue;
        slot_[j] = static_cast<Index>(feature_.size());
        feature_.push_back(static_cast<Index>(j));
      }
    } else {
      feature_.assign(begin, end);
      std::sort(feature_.begin(), feature_.end());
      feature_.erase(std::unique(feature_.begin(), feature_.end()), feature_.end());
      search_ = true;
    }
  }

  const std::vector<Index>& features() const { return feature_; }

  std::size_t operator()(Index feature) const {
    if (search_)
      return static_cast<std::size_t>(std::lower_bound(feature_.begin(), feature_.end(), feature) -
                                      feature_.begin());
    return slot_.empty() ? feature : slot_[feature];
  }

 private:
  std::vector<Index> feature_;
  std::vector<Index> slot_;  ///< by feature, where there are not too many
  bool search_ = false;
};

}  // namespace

void Columns::set_deviation(std::size_t k, double square) {
  deviation[k] = std::sqrt(square);
  // Squares of very large or small numbers overflow or underflow: then half the range stands in, an
  // upper bound of the deviation.
  if (constant(k))
    deviation[k] = 0;
  else if (!std::isfinite(deviation[k]) || deviation[k] == 0)
    deviation[k] = high[k] / 2 - low[k] / 2;
}

Columns describe_columns(const Rows& rows) {
  const Slots slot(rows);
  Columns columns;
  columns.feature = slot.features();
  const std::size_t size = columns.size();
  constexpr double most = std::numeric_limits<double>::infinity();
  columns.low.assign(size, most);
  columns.high.assign(size, -most);
  columns.mean.assign(size, 0);
  columns.deviation.assign(size, 0);
  std::vector<std::size_t> stored(size, 0);
  const double share = rows.count > 0 ? 1 / static_cast<double>(rows.count) : 0;

  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      const std::size_t k = slot(feature);
      ++stored[k];
      columns.nonzeros += value != 0;
      columns.low[k] = std::min(columns.low[k], value);
      columns.high[k] = std::max(columns.high[k], value);
      columns.mean[k] += value * share;  // the sum itself might overflow
    });
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) {
      const std::size_t k = slot(feature);
      const double apart = value - columns.mean[k];
      columns.deviation[k] += apart * apart;
    });
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t absent = rows.count - stored[k];
    if (absent > 0) {
      columns.low[k] = std::min(columns.low[k], 0.0);
      columns.high[k] = std::max(columns.high[k], 0.0);
    }
    const double mean = columns.mean[k];
    columns.set_deviation(
        k, (columns.deviation[k] + static_cast<double>(absent) * mean * mean) * share);
  }
  return columns;
}

}  // namespace maxmargin
