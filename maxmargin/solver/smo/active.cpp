#include "maxmargin/solver/smo/active.hpp"

#include <algorithm>
#include <numeric>

namespace maxmargin {

Active::Active(const DualQp& qp, std::span<const double> a)
    : K(qp.K), point_id(qp.K->size()), id(qp.size()), point(qp.row), f(qp.K->size(), 0.0) {
  std::iota(point_id.begin(), point_id.end(), Index{0});
  std::iota(id.begin(), id.end(), Index{0});
  for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) values->resize(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    beta[v] = block.sign * a[v];
    lower[v] = block.sign > 0 ? block.lower : -block.upper;
    upper[v] = block.sign > 0 ? block.upper : -block.lower;
    linear[v] = block.sign * block.linear;
    curvature[v] = block.curvature;
  }
}

Active::Levels Active::levels() const {
  Levels levels{-infinity, infinity};
  for (std::size_t v = 0; v < size(); ++v) {
    const double here = level(v);
    if (can_grow(v)) levels.highest = std::max(levels.highest, here);
    if (can_fall(v)) levels.lowest = std::min(levels.lowest, here);
  }
  return levels;
}

std::vector<Index> Active::violators(std::size_t count, const Levels& levels,
                                     const std::vector<bool>& taken) const {
  struct Candidate {
    double level;
    Index v;
  };
  std::vector<Candidate> growing, falling;
  for (std::size_t v = 0; v < size(); ++v) {
    if (taken[v]) continue;
    const double here = level(v);
    if (here > levels.lowest && can_grow(v)) growing.push_back({here, static_cast<Index>(v)});
    if (here < levels.highest && can_fall(v)) falling.push_back({-here, static_cast<Index>(v)});
  }
  const auto worse = [](const Candidate& x, const Candidate& y) {
    return x.level != y.level ? x.level > y.level : x.v < y.v;
  };
  const auto keep_worst = [&](std::vector<Candidate>& side, std::size_t most) {
    if (side.size() <= most) return;
    std::nth_element(side.begin(), side.begin() + static_cast<std::ptrdiff_t>(most), side.end(),
                     worse);
    side.resize(most);
  };
  const std::size_t half = count / 2;
  const std::size_t spare = falling.size() < half ? half - falling.size() : 0;
  keep_worst(growing, half + spare);
  keep_worst(falling, count - std::min(count, growing.size()));
  std::sort(growing.begin(), growing.end(), worse);
  std::sort(falling.begin(), falling.end(), worse);

  std::vector<Index> chosen;
  std::vector<bool> seen(size(), false);
  for (std::size_t k = 0; k < std::max(growing.size(), falling.size()); ++k)
    for (const auto* side : {&growing, &falling}) {
      if (k >= side->size() || seen[(*side)[k].v]) continue;
      seen[(*side)[k].v] = true;  // a free variable may stand on both sides
      chosen.push_back((*side)[k].v);
    }
  return chosen;
}

std::vector<bool> Active::settled(const Levels& levels, double margin) const {
  std::vector<bool> marked(size());
  for (std::size_t v = 0; v < size(); ++v) {
    const double here = level(v);
    marked[v] = (!can_grow(v) && here > levels.highest + margin) ||
                (!can_fall(v) && here < levels.lowest - margin);
  }
  return marked;
}

std::vector<Index> Active::leave_out(const std::vector<bool>& marked) {
  std::vector<bool> needed(point_id.size(), false);
  for (std::size_t v = 0; v < size(); ++v)
    if (!marked[v]) needed[point[v]] = true;
  std::vector<Index> remaining, new_number(point_id.size());
  for (std::size_t p = 0; p < point_id.size(); ++p)
    if (needed[p]) {
      new_number[p] = static_cast<Index>(remaining.size());
      remaining.push_back(static_cast<Index>(p));
    }
  std::size_t to = 0;
  for (std::size_t v = 0; v < size(); ++v) {
    if (marked[v]) continue;
    id[to] = id[v];
    point[to] = new_number[point[v]];
    for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) (*values)[to] = (*values)[v];
    ++to;
  }
  id.resize(to);
  point.resize(to);
  for (auto* values : {&beta, &lower, &upper, &linear, &curvature}) values->resize(to);
  for (std::size_t p = 0; p < remaining.size(); ++p) {
    f[p] = f[remaining[p]];
    point_id[p] = point_id[remaining[p]];
  }
  f.resize(remaining.size());
  point_id.resize(remaining.size());
  K = K->restrict_to(remaining);
  return remaining;
}

}  // namespace maxmargin
