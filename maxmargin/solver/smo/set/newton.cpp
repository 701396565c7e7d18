#include "maxmargin/solver/smo/set/newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/equations/free_variables.hpp"

namespace maxmargin {
namespace {

// Added to the diagonal, relative to its largest entry: the rounding of float kernel values may
// take that much from it.
constexpr double ridge = 1e-7;
// Largest relative residual of the equality rows along a sound direction.
constexpr double least_agreement = 1e-6;
// With the same factors, variables are fixed at bounds that a step would cross, or freed again, in
// so many rounds, and this share of them at most.
constexpr int most_rounds = 8;
constexpr double most_fixed = 0.1;

/// Solves M x = b in place for a small definite M given in full, by plain loops: the same bits
/// wherever the numbers lie in memory. False if M is not definite.
bool solve_definite(std::vector<double>& M, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) M[i * n + j] -= M[i * n + k] * M[j * n + k];
    if (!(M[j * n + j] > 0)) return false;
    const double root = std::sqrt(M[j * n + j]);
    for (std::size_t i = j; i < n; ++i) M[i * n + j] /= root;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= M[i * n + k] * b[k];
    b[i] /= M[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= M[k * n + i] * b[k];
    b[i] /= M[i * n + i];
  }
  return true;
}

/// Cholesky's factors of the matrix of the free variables. Few of them are factored by plain loops:
/// OpenBLAS takes longer to load than small problems to solve.
class FreeFactor {
 public:
  FreeFactor(std::size_t size, std::size_t most_plain) : size_(size), stride_(size) {
    if (size <= most_plain)
      plain_.resize(size * size);
    else
      large_.emplace(size);
  }

  /// Where the lower triangle is put.
  double* row(std::size_t i) { return large_ ? large_->matrix().row(i) : &plain_[i * stride_]; }
  void shrink_to(std::size_t size) {
    size_ = size;
    if (large_) large_->matrix().shrink_to(size);
  }
  /// False: not definite.
  bool factor(const Threads& threads) {
    if (large_) return large_->cholesky(threads) == Factor::Outcome::done;
    for (std::size_t i = 0; i < size_; ++i) {
      double* const mine = row(i);
      for (std::size_t j = 0; j < i; ++j) mine[j] = (mine[j] - dot(mine, row(j), j)) / row(j)[j];
      const double pivot = mine[i] - dot(mine, mine, i);
      if (!(pivot > 0) || !std::isfinite(pivot)) return false;
      mine[i] = std::sqrt(pivot);
    }
    return true;
  }
  /// In place, for `count` right-hand sides one after another.
  void solve(double* b, std::size_t count, const Threads& threads) {
    if (large_) return large_->solve(b, count, threads);
    for (std::size_t side = 0; side < count; ++side, b += size_) {
      for (std::size_t i = 0; i < size_; ++i) b[i] = (b[i] - dot(row(i), b, i)) / row(i)[i];
      for (std::size_t i = size_; i-- > 0;) {
        b[i] /= row(i)[i];
        for (std::size_t j = 0; j < i; ++j) b[j] -= row(i)[j] * b[i];
      }
    }
  }

 private:
  static double dot(const double* x, const double* y, std::size_t size) {
    return std::inner_product(x, x + size, y, 0.0);
  }

  std::size_t size_, stride_;
  std::vector<double> plain_;
  std::optional<Factor> large_;
};

FreeVariables::List listed(const Active& active, std::span<const Index> free,
                           std::vector<float> K) {
  FreeVariables::List list;
  list.reserve(free.size());
  for (const Index v : free) {
    list.add(active.beta[v], active.lower[v], active.upper[v]);
    list.curvature.push_back(active.curvature[v]);
    list.descent.push_back(active.negative_gradient(v));
  }
  list.M = std::move(K);
  return list;
}

/// The free variables with their equality rows.
class FreeProblem {
 public:
  /// `K`: their kernel values, row by row.
  FreeProblem(const Active& active, const CoupledRows& coupling, std::span<const Index> free,
              std::vector<float> K, const Context& context)
      : active_(active),
        coupling_(coupling),
        free_(free.begin(), free.end()),
        threads_(context.threads),
        factor_(free.size(), context.costs.pairs.most_plain),
        variables_(listed(active, free, std::move(K)), context.threads),
        rows_(active.rows() + coupling.rows()),
        lack_(rows_, 0.0),
        shift_(rows_, 0.0),
        at_upper_(free.size(), false) {
    for (std::size_t r = 0; r < coupling.rows(); ++r)
      lack_[active.rows() + r] = -coupling.residual()[r];
  }

  /// One step; false when there is nothing to gain by another.
  bool step() {
    if (variables_.size() < 2 || !solve()) return false;
    const double wanted = best_length();
    if (!(wanted > 0)) return false;
    const double length = variables_.reach(direction_, wanted, is_fixed_);
    move(length);
    whole_ = length == wanted;
    if (whole_ || length == 0) return false;
    variables_.fix_at_bounds();
    return true;
  }

  NewtonMove result() const {
    NewtonMove move;
    move.whole = whole_;
    move.shift.assign(shift_.begin() + static_cast<std::ptrdiff_t>(active_.rows()), shift_.end());
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const double change = variables_.all().x[k] - active_.beta[free_[k]];
      if (change == 0) continue;
      move.variables.push_back(free_[k]);
      move.change.push_back(change);
    }
    return move;
  }

 private:
  /// The direction to the minimum over the remaining variables; false if their matrix has none.
  bool solve() {
    const std::size_t size = variables_.size();
    factor_.shrink_to(size);
    variables_.put_matrix(ridge * variables_.largest(),
                          [&](std::size_t i) { return factor_.row(i); });
    if (!factor_.factor(threads_)) return false;
    // The unconstrained solution, and one for each equality row.
    AlignedVector<double> sides(size * (rows_ + 1), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      sides[k] = variables_.descent(k);
      for (std::size_t r = 0; r < rows_; ++r) sides[size * (1 + r) + k] = entry(r, k);
    }
    factor_.solve(sides.data(), rows_ + 1, threads_);
    fixed_.clear();
    is_fixed_.assign(size, false);
    for (int round = 0;; ++round) {
      if (!direct(sides)) return false;
      if (round == most_rounds || !fix(sides)) return true;
    }
  }

  /// The direction with the equality rows and the fixed variables kept: `sides` has the solutions
  /// for the gradient, for each row and for each fixed variable. False if it is not sound.
  bool direct(const AlignedVector<double>& sides) {
    const std::size_t size = variables_.size(), many = rows_ + fixed_.size();
    const auto solution = [&](std::size_t c) { return sides.data() + size * (1 + c); };
    const auto applied = [&](std::size_t c, const double* values) {
      return c < rows_ ? across(c, values, size) : values[fixed_[c - rows_]];
    };
    std::vector<double> small(many * many), right(many);
    for (std::size_t c = 0; c < many; ++c) {
      const double wanted = c < rows_ ? lack_[c] : way_to_bound(fixed_[c - rows_]);
      right[c] = applied(c, sides.data()) - wanted;
      for (std::size_t other = 0; other < many; ++other)
        small[c * many + other] = applied(c, solution(other));
    }
    if (fixed_.empty())
      solve_small(std::move(small), right);
    else if (!solve_definite(small, right))
      return false;
    direction_.assign(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t c = 0; c < many; ++c)
      for (std::size_t k = 0; k < size; ++k) direction_[k] -= right[c] * solution(c)[k];
    numbers_.assign(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(rows_));
    bound_multiplier_.assign(right.begin() + static_cast<std::ptrdiff_t>(rows_), right.end());
    return is_sound();
  }

  /// Fixes variables that the direction moves across a bound, frees fixed ones whose multiplier has
  /// the wrong sign; false if there are none, or too many.
  bool fix(AlignedVector<double>& sides) {
    const std::size_t size = variables_.size();
    std::vector<std::size_t> crossing;
    for (std::size_t k = 0; k < size; ++k) {
      const double end = variables_.x(k) + direction_[k];
      if (!is_fixed_[k] && (end < variables_.lower(k) || end > variables_.upper(k)))
        crossing.push_back(k);
    }
    std::vector<std::size_t> still_fixed;
    AlignedVector<double> fresh(sides.begin(),
                                sides.begin() + static_cast<std::ptrdiff_t>(size * (1 + rows_)));
    for (std::size_t c = 0; c < fixed_.size(); ++c) {
      const bool leaves_its_bound = bound_multiplier_[c] * way_to_bound(fixed_[c]) < 0;
      if (leaves_its_bound) continue;
      const double* from = sides.data() + size * (1 + rows_ + c);
      fresh.insert(fresh.end(), from, from + size);
      still_fixed.push_back(fixed_[c]);
    }
    const std::size_t many = still_fixed.size() + crossing.size();
    if ((crossing.empty() && still_fixed.size() == fixed_.size()) ||
        static_cast<double>(many) > most_fixed * static_cast<double>(size))
      return false;
    const std::size_t begin = fresh.size();
    fresh.resize(begin + size * crossing.size(), 0.0);
    for (std::size_t c = 0; c < crossing.size(); ++c) {
      at_upper_[variables_.position(crossing[c])] = direction_[crossing[c]] > 0;
      fresh[begin + size * c + crossing[c]] = 1;
    }
    factor_.solve(fresh.data() + begin, crossing.size(), threads_);
    sides = std::move(fresh);
    fixed_ = std::move(still_fixed);
    fixed_.insert(fixed_.end(), crossing.begin(), crossing.end());
    is_fixed_.assign(size, false);
    for (const std::size_t k : fixed_) is_fixed_[k] = true;
    return true;
  }

  double bound_of(std::size_t k) const {
    return at_upper_[variables_.position(k)] ? variables_.upper(k) : variables_.lower(k);
  }
  double way_to_bound(std::size_t k) const { return bound_of(k) - variables_.x(k); }

  /// The minimum along the direction, at most 1.
  double best_length() const {
    if (fixed_.empty() || coupling_.rows() > 0) return 1;
    double slope = 0;
    for (std::size_t k = 0; k < variables_.size(); ++k)
      slope += direction_[k] * variables_.descent(k);
    const double bend = variables_.bend(direction_);
    return bend <= slope ? 1 : slope / bend;
  }

  /// The entry of an equality row for one of the remaining variables.
  double entry(std::size_t r, std::size_t k) const {
    const Index v = free_[variables_.position(k)];
    if (r < active_.rows()) return active_.row[v] == r ? 1 : 0;
    return coupling_.entries(active_.id[v])[r - active_.rows()];
  }

  double across(std::size_t r, const double* values, std::size_t size) const {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += entry(r, k) * values[k];
    return sum;
  }

  /// Whether the direction satisfies the rows, which it does not with too few free variables or a
  /// nearly singular matrix.
  bool is_sound() const {
    double length = 0;
    for (const double value : direction_) length += std::abs(value);
    if (!std::isfinite(length)) return false;
    for (std::size_t r = 0; r < rows_; ++r) {
      const double off = across(r, direction_.data(), direction_.size()) - lack_[r];
      if (std::abs(off) > least_agreement * length) return false;
    }
    return true;
  }

  void move(double length) {
    for (std::size_t r = 0; r < rows_; ++r) {
      lack_[r] *= 1 - length;
      shift_[r] += length * (numbers_[r] - shift_[r]);
    }
    variables_.move(direction_, length);
    if (length < 1) return;
    for (const std::size_t k : fixed_) variables_.put(k, bound_of(k));
  }

  const Active& active_;
  const CoupledRows& coupling_;
  std::vector<Index> free_;
  const Threads& threads_;
  FreeFactor factor_;
  FreeVariables variables_;
  std::size_t rows_;           // pair rows, then coupled ones
  std::vector<double> lack_;   // the residuals of the rows
  std::vector<double> shift_;  // of their multipliers so far
  std::vector<double> numbers_, direction_;
  std::vector<std::size_t> fixed_;  // at bounds at the end of the direction, of those that remain
  std::vector<bool> is_fixed_, at_upper_;
  std::vector<double> bound_multiplier_;  // of the fixed ones beyond their bounds
  bool whole_ = false;
};

/// Two rows of their matrix would be the same.
bool share_points(const Active& active, std::span<const Index> variables) {
  std::vector<Index> points;
  for (const Index v : variables) points.push_back(active.point[v]);
  std::sort(points.begin(), points.end());
  return std::adjacent_find(points.begin(), points.end()) != points.end();
}

NewtonMove moved(FreeProblem problem, int most_steps) {
  for (int k = 0; k < most_steps; ++k)
    if (!problem.step()) break;
  return problem.result();
}

}  // namespace

NewtonMove newton_move(const Active& active, const CoupledRows& coupling,
                       std::span<const Index> free, int most_steps, const Context& context) {
  const std::size_t size = free.size();
  std::vector<Index> points, all;
  for (const Index v : free) {
    all.push_back(static_cast<Index>(points.size()));
    points.push_back(active.point[v]);
  }
  if (share_points(active, free)) return {};
  std::vector<float> K(size * size);
  std::vector<float*> out(size);
  for (std::size_t k = 0; k < size; ++k) out[k] = K.data() + k * size;
  active.K->among(points, all, out, context.threads);
  return moved(FreeProblem(active, coupling, free, std::move(K), context), most_steps);
}

NewtonMove newton_move(const Active& set, const SetKernel& values, std::span<const Index> free,
                       int most_steps, const Context& context) {
  if (share_points(set, free)) return {};
  std::vector<float> K;
  K.reserve(free.size() * free.size());
  for (const Index v : free)
    for (const Index w : free) K.push_back(values.row(set.point[v])[set.point[w]]);
  const CoupledRows none;
  return moved(FreeProblem(set, none, free, std::move(K), context), most_steps);
}

}  // namespace maxmargin
