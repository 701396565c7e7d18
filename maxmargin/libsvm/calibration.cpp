#include "maxmargin/libsvm/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace maxmargin {

double libsvm_noise(std::span<const double> residuals) {
  const auto mean_below = [&](double limit) {
    double sum = 0;
    std::size_t count = 0;
    for (const double residual : residuals) {
      if (std::abs(residual) > limit) continue;
      sum += std::abs(residual);
      ++count;
    }
    return sum / static_cast<double>(count);
  };
  const double mean = mean_below(HUGE_VAL);
  return mean_below(5 * std::sqrt(2 * mean * mean));
}

double libsvm_density(const DensityMarks& marks, double f) {
  if (f < marks.front()) return 0.001;
  if (f > marks.back()) return 0.999;
  const auto above = std::ranges::upper_bound(marks, f);
  // A value that is just the last mark is above none.
  if (above == marks.end()) return 0;
  return static_cast<double>(above - marks.begin()) / static_cast<double>(marks.size());
}

std::optional<DensityMarks> libsvm_density_marks(std::span<const double> f) {
  constexpr std::size_t half = std::tuple_size_v<DensityMarks> / 2;
  std::vector<double> sorted(f.begin(), f.end());
  std::ranges::sort(sorted);
  const auto negative =
      static_cast<std::size_t>(std::ranges::lower_bound(sorted, 0.0) - sorted.begin());
  const std::size_t others = sorted.size() - negative;
  if (negative < half || others < half) return std::nullopt;
  // Five bins of equal counts on either side of 0; a mark is the middle of a bin.
  std::vector<double> edges;
  for (std::size_t k = 0; k < half; ++k) edges.push_back(sorted[k * negative / half]);
  edges.push_back(0);
  for (std::size_t k = 1; k <= half; ++k) edges.push_back(sorted[negative - 1 + k * others / half]);
  DensityMarks marks;
  for (std::size_t k = 0; k < marks.size(); ++k) marks[k] = (edges[k] + edges[k + 1]) / 2;
  return marks;
}

}  // namespace maxmargin
