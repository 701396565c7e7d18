#include "maxmargin/model/probability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace maxmargin {
namespace {

// The least lead of the predicted class over the others.
constexpr double least_lead = 2e-6;
// Steps between marks, at most: a p-value of 0.001 has a mark of its own.
constexpr std::size_t most_steps = 1000;

/// The quantile at t in [0, 1], between the two marks next to it.
double at(std::span<const double> marks, double t) {
  const double position = std::clamp(t, 0.0, 1.0) * static_cast<double>(marks.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(position), marks.size() - 1);
  const std::size_t above = std::min(below + 1, marks.size() - 1);
  return marks[below] + (position - static_cast<double>(below)) * (marks[above] - marks[below]);
}

}  // namespace

double PlattSigmoid::operator()(double f) const {
  const double z = slope * f + offset;
  // The smaller of the two probabilities is computed without cancellation.
  if (z >= 0) return std::exp(-z) / (1 + std::exp(-z));
  return 1 / (1 + std::exp(z));
}

std::vector<double> couple(std::span<const double> pairwise, std::size_t classes,
                           const Coupling& coupling) {
  const std::size_t k = classes;
  std::vector<double> p(k, k == 0 ? 0 : 1 / static_cast<double>(k));
  std::vector<double> Q(k * k, 0.0), Qp(k);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      if (i == j) continue;
      Q[i * k + i] += pairwise[j * k + i] * pairwise[j * k + i];
      Q[i * k + j] = -pairwise[j * k + i] * pairwise[i * k + j];
    }
  const double enough = coupling.tolerance / static_cast<double>(k);
  const std::size_t rounds = std::max(static_cast<std::size_t>(coupling.rounds), k);
  for (std::size_t round = 0; k > 1 && round < rounds; ++round) {
    double pQp = 0;
    for (std::size_t i = 0; i < k; ++i) {
      Qp[i] = std::inner_product(p.begin(), p.end(), &Q[i * k], 0.0);
      pQp += p[i] * Qp[i];
    }
    double error = 0;
    for (const double each : Qp) error = std::max(error, std::abs(each - pQp));
    if (error < enough) break;
    // Coordinate descent: each probability takes its best value, and all are scaled to the sum 1.
    for (std::size_t i = 0; i < k; ++i) {
      const double step = (pQp - Qp[i]) / Q[i * k + i];
      const double scale = 1 + step;
      pQp = (pQp + step * (step * Q[i * k + i] + 2 * Qp[i])) / scale / scale;
      p[i] += step;
      for (std::size_t j = 0; j < k; ++j) {
        Qp[j] = (Qp[j] + step * Q[i * k + j]) / scale;
        p[j] /= scale;
      }
    }
  }
  return p;
}

void make_largest(std::size_t label, std::span<double> probabilities) {
  std::vector<std::size_t> others;
  for (std::size_t c = 0; c < probabilities.size(); ++c)
    if (c != label) others.push_back(c);
  std::ranges::sort(others, [&](std::size_t x, std::size_t y) {
    return probabilities[x] > probabilities[y] || (probabilities[x] == probabilities[y] && x < y);
  });
  // The label, less its lead, and every class above it share one level: their mean.
  double sum = probabilities[label] - least_lead;
  std::size_t pooled = 0;
  const auto level = [&] { return sum / static_cast<double>(pooled + 1); };
  while (pooled < others.size() && probabilities[others[pooled]] > level())
    sum += probabilities[others[pooled++]];
  if (pooled == 0) return;
  for (std::size_t k = 0; k < pooled; ++k) probabilities[others[k]] = level();
  probabilities[label] = level() + least_lead;
}

double Calibration::p_value(double f) const {
  if (marks.empty()) return 1;
  const auto above = std::ranges::upper_bound(marks, f);
  if (above == marks.begin()) return 1 / (weight + 1);
  if (above == marks.end()) return 1;
  const double below = *std::prev(above);
  const double position =
      static_cast<double>(above - marks.begin() - 1) + (f - below) / (*above - below);
  const double share = position / static_cast<double>(marks.size() - 1);
  return std::min(1.0, (2 + share * std::max(0.0, weight - 1)) / (weight + 1));
}

Calibration::Interval Calibration::interval(double level) const {
  const double outside = (1 - level) / 2;
  if (marks.empty()) {
    const double reach = noise * -std::log(2 * outside);
    return {-reach, reach};
  }
  // With n rows, a new one comes before the r-th of them with probability r / (n + 1).
  const double steps = std::max(1.0, weight - 1);
  const auto quantile = [&](double share) { return at(marks, ((weight + 1) * share - 1) / steps); };
  return {quantile(outside), quantile(1 - outside)};
}

std::vector<double> quantile_marks(std::span<const double> values,
                                   std::span<const double> weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0;
  for (const std::size_t i : order) total += weight(i);

  std::vector<double> marks;
  if (values.empty()) return marks;
  const std::size_t steps = std::clamp<std::size_t>(values.size() - 1, 1, most_steps);
  std::size_t k = 0;
  double reached = weight(order[0]);
  for (std::size_t step = 0; step <= steps; ++step) {
    const double target = total * (static_cast<double>(step) / static_cast<double>(steps));
    while (reached < target && k + 1 < order.size()) reached += weight(order[++k]);
    marks.push_back(values[order[k]]);
  }
  return marks;
}

}  // namespace maxmargin
