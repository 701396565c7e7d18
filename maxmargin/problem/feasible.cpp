#include "maxmargin/problem/feasible.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "maxmargin/linalg/small.hpp"

namespace maxmargin {
namespace {

// A residual A a - d below this share of the sum of the terms' sizes is rounding.
constexpr double relative_rounding = 1e-14;
// The same where Newton's method makes no further progress.
constexpr double rounding_at_the_end = 1e-12;
constexpr int most_newton_steps = 100;
constexpr int most_halvings = 40;

/// Minimises sum_v (a_v - from_v)^2 / (2 room_v) subject to A a = d and the bounds, by Newton's
/// method on its dual: a(nu) = clip(from + room A'nu), and the dual's gradient is A a(nu) - d.
/// Variables without room stay where they are.
class Projection {
 public:
  Projection(const DualQp& qp, std::span<const double> from, std::span<const double> room)
      : qp_(qp), from_(from), room_(room), rows_(qp.A.size()), sum_(rows_), size_(rows_) {
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (room[v] > 0) open_.push_back(static_cast<Index>(v));
    for (std::size_t r = 0; r < rows_; ++r) {
      sum_[r] = -qp.d[r];
      size_[r] = std::abs(qp.d[r]);
      for (std::size_t v = 0; v < qp.size(); ++v) {
        if (room[v] > 0) continue;
        sum_[r] += qp.A[r][v] * from[v];
        size_[r] += std::abs(qp.A[r][v] * from[v]);
      }
    }
  }

  std::optional<std::vector<double>> solve() {
    if (!is_within_reach()) return std::nullopt;
    State now = at(std::vector<double>(rows_, 0.0));
    for (int step = 0; step < most_newton_steps; ++step) {
      if (is_small(now, relative_rounding)) return all_of(now);
      const std::vector<double> direction = newton_direction(now);
      double slope = 0;
      for (std::size_t r = 0; r < rows_; ++r) slope += direction[r] * now.residual[r];
      if (!(slope < 0)) break;
      double length = 1;
      State next = at(moved(now.nu, direction, length));
      // Close to the end changes of the value are rounding, and the residual decides.
      const auto good = [&] {
        return next.value <= now.value + 1e-4 * length * slope ||
               (largest(next) < largest(now) / 2 &&
                next.value - now.value <= 1e-9 * (std::abs(next.value) + std::abs(now.value)));
      };
      for (int k = 0; k < most_halvings && !good(); ++k) {
        length /= 2;
        next = at(moved(now.nu, direction, length));
      }
      if (!(next.value < now.value) && largest(next) >= largest(now)) break;
      now = std::move(next);
    }
    if (is_small(now, rounding_at_the_end)) return all_of(now);
    return std::nullopt;
  }

 private:
  struct State {
    std::vector<double> nu, a, residual, size;  ///< a: of the open variables
    double value = 0;
  };

  std::vector<double> all_of(const State& state) const {
    std::vector<double> a(from_.begin(), from_.end());
    for (std::size_t k = 0; k < open_.size(); ++k) a[open_[k]] = state.a[k];
    return a;
  }

  /// Whether each row by itself can hold for some values of the open variables.
  bool is_within_reach() const {
    for (std::size_t r = 0; r < rows_; ++r) {
      double least = sum_[r], most = sum_[r], size = size_[r];
      for (const Index v : open_) {
        const double weight = qp_.A[r][v];
        if (weight == 0) continue;
        const double x = weight * qp_.block[v].lower, y = weight * qp_.block[v].upper;
        least += std::min(x, y);
        most += std::max(x, y);
        size += std::max(std::abs(x), std::abs(y));
      }
      const double slack = rounding_at_the_end * size;
      if (least > slack || most < -slack) return false;
    }
    return true;
  }

  static std::vector<double> moved(std::vector<double> nu, const std::vector<double>& direction,
                                   double length) {
    for (std::size_t r = 0; r < nu.size(); ++r) nu[r] += length * direction[r];
    return nu;
  }

  double price(const std::vector<double>& nu, std::size_t v) const {
    double sum = 0;
    for (std::size_t r = 0; r < rows_; ++r) sum += nu[r] * qp_.A[r][v];
    return sum;
  }

  State at(std::vector<double> nu) const {
    State state;
    state.a.resize(open_.size());
    state.residual = sum_;
    state.size = size_;
    for (std::size_t r = 0; r < rows_; ++r) state.value += nu[r] * sum_[r];
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const Index v = open_[k];
      const Block& block = qp_.block[v];
      const double shift = price(nu, v);
      const double to = std::clamp(from_[v] + room_[v] * shift, block.lower, block.upper);
      state.a[k] = to;
      state.value += shift * to - (to - from_[v]) * (to - from_[v]) / (2 * room_[v]);
      for (std::size_t r = 0; r < rows_; ++r) {
        const double term = qp_.A[r][v] * to;
        state.residual[r] += term;
        state.size[r] += std::abs(term);
      }
    }
    state.nu = std::move(nu);
    return state;
  }

  bool is_small(const State& state, double share) const {
    for (std::size_t r = 0; r < rows_; ++r)
      if (std::abs(state.residual[r]) > share * state.size[r]) return false;
    return true;
  }
  static double largest(const State& state) {
    double result = 0;
    for (const double value : state.residual) result = std::max(result, std::abs(value));
    return result;
  }

  std::vector<double> newton_direction(const State& state) const {
    SmallMatrix curvature(rows_);
    std::vector<double> entries(rows_), whole(rows_, 0.0);
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const Index v = open_[k];
      for (std::size_t r = 0; r < rows_; ++r) {
        entries[r] = qp_.A[r][v];
        whole[r] += room_[v] * entries[r] * entries[r];
      }
      const Block& block = qp_.block[v];
      if (state.a[k] > block.lower && state.a[k] < block.upper)
        curvature.add_outer(entries, room_[v]);
    }
    // Where too many variables stand at a bound the curvature alone does not say how far to go.
    for (std::size_t r = 0; r < rows_; ++r)
      curvature(r, r) += 1e-12 * curvature(r, r) + 1e-9 * whole[r];
    std::vector<double> downhill = state.residual;
    for (double& value : downhill) value = -value;
    return solve_cholesky(std::move(curvature), std::move(downhill), 1e-14);
  }

  const DualQp& qp_;
  std::span<const double> from_;
  std::span<const double> room_;
  std::size_t rows_;
  std::vector<Index> open_;         // variables with room
  std::vector<double> sum_, size_;  // of the others' terms and -d, by row
};

}  // namespace

double equality_defect(const DualQp& qp, std::span<const double> a) {
  double largest = 0;
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    double sum = -qp.d[r], size = std::abs(qp.d[r]);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      sum += qp.A[r][v] * a[v];
      size += std::abs(qp.A[r][v] * a[v]);
    }
    if (size > 0) largest = std::max(largest, std::abs(sum) / size);
  }
  return largest;
}

std::optional<std::vector<double>> nearest_feasible(const DualQp& qp, std::span<const double> a,
                                                    std::span<const double> slope,
                                                    double steepest) {
  if (equality_defect(qp, a) <= relative_rounding) return std::vector<double>(a.begin(), a.end());
  std::vector<double> room(qp.size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const double within = std::min(a[v] - block.lower, block.upper - a[v]);
    const double width =
        std::abs(slope[v]) <= steepest ? block.upper - block.lower : std::max(0.0, within);
    room[v] = std::isinf(width) ? std::max(1.0, std::abs(a[v])) : width;
  }
  return Projection(qp, a, room).solve();
}

std::optional<std::vector<double>> nearest_feasible(const DualQp& qp, std::span<const double> a) {
  const std::vector<double> steep(qp.size(), 1.0);
  if (auto found = nearest_feasible(qp, a, steep, 0)) return found;
  return nearest_feasible(qp, a, steep, 1);
}

std::optional<std::vector<double>> gently_feasible(const DualQp& qp, std::span<const double> a,
                                                   std::span<const double> slope, double first,
                                                   double last) {
  std::optional<std::vector<double>> found = nearest_feasible(qp, a, slope, 0);
  // A share of tiny slopes may round to 0, and would stay 0 times ten.
  first = std::max(first, std::numeric_limits<double>::min());
  for (double steepest = first; !found && steepest < last; steepest *= 10)
    found = nearest_feasible(qp, a, slope, steepest);
  return found;
}

}  // namespace maxmargin
