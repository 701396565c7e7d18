#include "maxmargin/solver/one_variable/free_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/sub_problem.hpp"

namespace maxmargin {
namespace {

// Added to the diagonal, relative to its largest entry: the rounding of float kernel values may
// take that much from it, and variables that share a point have no more.
constexpr double ridge = 2e-7;

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
        remaining_(free.size()),
        a_(std::move(start.a)),
        slope_(std::move(start.slope)) {
    std::iota(remaining_.begin(), remaining_.end(), std::size_t{0});
    fill_kernel();
  }

  /// False when another step gains nothing.
  bool step() {
    if (remaining_.empty() || !solve()) return false;
    double length = 1;
    bool whole = true;
    for (std::size_t k = 0; k < remaining_.size(); ++k) {
      const Block& block = qp_.block[free_[remaining_[k]]];
      const double bound = direction_[k] > 0 ? block.upper : block.lower;
      const double room = (bound - a_[remaining_[k]]) / direction_[k];
      if (direction_[k] == 0 || !(room < length)) continue;
      length = std::max(0.0, room);
      whole = false;
    }
    move(length);
    fix_at_bounds();
    return !whole;
  }

  FreePoint point() && { return {std::move(a_), std::move(slope_)}; }

 private:
  /// All rows have one, or none has.
  static bool has_penalties(std::span<const double> penalty) {
    return std::any_of(penalty.begin(), penalty.end(), [](double each) { return each > 0; });
  }

  /// Q between the free variables, but for the curvatures; several of them may share a point.
  void fill_kernel() {
    const std::size_t size = free_.size();
    const std::vector<Index> points = points_of(qp_.row, free_);
    const std::vector<Index> position = positions_of(qp_.row, free_, points);
    const std::size_t width = points.size();
    std::vector<float> between(width * width);
    std::vector<float*> out(width);
    std::vector<Index> all(width);
    std::iota(all.begin(), all.end(), Index{0});
    for (std::size_t p = 0; p < width; ++p) out[p] = between.data() + p * width;
    qp_.K->among(points, all, out, threads_);
    Q_.resize(size * size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        Q_[i * size + j] = static_cast<float>(qp_.block[free_[i]].sign * qp_.block[free_[j]].sign) *
                           between[position[i] * width + position[j]];
  }

  double Q(std::size_t i, std::size_t j) const {
    return static_cast<double>(Q_[i * free_.size() + j]);
  }
  double entry(std::size_t r, std::size_t k) const { return qp_.A[r][free_[remaining_[k]]]; }
  double across(std::size_t r, const double* values) const {
    double sum = 0;
    for (std::size_t k = 0; k < remaining_.size(); ++k) sum += entry(r, k) * values[k];
    return sum;
  }

  /// The direction to the minimum over the remaining variables; false if their matrix has none.
  /// The rows' part of the matrix comes in by the formula of Sherman, Morrison and Woodbury.
  bool solve() {
    const std::size_t size = remaining_.size();
    SymmetricMatrix& matrix = factor_.matrix();
    matrix.shrink_to(size);
    double largest = 0;
    for (const std::size_t k : remaining_) largest = std::max(largest, Q(k, k));
    if (!(largest > 0)) return false;
    threads_.split(size, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double* row = matrix.row(i);
        for (std::size_t j = 0; j <= i; ++j) row[j] = Q(remaining_[i], remaining_[j]);
        row[i] += qp_.block[free_[remaining_[i]]].curvature + ridge * largest;
      }
    });
    if (factor_.cholesky(threads_) != Factor::Outcome::done) return false;
    std::vector<double> sides(size * (rows_ + 1), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      sides[k] = -slope_[remaining_[k]];
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
    for (std::size_t k = 0; k < remaining_.size(); ++k)
      sum += direction_[k] * slope_[remaining_[k]];
    return std::isfinite(sum) && sum < 0;
  }

  void move(double length) {
    const std::size_t size = remaining_.size();
    std::vector<double> price(rows_, 0.0);
    for (std::size_t r = 0; r < rows_; ++r) price[r] = penalty_[r] * across(r, direction_.data());
    threads_.split(free_.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < size; ++k) sum += Q(i, remaining_[k]) * direction_[k];
        for (std::size_t r = 0; r < rows_; ++r) sum += price[r] * qp_.A[r][free_[i]];
        slope_[i] += length * sum;
      }
    });
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t position = remaining_[k];
      const Block& block = qp_.block[free_[position]];
      slope_[position] += length * direction_[k] * block.curvature;
      a_[position] = std::clamp(a_[position] + length * direction_[k], block.lower, block.upper);
    }
  }

  /// Variables at a bound, up to rounding, stay there.
  void fix_at_bounds() {
    std::erase_if(remaining_, [&](std::size_t position) {
      const Block& block = qp_.block[free_[position]];
      const double width = block.upper - block.lower;
      const double room = std::min(block.upper - a_[position], a_[position] - block.lower);
      return room <= (std::isinf(width) ? 0 : 1e-12 * width);
    });
  }

  const DualQp& qp_;
  std::vector<Index> free_;
  std::size_t rows_;
  std::span<const double> penalty_;
  const Threads& threads_;
  Factor factor_;
  std::vector<std::size_t> remaining_;  // positions in the list
  std::vector<double> a_, slope_, direction_;
  std::vector<float> Q_;
};

}  // namespace

FreePoint newton_steps(const DualQp& qp, std::span<const double> penalty,
                       std::span<const Index> free, FreePoint start, int most_steps,
                       const Threads& threads) {
  FreeSteps steps(qp, penalty, free, std::move(start), threads);
  for (int k = 0; k < most_steps; ++k)
    if (!steps.step()) break;
  return std::move(steps).point();
}

}  // namespace maxmargin
