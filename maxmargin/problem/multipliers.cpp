#include "maxmargin/problem/multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/linalg/small.hpp"

namespace maxmargin {
namespace {

constexpr int most_iterations = 80;
constexpr double to_the_boundary = 0.99;
constexpr double relative_accuracy = 1e-13;

double primal_at(const DualQp& qp, std::span<const double> q, const std::vector<double>& lambda) {
  std::vector<double> h(q.begin(), q.end());
  for (std::size_t r = 0; r < lambda.size(); ++r)
    for (std::size_t v = 0; v < h.size(); ++v) h[v] += qp.A[r][v] * lambda[r];
  double sum = 0;
  for (std::size_t r = 0; r < lambda.size(); ++r) sum += lambda[r] * qp.d[r];
  for (std::size_t v = 0; v < h.size(); ++v) sum += qp.block[v].conjugate(-h[v]);
  return sum;
}

/// Mehrotra's predictor-corrector method for
///   min sum_v g_v t_v + c_v t_v^2 / 2   subject to   A t = d,  l <= t <= u
/// with multipliers lambda of the rows, z of the lower and w of the upper bounds:
///   g + c t + A'lambda - z + w = 0.
class SeparableInteriorPoint {
 public:
  SeparableInteriorPoint(const DualQp& qp, std::span<const double> q, std::vector<double> start)
      : qp_(qp), rows_(qp.A.size()), lambda_(std::move(start)), right_side_(qp.d) {
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      if (block.upper > block.lower) {
        id_.push_back(v);
        continue;
      }
      // It cannot move: a constant.
      for (std::size_t r = 0; r < rows_; ++r) right_side_[r] -= qp.A[r][v] * block.lower;
    }
    const std::size_t n = id_.size();
    for (auto* values : {&g_, &t_, &below_, &above_, &z_, &w_, &inverse_, &target_, &step_,
                         &correct_low_, &correct_high_})
      values->assign(n, 0.0);
    entries_.assign(n * rows_, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const Block& block = block_of(i);
      g_[i] = q[id_[i]] + block.linear;
      for (std::size_t r = 0; r < rows_; ++r) entries_[i * rows_ + r] = qp.A[r][id_[i]];
    }
    set_start();
  }

  std::vector<double> solve() {
    for (int iteration = 0; iteration < most_iterations && !id_.empty(); ++iteration) {
      const double gap = complementarity();
      measure_residuals();
      if (!std::isfinite(gap) || (gap <= relative_accuracy * scale_ && residuals_are_small()))
        break;
      factorise();
      std::fill(correct_low_.begin(), correct_low_.end(), 0.0);
      std::fill(correct_high_.begin(), correct_high_.end(), 0.0);
      find_step(0);
      const double reach = longest_step();
      const double predicted = complementarity_after(reach);
      for (std::size_t i = 0; i < id_.size(); ++i) {
        correct_low_[i] = step_[i] * low_step(i, 0);
        correct_high_[i] = -step_[i] * high_step(i, 0);
      }
      const double share = gap > 0 ? std::pow(std::max(0.0, predicted) / gap, 3) : 0;
      const double centre = gap > 0 ? share * gap / static_cast<double>(bounds_) : 0;
      find_step(centre);
      const double length = std::min(1.0, to_the_boundary * longest_step_to(centre));
      if (!(length > 1e-10)) break;
      advance(length, centre);
    }
    return lambda_;
  }

 private:
  const Block& block_of(std::size_t i) const { return qp_.block[id_[i]]; }
  std::span<const double> row_of(std::size_t i) const { return {&entries_[i * rows_], rows_}; }

  void set_start() {
    double spread = 0;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      const Block& block = block_of(i);
      const bool low = std::isfinite(block.lower), high = std::isfinite(block.upper);
      if (low && high)
        t_[i] = block.lower + (block.upper - block.lower) / 2;
      else if (low || high)
        t_[i] = low ? block.lower + 1 : block.upper - 1;
      below_[i] = t_[i] - block.lower;
      above_[i] = block.upper - t_[i];
      bounds_ += static_cast<std::size_t>(low) + static_cast<std::size_t>(high);
      double slope = g_[i] + block.curvature * t_[i];
      for (std::size_t r = 0; r < rows_; ++r) slope += row_of(i)[r] * lambda_[r];
      target_[i] = slope;
      spread += std::abs(slope);
      scale_ += std::abs(g_[i] * t_[i]) + block.curvature * t_[i] * t_[i];
    }
    const double usual =
        std::max(1e-8, spread / static_cast<double>(std::max<std::size_t>(1, id_.size())));
    usual_slope_ = usual;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      const Block& block = block_of(i);
      if (std::isfinite(block.lower)) z_[i] = usual + std::max(0.0, target_[i]);
      if (std::isfinite(block.upper)) w_[i] = usual + std::max(0.0, -target_[i]);
    }
    scale_ = std::max(scale_, 1e-300);
  }

  double complementarity() const {
    double sum = 0;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      if (z_[i] > 0) sum += z_[i] * below_[i];
      if (w_[i] > 0) sum += w_[i] * above_[i];
    }
    return sum;
  }

  /// inverse_ holds 1 / (c + z/(t-l) + w/(u-t)), matrix_ the rows' A inverse A'.
  void factorise() {
    matrix_ = SmallMatrix(rows_);
    for (std::size_t i = 0; i < id_.size(); ++i) {
      double curvature = block_of(i).curvature;
      if (z_[i] > 0) curvature += z_[i] / below_[i];
      if (w_[i] > 0) curvature += w_[i] / above_[i];
      inverse_[i] = 1 / curvature;
      matrix_.add_outer(row_of(i), inverse_[i]);
    }
  }

  void measure_residuals() {
    row_residual_ = right_side_;
    for (double& value : row_residual_) value = -value;
    slope_residual_.resize(id_.size());
    for (std::size_t i = 0; i < id_.size(); ++i) {
      double slope = g_[i] + block_of(i).curvature * t_[i] - z_[i] + w_[i];
      for (std::size_t r = 0; r < rows_; ++r) {
        slope += row_of(i)[r] * lambda_[r];
        row_residual_[r] += row_of(i)[r] * t_[i];
      }
      slope_residual_[i] = slope;
    }
  }

  bool residuals_are_small() const {
    double sizes = 0;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      const double usual = std::abs(g_[i]) + block_of(i).curvature * std::abs(t_[i]);
      if (std::abs(slope_residual_[i]) > 1e-10 * (usual + usual_slope_)) return false;
      sizes += std::abs(t_[i]);
    }
    for (std::size_t r = 0; r < rows_; ++r)
      if (std::abs(row_residual_[r]) > 1e-10 * (sizes + std::abs(right_side_[r]))) return false;
    return true;
  }

  void find_step(double centre) {
    std::vector<double> right = row_residual_;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      double wanted = -slope_residual_[i];
      if (z_[i] > 0) wanted += (centre - correct_low_[i]) / below_[i] - z_[i];
      if (w_[i] > 0) wanted -= (centre - correct_high_[i]) / above_[i] - w_[i];
      target_[i] = wanted;
      for (std::size_t r = 0; r < rows_; ++r) right[r] += row_of(i)[r] * inverse_[i] * wanted;
    }
    lambda_step_ = solve_cholesky(matrix_, std::move(right), 1e-14);
    for (std::size_t i = 0; i < id_.size(); ++i) {
      double right_side = target_[i];
      for (std::size_t r = 0; r < rows_; ++r) right_side -= row_of(i)[r] * lambda_step_[r];
      step_[i] = inverse_[i] * right_side;
    }
  }

  double low_step(std::size_t i, double centre) const {
    if (z_[i] == 0) return 0;
    return (centre - correct_low_[i] - z_[i] * step_[i]) / below_[i] - z_[i];
  }
  double high_step(std::size_t i, double centre) const {
    if (w_[i] == 0) return 0;
    return (centre - correct_high_[i] + w_[i] * step_[i]) / above_[i] - w_[i];
  }

  double longest_step_to(double centre) const {
    double longest = infinity;
    const auto limit = [&](double value, double change) {
      if (change < 0) longest = std::min(longest, -value / change);
    };
    for (std::size_t i = 0; i < id_.size(); ++i) {
      if (z_[i] > 0) {
        limit(below_[i], step_[i]);
        limit(z_[i], low_step(i, centre));
      }
      if (w_[i] > 0) {
        limit(above_[i], -step_[i]);
        limit(w_[i], high_step(i, centre));
      }
    }
    return longest;
  }
  double longest_step() const { return std::min(1.0, longest_step_to(0)); }

  double complementarity_after(double length) const {
    double sum = 0;
    for (std::size_t i = 0; i < id_.size(); ++i) {
      if (z_[i] > 0) sum += (z_[i] + length * low_step(i, 0)) * (below_[i] + length * step_[i]);
      if (w_[i] > 0) sum += (w_[i] + length * high_step(i, 0)) * (above_[i] - length * step_[i]);
    }
    return sum;
  }

  void advance(double length, double centre) {
    for (std::size_t i = 0; i < id_.size(); ++i) {
      const double low = low_step(i, centre), high = high_step(i, centre);
      if (z_[i] > 0) z_[i] += length * low;
      if (w_[i] > 0) w_[i] += length * high;
      t_[i] += length * step_[i];
      // Stored beside t: close to a bound t - l would cancel.
      below_[i] += length * step_[i];
      above_[i] -= length * step_[i];
    }
    for (std::size_t r = 0; r < rows_; ++r) lambda_[r] += length * lambda_step_[r];
  }

  const DualQp& qp_;
  std::size_t rows_;
  std::vector<double> lambda_, right_side_;
  std::vector<std::size_t> id_;  // the variables that can move
  std::vector<double> entries_;  // of A, rows_ numbers a variable
  std::vector<double> g_, t_, below_, above_, z_, w_;
  std::vector<double> inverse_, target_, step_, correct_low_, correct_high_;
  std::vector<double> row_residual_, slope_residual_, lambda_step_;
  SmallMatrix matrix_{0};
  std::size_t bounds_ = 0;
  double scale_ = 0, usual_slope_ = 0;
};

}  // namespace

std::vector<double> best_multipliers(const DualQp& qp, std::span<const double> q,
                                     std::vector<double> start) {
  const auto smooth = [](const Block& block) { return block.entropy != Entropy::none; };
  if (std::any_of(qp.block.begin(), qp.block.end(), smooth)) return start;
  std::vector<double> found = SeparableInteriorPoint(qp, q, start).solve();
  if (!std::all_of(found.begin(), found.end(), [](double x) { return std::isfinite(x); }))
    return start;
  return primal_at(qp, q, found) <= primal_at(qp, q, start) ? found : start;
}

std::vector<double> widest_multipliers(const DualQp& qp, std::span<const double> q,
                                       std::vector<double> start) {
  // min q't subject to A t = 0, -p't = 1, t >= 0; the multiplier of the second row is minus the
  // smallest margin. No t can exceed 1 / -p, so that the bounds below are none.
  DualQp margins;
  margins.A = qp.A;
  margins.d.assign(qp.A.size(), 0.0);
  auto& row = margins.A.emplace_back();
  double least = infinity;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const bool counts = block.is_hard() && block.linear < 0;
    double h = q[v];
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * start[r];
    if (counts) least = std::min(least, -h / block.linear);
    margins.block.push_back({block.sign, 0, 0, counts ? -2 / block.linear : 0, 0});
    row.push_back(counts ? -block.linear : 0);
  }
  margins.d.push_back(1);
  if (std::isinf(least)) return start;
  start.push_back(-least);
  start = best_multipliers(margins, q, std::move(start));
  start.pop_back();
  return start;
}

}  // namespace maxmargin
