#include "maxmargin/kernel/engine/panel/used_features.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "maxmargin/kernel/engine/dense_values.hpp"

namespace maxmargin {
namespace {

using Flags = std::vector<std::atomic<bool>>;

/// Marks the features that some rows use. In those that have most features, without gaps, only
/// features are looked up that have not been seen yet.
void mark_used(const Rows& rows, std::size_t begin, std::size_t end, Flags& occurs) {
  const auto is_marked = [&](std::size_t j) { return occurs[j].load(std::memory_order_relaxed); };
  std::optional<std::vector<Index>> unseen;
  for (std::size_t i = begin; i < end; ++i) {
    bool is_done = false;
    const auto look_up = [&](std::size_t first, const auto* values, std::size_t count) {
      is_done = rows.columns <= 2 * count;
      if (!is_done) return;
      if (!unseen) {
        unseen.emplace();
        for (std::size_t j = 0; j < rows.columns; ++j)
          if (!is_marked(j)) unseen->push_back(static_cast<Index>(j));
      }
      std::erase_if(*unseen, [&](Index j) {
        if (j < first || j - first >= count || values[j - first] == 0) return false;
        occurs[j].store(true, std::memory_order_relaxed);
        return true;
      });
    };
    if (visit_without_gaps(rows, i, look_up) && is_done) continue;
    rows.for_each(i, [&](Index feature, double value) {
      // Read before writing, which would take the cache line away from the other threads.
      if (value != 0 && !is_marked(feature)) occurs[feature].store(true, std::memory_order_relaxed);
    });
  }
}

}  // namespace

UsedFeatures used_features(const Rows& rows, const Threads& threads) {
  Flags occurs(rows.columns);
  threads.split(rows.count, rows_a_look,
                [&](std::size_t begin, std::size_t end) { mark_used(rows, begin, end, occurs); });
  UsedFeatures used;
  used.number.assign(rows.columns, UsedFeatures::unused);
  for (std::size_t j = 0; j < rows.columns; ++j)
    if (occurs[j]) used.number[j] = static_cast<std::uint32_t>(used.count++);
  return used;
}

namespace {

/// Statistics of the values of a feature.
struct Seen {
  double sum = 0, low = 0, high = 0;
  std::size_t count = 0;

  void add(double value) {
    sum += value;
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    ++count;
  }
  void add(const Seen& others) {
    if (others.count == 0) return;
    sum += others.sum;
    low = count == 0 ? others.low : std::min(low, others.low);
    high = count == 0 ? others.high : std::max(high, others.high);
    count += others.count;
  }
};

std::vector<Seen> seen_values(const Summation& summation, const Rows& rows,
                              const Threads& threads) {
  std::vector<std::vector<Seen>> parts((rows.count + rows_a_look - 1) / rows_a_look);
  threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
    std::vector<Seen> part(rows.columns);
    for (std::size_t i = begin; i < end; ++i)
      rows.for_each(i, [&](Index feature, double raw) { part[feature].add(summation.value(raw)); });
    parts[begin / rows_a_look] = std::move(part);
  });
  std::vector<Seen> seen(rows.columns);
  for (const std::vector<Seen>& part : parts)
    for (std::size_t j = 0; j < rows.columns; ++j) seen[j].add(part[j]);
  return seen;
}

/// Of the sums of squares of rows after centering.
struct Norms {
  double largest = 0, sum = 0;
};

Norms centered_norms(const Summation& summation, const Rows& rows,
                     const std::vector<double>& centers, const Threads& threads) {
  double origin = 0;  // of a row without non-zeros
  for (const double center : centers) origin += center * center;
  std::vector<Norms> parts((rows.count + rows_a_look - 1) / rows_a_look);
  threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
    Norms part;
    for (std::size_t i = begin; i < end; ++i) {
      double norm = origin;
      rows.for_each(i, [&](Index feature, double raw) {
        const double value = summation.value(raw);
        norm += value * (value - 2 * centers[feature]);
      });
      part.largest = std::max(part.largest, norm);
      part.sum += norm;
    }
    parts[begin / rows_a_look] = part;
  });
  Norms all;
  for (const Norms& part : parts) {
    all.largest = std::max(all.largest, part.largest);
    all.sum += part.sum;
  }
  return all;
}

}  // namespace

CenteredFeatures centered_features(const Summation& summation, const Rows& rows,
                                   const Threads& threads) {
  std::vector<Seen> seen = seen_values(summation, rows, threads);
  CenteredFeatures result;
  UsedFeatures& used = result.used;
  used.number.assign(rows.columns, UsedFeatures::unused);
  std::vector<double> means(rows.columns), middles(rows.columns);
  for (std::size_t j = 0; j < rows.columns; ++j) {
    Seen& each = seen[j];
    if (each.count < rows.count) {  // absent values are zeros
      each.low = std::min(each.low, 0.0);
      each.high = std::max(each.high, 0.0);
    }
    const bool constant = each.low == each.high;
    means[j] = constant ? each.low : each.sum / static_cast<double>(rows.count);
    middles[j] = constant ? each.low : (each.low + each.high) / 2;
    if (!constant) used.number[j] = static_cast<std::uint32_t>(used.count++);
  }
  const Norms about_means = centered_norms(summation, rows, means, threads);
  const Norms about_middles = centered_norms(summation, rows, middles, threads);
  result.norm = std::min(about_means.largest, about_middles.largest);
  used.center = about_means.largest <= about_middles.largest ? means : std::move(middles);
  result.means = std::move(means);
  result.norm_about_means = about_means.largest;
  result.mean_norm = about_means.sum / static_cast<double>(rows.count);
  return result;
}

}  // namespace maxmargin
