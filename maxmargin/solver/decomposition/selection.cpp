#include "maxmargin/solver/decomposition/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace maxmargin {
namespace {

/// An order that is the same everywhere: the higher score, then the lower number.
void sort_best(std::vector<Index>& candidates, std::span<const double> score, std::size_t size) {
  const auto better = [&](Index x, Index y) {
    return score[x] != score[y] ? score[x] > score[y] : x < y;
  };
  if (candidates.size() > size) {
    const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(size);
    std::nth_element(candidates.begin(), middle, candidates.end(), better);
    candidates.resize(size);
  }
  std::sort(candidates.begin(), candidates.end(), better);
}

/// The equality row that a variable stands in, and whether its next step raises that row's sum.
std::size_t kind_of(const DualQp& qp, std::size_t v, double slope) {
  for (std::size_t r = 0; r < qp.A.size(); ++r)
    if (qp.A[r][v] != 0) return 2 * r + ((qp.A[r][v] > 0) == (slope < 0) ? 1 : 0);
  return 2 * qp.A.size();
}

}  // namespace

std::vector<double> scores(const DualQp& qp, std::span<const double> a, std::span<const double> h,
                           SelectionRule rule, double tolerance) {
  constexpr double most = std::numeric_limits<double>::max();
  std::vector<double> score(qp.size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const double slope = h[v] + block.slope(a[v]);
    const bool violates = slope < 0 ? a[v] < block.upper && -slope > tolerance
                                    : a[v] > block.lower && slope > tolerance;
    if (!violates) continue;
    double worth = std::abs(slope);
    if (rule == SelectionRule::kkt_gap)
      worth = block.value(a[v]) + block.conjugate(-h[v]) + h[v] * a[v];
    if (rule == SelectionRule::multiplier) worth = std::abs(block.argmax(-h[v]) - a[v]);
    // Rounding may leave nothing of what is there.
    score[v] = std::clamp(worth, std::numeric_limits<double>::min(), most);
  }
  return score;
}

std::vector<Index> best_scored(const DualQp& qp, std::span<const double> a,
                               std::span<const double> h, std::span<const double> score,
                               std::size_t size, bool balanced) {
  std::vector<std::vector<Index>> kinds(balanced ? 2 * qp.A.size() + 1 : 1);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (score[v] == 0) continue;
    const double slope = h[v] + qp.block[v].slope(a[v]);
    kinds[balanced ? kind_of(qp, v, slope) : 0].push_back(static_cast<Index>(v));
  }
  for (std::vector<Index>& kind : kinds) sort_best(kind, score, size);
  std::vector<Index> chosen;
  for (std::size_t position = 0; chosen.size() < size; ++position) {
    bool any = false;
    for (const std::vector<Index>& kind : kinds)
      if (position < kind.size() && chosen.size() < size) {
        chosen.push_back(kind[position]);
        any = true;
      }
    if (!any) break;
  }
  return chosen;
}

}  // namespace maxmargin
