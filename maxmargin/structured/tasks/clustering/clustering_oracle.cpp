#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "maxmargin/structured/tasks/clustering/clustering.hpp"

namespace maxmargin {
namespace {

/// Items go to the cluster, or to one of their own, where they gain most, until none moves.
void move_items(std::span<const double> gain, Structure& y) {
  const std::size_t n = y.size();
  // Each move gains, so it ends; rounding could make two moves take turns.
  for (std::size_t sweep = 0; sweep < 10 * n; ++sweep) {
    bool moved = false;
    for (std::size_t a = 0; a < n; ++a) {
      std::vector<double> with(n + 1, 0.0);
      std::vector<char> used(n + 1, 0);
      for (std::size_t b = 0; b < n; ++b)
        if (b != a) {
          with[static_cast<std::size_t>(y[b])] += gain[a * n + b];
          used[static_cast<std::size_t>(y[b])] = 1;
        }
      const std::size_t own = static_cast<std::size_t>(y[a]);
      std::size_t best = own;
      for (std::size_t c = 0; c <= n; ++c)
        if (with[c] > with[best]) best = c;
      if (with[best] < 0 || (with[best] == 0 && best != own)) best = own;
      if (with[own] < 0 && with[best] <= 0)
        best = static_cast<std::size_t>(std::ranges::find(used, 0) - used.begin());
      if (best == own) continue;
      y[a] = static_cast<std::int32_t>(best);
      moved = true;
    }
    if (!moved) return;
    y = numbered_by_occurrence(y);
  }
}

}  // namespace

Structure numbered_by_occurrence(StructureView y) {
  std::map<std::int32_t, std::int32_t> number;
  Structure numbered;
  for (const std::int32_t each : y)
    numbered.push_back(
        number.emplace(each, static_cast<std::int32_t>(number.size())).first->second);
  return numbered;
}

Structure ClusteringOracle::truth(std::size_t i) const {
  const auto first = data_.cluster.begin() + static_cast<std::ptrdiff_t>(data_.items.start[i]);
  return {first, first + static_cast<std::ptrdiff_t>(data_.count(i))};
}

double ClusteringOracle::pairs(std::size_t i) const {
  const double n = static_cast<double>(data_.count(i));
  return std::max(1.0, n * (n - 1) / 2);
}

std::vector<double> ClusteringOracle::distances(std::size_t a, std::size_t b) const {
  std::vector<double> distance(rows_.columns, 0.0);
  rows_.for_each(a, [&](Index j, double value) { distance[j] = value; });
  rows_.for_each(b, [&](Index j, double value) { distance[j] -= value; });
  for (double& each : distance) each = std::abs(each);
  return distance;
}

double ClusteringOracle::loss(std::size_t i, StructureView y) const {
  const Structure right = truth(i);
  double wrong = 0;
  for (std::size_t a = 0; a < y.size(); ++a)
    for (std::size_t b = a + 1; b < y.size(); ++b)
      wrong += (y[a] == y[b]) != (right[a] == right[b]) ? 1 : 0;
  return wrong / pairs(i);
}

void ClusteringOracle::features(std::size_t i, StructureView y, double scale,
                                JointFeatures& out) const {
  std::vector<double> sum(dimensions(), 0.0);
  const std::size_t first = data_.items.start[i];
  for (std::size_t a = 0; a < y.size(); ++a)
    for (std::size_t b = a + 1; b < y.size(); ++b) {
      if (y[a] != y[b]) continue;
      ++sum[0];
      const std::vector<double> distance = distances(first + a, first + b);
      for (std::size_t j = 0; j < distance.size(); ++j) sum[j + 1] += distance[j];
    }
  for (std::size_t j = 0; j < sum.size(); ++j)
    if (sum[j] != 0) out.add(j, scale * sum[j] / pairs(i));
}

bool ClusteringOracle::is_structure(std::size_t i, StructureView y) const {
  return y.size() == data_.count(i) && std::ranges::equal(numbered_by_occurrence(y), y);
}

std::vector<double> ClusteringOracle::gains(std::size_t i, std::span<const double> w,
                                            Ask ask) const {
  const std::size_t n = data_.count(i), first = data_.items.start[i];
  const Structure right = truth(i);
  std::vector<double> gain(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      double sum = w[0];
      const std::vector<double> distance = distances(first + a, first + b);
      for (std::size_t j = 0; j < distance.size(); ++j) sum += w[j + 1] * distance[j];
      if (ask == Ask::margin) sum += right[a] == right[b] ? -1 : 1;
      gain[a * n + b] = gain[b * n + a] = sum / pairs(i);
    }
  return gain;
}

Structure ClusteringOracle::most_violated(std::size_t i, std::span<const double> w, Ask ask) const {
  const std::size_t n = data_.count(i);
  const std::vector<double> gain = gains(i, w, ask);
  Structure y(n);
  std::iota(y.begin(), y.end(), 0);
  std::vector<double> between = gain;  // of two clusters, by the first item of each
  std::vector<std::size_t> heads(n);
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  while (true) {
    double most = 0;
    std::size_t keep = 0, drop = 0;
    for (const std::size_t a : heads)
      for (const std::size_t b : heads)
        if (a < b && between[a * n + b] > most) {
          most = between[a * n + b];
          keep = a;
          drop = b;
        }
    if (keep == drop) break;
    for (std::int32_t& each : y)
      if (each == static_cast<std::int32_t>(drop)) each = static_cast<std::int32_t>(keep);
    std::erase(heads, drop);
    for (const std::size_t c : heads) {
      between[keep * n + c] += between[drop * n + c];
      between[c * n + keep] = between[keep * n + c];
    }
  }
  y = numbered_by_occurrence(y);
  move_items(gain, y);
  return y;
}

/// Exact only where it looks at everything.
Exactness ClusteringWitness::exactness() const {
  for (std::size_t i = 0; i < examples(); ++i)
    if (oracle_.data().count(i) > few) return Exactness::heuristic;
  return Exactness::exact;
}

Structure ClusteringWitness::most_violated(std::size_t i, std::span<const double> w,
                                           Ask ask) const {
  if (oracle_.data().count(i) <= few) return EnumerationOracle::most_violated(i, w, ask);
  Structure y(oracle_.data().count(i), 0);
  move_items(oracle_.gains(i, w, ask), y);
  return y;
}

/// A clustering numbered by first occurrence is one where no number is more than one above those
/// before it; the last item counts fastest.
bool ClusteringWitness::next(std::size_t i, Structure& y) const {
  if (y.empty()) {
    y.assign(oracle_.data().count(i), 0);
    return true;
  }
  for (std::size_t k = y.size(); k-- > 1;) {
    const std::int32_t largest =
        *std::max_element(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(k));
    if (y[k] <= largest) {
      ++y[k];
      return true;
    }
    y[k] = 0;
  }
  return false;
}

}  // namespace maxmargin
