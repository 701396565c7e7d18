#include "maxmargin/kernel/engine/locality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin {
namespace {

// Groups of so few rows are left in their order: they share a panel anyway.
constexpr std::size_t small_group = 64;

/// Splits rows again and again at the mean of the feature that varies most.
class Splitter {
 public:
  Splitter(const Rows& rows, std::vector<Index>& order) : rows_(rows), order_(order) {}

  void split(std::size_t begin, std::size_t end) {
    if (end - begin <= small_group) return;
    std::vector<double> sum(rows_.columns, 0.0), squares(rows_.columns, 0.0);
    for (std::size_t k = begin; k < end; ++k)
      rows_.for_each(order_[k], [&](Index feature, double value) {
        sum[feature] += value;
        squares[feature] += value * value;
      });
    const double count = static_cast<double>(end - begin);
    const auto variance = [&](std::size_t j) {
      return squares[j] / count - (sum[j] / count) * (sum[j] / count);
    };
    std::size_t widest = 0;
    for (std::size_t j = 1; j < rows_.columns; ++j)
      if (variance(j) > variance(widest)) widest = j;
    const double mean = sum[widest] / count;
    const auto from = order_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = order_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto middle =
        std::stable_partition(from, to, [&](Index row) { return value_of(row, widest) <= mean; });
    if (middle == from || middle == to) return;  // all rows are equal
    const auto cut = static_cast<std::size_t>(middle - order_.begin());
    split(begin, cut);
    split(cut, end);
  }

 private:
  double value_of(Index row, std::size_t feature) const {
    double found = 0;
    rows_.for_each(row, [&](Index each, double value) {
      if (each == feature) found = value;
    });
    return found;
  }

  const Rows& rows_;
  std::vector<Index>& order_;
};

}  // namespace

double negligible_from(const Form& form) {
  const auto* decay = std::get_if<Decay>(&form.map);
  if (decay == nullptr || form.pairing != Pairing::squared_euclidean)
    return std::numeric_limits<double>::infinity();
  return -std::log(negligible_value) / decay->rate;
}

double nonzero_share(const Form& form, const Rows& rows, const CostModel& costs) {
  const double limit = negligible_from(form);
  constexpr std::size_t usual_sample = 64;
  const std::size_t sample = std::min(usual_sample, rows.count);
  if (std::isinf(limit) || rows.count < costs.engines.least_far_rows || sample < 2 ||
      rows.columns > costs.engines.most_features_of_a_box)
    return 1;
  const std::size_t stride = rows.count / sample;
  double longest = 0;
  for (std::size_t k = 0; k < sample; ++k) {
    double norm = 0;
    rows.for_each(k * stride, [&](Index, double value) { norm += value * value; });
    longest = std::max(longest, norm);
  }
  // No two of them are further from each other than twice the longest is from zero.
  if (4 * longest < limit) return 1;
  std::size_t near = 0;
  std::vector<std::vector<double>> dense(sample, std::vector<double>(rows.columns, 0.0));
  for (std::size_t k = 0; k < sample; ++k)
    rows.for_each(k * stride, [&](Index feature, double value) { dense[k][feature] = value; });
  for (std::size_t i = 0; i < sample; ++i)
    for (std::size_t k = 0; k < i; ++k) {
      double distance = 0;
      for (std::size_t j = 0; j < rows.columns && distance < limit; ++j)
        distance += (dense[i][j] - dense[k][j]) * (dense[i][j] - dense[k][j]);
      near += distance < limit;
    }
  return static_cast<double>(near) / static_cast<double>(sample * (sample - 1) / 2);
}

bool are_mostly_far(const Kernel& kernel, const Rows& rows, const CostModel& costs) {
  const auto* rbf = std::get_if<Rbf>(&kernel);
  return rbf != nullptr && nonzero_share(rbf->form(), rows, costs) <= costs.engines.most_near;
}

std::vector<Index> neighbours_together(const Rows& rows, std::vector<Index> which) {
  Splitter(rows, which).split(0, which.size());
  return which;
}

}  // namespace maxmargin
