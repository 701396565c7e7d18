#include "maxmargin/solver/smo/set_values.hpp"

#include <algorithm>

namespace maxmargin {
namespace {

// Picking values out of many long rows takes about as long as computing simple ones.
constexpr double gathering_cost = 3;  // nanoseconds
constexpr std::size_t rows_per_task = 64;

}  // namespace

const SetKernel& SetValues::fill(const Active& active, const CoupledRows& coupling,
                                 std::span<const Index> set, const RowCache& cache,
                                 const Threads& threads) {
  std::vector<Index> points;  // in increasing order, without repetition
  for (const Index v : set) points.push_back(active.point[v]);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  over_variables_.resize(set.size());
  // Without shared points the variables of one row stand in the order of their points.
  if (points.size() == set.size() && active.rows() == 1) {
    gather(active, points, over_variables_, cache, threads);
  } else {
    over_points_.resize(points.size());
    gather(active, points, over_points_, cache, threads);
    spread(active, set, points, threads);
  }
  if (!coupling.empty()) add(coupling, active, set, threads);
  return over_variables_;
}

void SetValues::gather(const Active& active, std::span<const Index> points, SetKernel& values,
                       const RowCache& cache, const Threads& threads) {
  const bool cheap = active.K->value_cost() < gathering_cost;
  std::vector<Index> missing;
  std::vector<float*> out;
  std::vector<char> computed(points.size(), false);
  for (std::size_t p = 0; p < points.size(); ++p)
    if (cheap || !cache.holds(points[p])) {
      missing.push_back(static_cast<Index>(p));
      out.push_back(values.row(p));
      computed[p] = true;
    }
  if (!missing.empty()) active.K->among(points, missing, out, threads);
  threads.split(points.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p)
      if (!computed[p]) cache.pick(points[p], points, values.row(p));
  });
}

void SetValues::spread(const Active& active, std::span<const Index> set,
                       std::span<const Index> points, const Threads& threads) {
  std::vector<std::size_t> number(set.size());
  for (std::size_t k = 0; k < set.size(); ++k)
    number[k] = static_cast<std::size_t>(
        std::lower_bound(points.begin(), points.end(), active.point[set[k]]) - points.begin());
  threads.split(set.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const float* from = over_points_.row(number[k]);
      float* to = over_variables_.row(k);
      for (std::size_t i = 0; i < set.size(); ++i) to[i] = from[number[i]];
    }
  });
}

void SetValues::add(const CoupledRows& coupling, const Active& active, std::span<const Index> set,
                    const Threads& threads) {
  threads.split(set.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t i = 0; i < set.size(); ++i)
        over_variables_.row(k)[i] +=
            static_cast<float>(coupling.kernel(active.id[set[k]], active.id[set[i]]));
  });
}

}  // namespace maxmargin
