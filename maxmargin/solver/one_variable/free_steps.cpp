#include "maxmargin/solver/one_variable/free_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/sub_problem.hpp"
#include "maxmargin/solver/equations/free_variables.hpp"

namespace maxmargin {
namespace {

// Added to the diagonal, relative to its largest entry: the rounding of float kernel values may
// take that much from it, and variables that share a point have no more.
constexpr double ridge = 2e-7;

/// Q between the free variables, but for the curvatures; several of them may share a point.
std::vector<float> matrix_among(const DualQp& qp, std::span<const Index> free,
                                const Threads& threads) {
  const std::size_t size = free.size();
  const std::vector<Index> points = points_of(qp.row, free);
  const std::vector<Index> position = positions_of(qp.row, free, points);
  const std::size_t width = points.size();
  std::vector<float> between(width * width);
  std::vector<float*> out(width);
  std::vector<Index> all(width);
  std::iota(all.begin(), all.end(), Index{0});
  for (std::size_t p = 0; p < width; ++p) out[p] = between.data() + p * width;
  qp.K->among(points, all, out, threads);
  std::vector<float> Q(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      Q[i * size + j] = static_cast<float>(qp.block[free[i]].sign * qp.block[free[j]].sign) *
                        between[position[i] * width + position[j]];
  return Q;
}

FreeVariables::List listed(const DualQp& qp, std::span<const Index> free, FreePoint start,
                           const Threads& threads) {
  FreeVariables::List list;
  list.reserve(free.size());
  for (std::size_t k = 0; k < free.size(); ++k) {
    const Block& block = qp.block[free[k]];
    list.add(start.a[k], block.lower, block.upper);
    list.curvature.push_back(block.curvature);
    list.descent.push_back(-start.slope[k]);
  }
  list.M = matrix_among(qp, free, threads);
  return list;
}

class FreeSteps {
 public:
  FreeSteps(const DualQp& qp, std::span<const double> penalty, std::span<const Index> free,
            FreePoint start, const Threads& threads)
      : qp_(qp),
        free_(free.begin(), free.end()),
        rows_(has_penalties(penalty) ? qp.A.size() : 0),
        penalty_(penalty),
        threads_(threads),
        factor_(free.size()),
        variables_(listed(qp, free, std::move(start), threads), threads) {}

  /// False when another step gains nothing.
  bool step() {
    if (variables_.size() == 0 || !solve()) return false;
    const double length = variables_.reach(direction_, 1);
    variables_.move(direction_, length, added_by_rows());
    variables_.fix_at_bounds();
    return length < 1;
  }

  FreePoint point() const {
    FreePoint point{variables_.all().x, variables_.all().descent};
    for (double& each : point.slope) each = -each;
    return point;
  }

 private:
  /// All rows have one, or none has.
  static bool has_penalties(std::span<const double> penalty) {
    return std::any_of(penalty.begin(), penalty.end(), [](double each) { return each > 0; });
  }

  double entry(std::size_t r, std::size_t k) const {
    return qp_.A[r][free_[variables_.position(k)]];
  }
  double across(std::size_t r, const double* values) const {
    double sum = 0;
    for (std::size_t k = 0; k < variables_.size(); ++k) sum += entry(r, k) * values[k];
    return sum;
  }

  /// The direction to the minimum over the remaining variables; false if their matrix has none.
  /// The rows' part of the matrix comes in by the formula of Sherman, Morrison and Woodbury.
  bool solve() {
    const std::size_t size = variables_.size();
    SymmetricMatrix& matrix = factor_.matrix();
    matrix.shrink_to(size);
    const double largest = variables_.largest();
    if (!(largest > 0)) return false;
    variables_.put_matrix(ridge * largest, [&](std::size_t i) { return matrix.row(i); });
    if (factor_.cholesky(threads_) != Factor::Outcome::done) return false;
    std::vector<double> sides(size * (rows_ + 1), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      sides[k] = variables_.descent(k);
      for (std::size_t r = 0; r < rows_; ++r) sides[size * (1 + r) + k] = entry(r, k);
    }
    factor_.solve(sides.data(), rows_ + 1, threads_);
    std::vector<double> small(rows_ * rows_, 0.0), price(rows_, 0.0);
    for (std::size_t r = 0; r < rows_; ++r) {
      price[r] = across(r, sides.data());
      for (std::size_t other = 0; other < rows_; ++other)
        small[r * rows_ + other] = across(r, sides.data() + size * (1 + other));
      small[r * rows_ + r] += 1 / penalty_[r];
    }
    if (rows_ > 0) solve_small(std::move(small), price);
    direction_.assign(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t k = 0; k < size; ++k) direction_[k] -= price[r] * sides[size * (1 + r) + k];
    return leads_down();
  }

  bool leads_down() const {
    double sum = 0;
    for (std::size_t k = 0; k < variables_.size(); ++k)
      sum += direction_[k] * variables_.descent(k);
    return std::isfinite(sum) && sum > 0;
  }

  /// A'PA times the direction, row by row of A.
  std::vector<std::vector<double>> added_by_rows() const {
    std::vector<std::vector<double>> added(rows_);
    for (std::size_t r = 0; r < rows_; ++r) {
      const double price = penalty_[r] * across(r, direction_.data());
      for (const Index v : free_) added[r].push_back(price * qp_.A[r][v]);
    }
    return added;
  }

  const DualQp& qp_;
  std::vector<Index> free_;
  std::size_t rows_;
  std::span<const double> penalty_;
  const Threads& threads_;
  Factor factor_;
  FreeVariables variables_;
  std::vector<double> direction_;
};

}  // namespace

FreePoint newton_steps(const DualQp& qp, std::span<const double> penalty,
                       std::span<const Index> free, FreePoint start, int most_steps,
                       const Threads& threads) {
  FreeSteps steps(qp, penalty, free, std::move(start), threads);
  for (int k = 0; k < most_steps; ++k)
    if (!steps.step()) break;
  return steps.point();
}

}  // namespace maxmargin
