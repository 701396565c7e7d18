#include "maxmargin/solver/smo/newton.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/linalg/symmetric.hpp"

namespace maxmargin {
namespace {

// Added to the diagonal, relative to its largest entry: the rounding of float kernel values may
// take that much from it.
constexpr double ridge = 1e-7;

/// The free variables and their kernel values, by their places in the list.
class FreeProblem {
 public:
  FreeProblem(const Active& active, std::span<const Index> free, const Threads& threads)
      : active_(active), free_(free.begin(), free.end()), threads_(threads), factor_(free.size()) {
    const std::size_t size = free_.size();
    K_.resize(size * size);
    std::vector<Index> points(size), all(size);
    std::vector<float*> out(size);
    for (std::size_t k = 0; k < size; ++k) {
      points[k] = active.point[free_[k]];
      all[k] = static_cast<Index>(k);
      out[k] = K_.data() + k * size;
      beta_.push_back(active.beta[free_[k]]);
      level_.push_back(active.level(free_[k]));
      remaining_.push_back(k);
    }
    active.K->among(points, all, out, threads);
  }

  /// One step; false when there is nothing to gain by another.
  bool step() {
    if (remaining_.size() < 2 || !solve()) return false;
    double length = 1;
    std::size_t blocking = remaining_.size();
    for (std::size_t k = 0; k < remaining_.size(); ++k) {
      const std::size_t v = free_[remaining_[k]];
      const double bound = direction_[k] > 0 ? active_.upper[v] : active_.lower[v];
      const double room = (bound - beta_[remaining_[k]]) / direction_[k];
      if (direction_[k] != 0 && room < length) {
        length = std::max(0.0, room);
        blocking = k;
      }
    }
    move(length);
    whole_ = blocking == remaining_.size();
    if (whole_) return false;
    settle();
    return true;
  }

  NewtonMove result() const {
    NewtonMove move;
    move.whole = whole_;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const double change = beta_[k] - active_.beta[free_[k]];
      if (change == 0) continue;
      move.variables.push_back(free_[k]);
      move.change.push_back(change);
    }
    return move;
  }

 private:
  double kernel(std::size_t i, std::size_t j) const {
    return static_cast<double>(K_[i * free_.size() + j]);
  }

  /// The direction to the minimum over the remaining variables; false if their matrix has none.
  bool solve() {
    const std::size_t size = remaining_.size(), rows = active_.rows();
    SymmetricMatrix& matrix = factor_.matrix();
    matrix.shrink_to(size);
    double largest = 0;
    for (const std::size_t k : remaining_) largest = std::max(largest, kernel(k, k));
    threads_.split(size, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double* row = matrix.row(i);
        for (std::size_t j = 0; j <= i; ++j) row[j] = kernel(remaining_[i], remaining_[j]);
        row[i] += active_.curvature[free_[remaining_[i]]] + ridge * largest;
      }
    });
    if (factor_.cholesky(threads_) != Factor::Outcome::done) return false;
    // The unconstrained solution, and one for each equality row.
    std::vector<double> sides(size * (rows + 1), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      sides[k] = level_[remaining_[k]];
      sides[size * (1 + active_.row[free_[remaining_[k]]]) + k] = 1;
    }
    factor_.solve(sides.data(), rows + 1, threads_);
    std::vector<double> small(rows * rows, 0.0), numbers(rows, 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t r = active_.row[free_[remaining_[k]]];
      numbers[r] += sides[k];
      for (std::size_t other = 0; other < rows; ++other)
        small[r * rows + other] += sides[size * (1 + other) + k];
    }
    solve_small(small, numbers);
    direction_.assign(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < size; ++k)
        direction_[k] -= numbers[r] * sides[size * (1 + r) + k];
    return std::all_of(direction_.begin(), direction_.end(),
                       [](double value) { return std::isfinite(value); });
  }

  void move(double length) {
    for (std::size_t k = 0; k < remaining_.size(); ++k) {
      const std::size_t place = remaining_[k], v = free_[place];
      const double wish = beta_[place] + length * direction_[k];
      beta_[place] = std::clamp(wish, active_.lower[v], active_.upper[v]);
    }
    threads_.split(free_.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < remaining_.size(); ++k)
          sum += kernel(i, remaining_[k]) * direction_[k];
        level_[i] -= length * sum;
      }
    });
    for (std::size_t k = 0; k < remaining_.size(); ++k)
      level_[remaining_[k]] -= length * direction_[k] * active_.curvature[free_[remaining_[k]]];
  }

  /// What has come to a bound, or as good as that, stays there.
  void settle() {
    std::erase_if(remaining_, [&](std::size_t place) {
      const std::size_t v = free_[place];
      const double width = active_.upper[v] - active_.lower[v];
      const double room =
          std::min(active_.upper[v] - beta_[place], beta_[place] - active_.lower[v]);
      return room <= 1e-12 * width;
    });
  }

  const Active& active_;
  std::vector<Index> free_;
  const Threads& threads_;
  Factor factor_;
  std::vector<float> K_;
  std::vector<double> beta_, level_, direction_;
  std::vector<std::size_t> remaining_;
  bool whole_ = false;
};

}  // namespace

NewtonMove newton_move(const Active& active, std::span<const Index> free, int most_steps,
                       const Threads& threads) {
  std::vector<Index> points;
  for (const Index v : free) points.push_back(active.point[v]);
  std::sort(points.begin(), points.end());
  if (std::adjacent_find(points.begin(), points.end()) != points.end()) return {};
  FreeProblem problem(active, free, threads);
  for (int k = 0; k < most_steps; ++k)
    if (!problem.step()) break;
  return problem.result();
}

}  // namespace maxmargin
