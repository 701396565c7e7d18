#include "maxmargin/solver/equations/reduced_kkt.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {

Factor::Outcome ReducedKkt::factor(std::vector<Index> variables, std::vector<double> D,
                                   const GoOn& go_on) {
  variables_ = std::move(variables);
  D_ = std::move(D);
  const std::size_t n = variables_.size(), k = qp_.A.size();

  points_.clear();
  for (const Index v : variables_) points_.push_back(qp_.row[v]);
  std::sort(points_.begin(), points_.end());
  points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
  position_.resize(n);
  std::vector<double> softness(points_.size(), 0.0);  // 1 / E
  softest_.assign(points_.size(), static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = std::lower_bound(points_.begin(), points_.end(), qp_.row[variables_[i]]);
    const auto p = static_cast<std::size_t>(at - points_.begin());
    position_[i] = static_cast<Index>(p);
    softness[p] += 1 / D_[i];
    if (softest_[p] == n || D_[i] < D_[softest_[p]]) softest_[p] = static_cast<Index>(i);
  }
  E_.resize(points_.size());
  for (std::size_t p = 0; p < points_.size(); ++p) E_[p] = 1 / softness[p];

  const Factor::Outcome outcome = K_.factor(points_, E_, go_on);
  if (outcome != Factor::Outcome::done) return outcome;

  solved_rows_.resize(k * n);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t i = 0; i < n; ++i) solved_rows_[r * n + i] = qp_.A[r][variables_[i]];
  invert(solved_rows_, k);
  schur_.assign(k * k, 0.0);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t c = 0; c < k; ++c)
      for (std::size_t i = 0; i < n; ++i)
        schur_[r * k + c] += qp_.A[r][variables_[i]] * solved_rows_[c * n + i];
  scale_.assign(k, 0.0);
  for (std::size_t r = 0; r < k; ++r)
    if (schur_[r * k + r] > 0) scale_[r] = 1 / std::sqrt(schur_[r * k + r]);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t c = 0; c <= r; ++c)
      schur_[r * k + c] = schur_[c * k + r] =
          (schur_[r * k + c] + schur_[c * k + r]) / 2 * scale_[r] * scale_[c];
  return outcome;
}

void ReducedKkt::invert(std::vector<double>& r, std::size_t count) const {
  const std::size_t n = variables_.size(), m = points_.size();
  std::vector<double> beta(count * m, 0.0);
  // Weighted by E/D <= 1: the same as E S D^-1 r without numbers that may overflow.
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t i = 0; i < n; ++i)
      beta[c * m + position_[i]] +=
          qp_.block[variables_[i]].sign * r[c * n + i] * (E_[position_[i]] / D_[i]);
  const std::vector<double> right = beta;
  K_.solve(beta.data(), count);
  for (std::size_t c = 0; c < count; ++c) {
    std::vector<double> others(m, 0.0);  // what the stiffer variables of a point have of beta
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t p = position_[i];
      if (softest_[p] == i) continue;
      const double sign = qp_.block[variables_[i]].sign;
      const double product = right[c * m + p] - E_[p] * beta[c * m + p];  // K beta
      double& x = r[c * n + i];
      x = (x - sign * product) / D_[i];
      others[p] += sign * x;
    }
    for (std::size_t p = 0; p < m; ++p) {
      const std::size_t i = softest_[p];
      r[c * n + i] = qp_.block[variables_[i]].sign * (beta[c * m + p] - others[p]);
    }
  }
}

ReducedKkt::Step ReducedKkt::solve(std::span<const double> r, std::span<const double> q) const {
  const std::size_t n = variables_.size(), k = qp_.A.size();
  Step step{{r.begin(), r.end()}, std::vector<double>(k)};
  invert(step.x, 1);
  for (std::size_t e = 0; e < k; ++e) {
    step.y[e] = -q[e];
    for (std::size_t i = 0; i < n; ++i) step.y[e] += qp_.A[e][variables_[i]] * step.x[i];
  }
  for (std::size_t e = 0; e < k; ++e) step.y[e] *= scale_[e];
  solve_small(schur_, step.y);
  for (std::size_t e = 0; e < k; ++e) step.y[e] *= scale_[e];
  for (std::size_t e = 0; e < k; ++e)
    for (std::size_t i = 0; i < n; ++i) step.x[i] -= solved_rows_[e * n + i] * step.y[e];
  return step;
}

}  // namespace maxmargin
