#include "maxmargin/solver/newton/direction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/equations/memory.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t most_conjugate_gradients = 2000;
constexpr double residual_share = 1e-13;
constexpr std::size_t rows_at_once = 64;

/// The matrix of a step over the variables that have a curvature: Q_SS + D^-1.
class SetMatrix {
 public:
  SetMatrix(const DualQp& qp, std::span<const Index> set, std::span<const double> curvature,
            bool dense, Precision precision, const Threads& threads)
      : precision_(precision), threads_(threads), factor_(dense ? set.size() : 0) {
    for (const Index v : set) {
      points_.push_back(qp.row[v]);
      sign_.push_back(qp.block[v].sign);
      ridge_.push_back(1 / curvature[v]);
    }
    unique_ = points_;
    std::sort(unique_.begin(), unique_.end());
    unique_.erase(std::unique(unique_.begin(), unique_.end()), unique_.end());
    for (Index& point : points_)
      point = static_cast<Index>(std::lower_bound(unique_.begin(), unique_.end(), point) -
                                 unique_.begin());
    K_ = qp.K->restrict_to(unique_);
    if (dense) factor();
  }

  /// Solves with the matrix, in place.
  void solve(std::span<double> b) const {
    if (factor_.kind() != Factor::Kind::none) {
      Factor& factor = const_cast<Factor&>(factor_);
      factor.solve(b.data(), 1, threads_);
      return;
    }
    conjugate_gradients(b);
  }

 private:
  void factor() {
    SymmetricMatrix& M = factor_.matrix();
    const std::size_t n = points_.size();
    std::vector<double> values(rows_at_once * unique_.size());
    for (std::size_t begin = 0; begin < n; begin += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, n - begin);
      K_->exact_block(std::span(points_).subspan(begin, count), 0, unique_.size(), values.data(),
                      unique_.size());
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t i = begin + r;
        for (std::size_t j = 0; j <= i; ++j)
          M.row(i)[j] = sign_[i] * sign_[j] * values[r * unique_.size() + points_[j]];
        M.row(i)[i] += ridge_[i];
      }
    }
    // Without factors there are conjugate gradients.
    std::ignore = factor_.cholesky(threads_);
  }

  void multiply(std::span<const double> x, std::span<double> y) const {
    std::vector<double> beta(unique_.size(), 0.0), f(unique_.size());
    for (std::size_t k = 0; k < x.size(); ++k) beta[points_[k]] += sign_[k] * x[k];
    K_->multiply(beta, f, precision_, threads_);
    for (std::size_t k = 0; k < x.size(); ++k) y[k] = sign_[k] * f[points_[k]] + ridge_[k] * x[k];
  }

  void conjugate_gradients(std::span<double> b) const {
    const std::size_t n = b.size();
    std::vector<double> x(n, 0.0), r(b.begin(), b.end()), z(n), p(n), q(n);
    const auto diagonal = K_->diagonal();
    const auto precondition = [&] {
      for (std::size_t k = 0; k < n; ++k) z[k] = r[k] / (diagonal[points_[k]] + ridge_[k]);
    };
    const auto dot = [](const std::vector<double>& u, const std::vector<double>& v) {
      return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
    };
    precondition();
    p = z;
    double rz = dot(r, z);
    const double first = rz;
    for (std::size_t n_steps = 0; n_steps < most_conjugate_gradients && rz > 0; ++n_steps) {
      multiply(p, q);
      const double length = rz / dot(p, q);
      for (std::size_t k = 0; k < n; ++k) {
        x[k] += length * p[k];
        r[k] -= length * q[k];
      }
      precondition();
      const double next = dot(r, z);
      if (!(next > residual_share * residual_share * first)) break;
      for (std::size_t k = 0; k < n; ++k) p[k] = z[k] + next / rz * p[k];
      rz = next;
    }
    std::copy(x.begin(), x.end(), b.begin());
  }

  Precision precision_;
  const Threads& threads_;
  std::shared_ptr<const Quadratic> K_;
  std::vector<Index> points_, unique_;
  std::vector<double> sign_, ridge_;
  Factor factor_;
};

/// Solves [M B'; B 0] [x; y] = [u; v] for few rows B by the complement B M^-1 B'.
struct Bordered {
  std::vector<double> x, y;
};
template <class Solve>
Bordered solve_bordered(const std::vector<std::vector<double>>& B, std::vector<double> u,
                        const std::vector<double>& v, const Solve& solve) {
  const std::size_t k = B.size();
  solve(std::span<double>(u));
  std::vector<std::vector<double>> columns = B;
  for (std::vector<double>& column : columns) solve(std::span<double>(column));
  std::vector<double> S(k * k), y(k);
  for (std::size_t r = 0; r < k; ++r) {
    for (std::size_t c = 0; c < k; ++c)
      S[r * k + c] = std::inner_product(B[r].begin(), B[r].end(), columns[c].begin(), 0.0);
    y[r] = std::inner_product(B[r].begin(), B[r].end(), u.begin(), 0.0) - v[r];
  }
  if (k > 0) solve_small(S, y);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t i = 0; i < u.size(); ++i) u[i] -= y[r] * columns[r][i];
  return {std::move(u), std::move(y)};
}

}  // namespace

DualPoint dual_point(const DualQp& qp, const PrimalPoint& at, Parabola parabola) {
  DualPoint dual;
  dual.a.resize(qp.size());
  dual.curvature.assign(qp.size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double h = block.sign * at.f[qp.row[v]];
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * at.lambda[r];
    const double a = dual.a[v] = block.argmax(-h);
    if (block.entropy != Entropy::none)
      dual.curvature[v] = std::isfinite(block.bend(a)) ? 1 / block.bend(a) : 0;
    else if (parabola == Parabola::chord)
      dual.curvature[v] = a != 0 ? a / (-h - block.linear) : 0;
    else if (a > block.lower && a < block.upper)
      dual.curvature[v] = 1 / block.curvature;
  }
  return dual;
}

Directions::Directions(const DualQp& qp, std::size_t bytes, std::size_t dense, Precision precision,
                       const Threads& threads)
    : K_(qp.K),
      row_(qp.row),
      bytes_(bytes),
      dense_(dense),
      precision_(precision),
      threads_(threads) {
  for (const Block& block : qp.block) sign_.push_back(block.sign);
  if (K_->columns() <= low_rank_columns(*K_)) Z_ = K_->low_rank(low_rank_columns(*K_));
}

void Directions::fill(PrimalPoint& point) const {
  point.f.assign(K_->size(), 0.0);
  if (Z_ != nullptr)
    Z_->spread(point.coefficients, point.f, threads_);
  else
    K_->multiply(point.coefficients, point.f, precision_, threads_);
}

PrimalPoint Directions::from(std::span<const double> a, std::vector<double> lambda) const {
  PrimalPoint point;
  std::vector<double> beta(K_->size(), 0.0);
  for (std::size_t v = 0; v < a.size(); ++v) beta[row_[v]] += sign_[v] * a[v];
  point.coefficients = Z_ != nullptr ? Z_->gather(beta, threads_) : std::move(beta);
  point.lambda = std::move(lambda);
  fill(point);
  return point;
}

double Directions::product(const PrimalPoint& x, const PrimalPoint& y) const {
  const std::vector<double>& other = Z_ != nullptr ? y.coefficients : y.f;
  return std::inner_product(x.coefficients.begin(), x.coefficients.end(), other.begin(), 0.0);
}

PrimalPoint Directions::newton(const DualQp& qp, const PrimalPoint& at,
                               const DualPoint& dual) const {
  return Z_ != nullptr ? in_columns(qp, at, dual) : in_points(qp, at, dual);
}

/// No step: the search ends there.
PrimalPoint Directions::nowhere(std::size_t coefficients, std::size_t rows) const {
  PrimalPoint step;
  step.coefficients.assign(coefficients, 0.0);
  step.lambda.assign(rows, 0.0);
  step.f.assign(K_->size(), 0.0);
  return step;
}

/// (I + Z'DZ) dw + Z'DA' dlambda = -(w - Z's a),  A D Z dw + A D A' dlambda = A a - d.
PrimalPoint Directions::in_columns(const DualQp& qp, const PrimalPoint& at,
                                   const DualPoint& dual) const {
  const std::size_t n = Z_->rank(), k = qp.A.size(), m = K_->size();
  std::vector<double> weight(m, 0.0), beta(m, 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    weight[row_[v]] += dual.curvature[v];
    beta[row_[v]] += sign_[v] * dual.a[v];
  }
  std::vector<Index> which;
  std::vector<double> weights;
  for (std::size_t p = 0; p < m; ++p)
    if (weight[p] > 0) {
      which.push_back(static_cast<Index>(p));
      weights.push_back(weight[p]);
    }
  const std::vector<double> gram = Z_->gram(which, weights, threads_);
  Factor factor(n);
  // Beside large weights the 1 is lost, and what is left may be singular.
  const bool is_solvable = factor.cholesky_with_ridge(
      [&] {
        for (std::size_t i = 0; i < n; ++i) {
          std::copy_n(gram.data() + i * n, i + 1, factor.matrix().row(i));
          factor.matrix().row(i)[i] += 1;
        }
      },
      threads_);
  if (!is_solvable) return nowhere(n, k);
  std::vector<double> u = Z_->gather(beta, threads_), v(k, 0.0), corner(k * k, 0.0);
  for (std::size_t i = 0; i < n; ++i) u[i] -= at.coefficients[i];
  std::vector<std::vector<double>> B(k);
  for (std::size_t r = 0; r < k; ++r) {
    std::vector<double> along(m, 0.0);
    v[r] = -qp.d[r];
    for (std::size_t x = 0; x < qp.size(); ++x) {
      v[r] += qp.A[r][x] * dual.a[x];
      along[row_[x]] += sign_[x] * dual.curvature[x] * qp.A[r][x];
      for (std::size_t c = 0; c < k; ++c)
        corner[r * k + c] += qp.A[r][x] * dual.curvature[x] * qp.A[c][x];
    }
    B[r] = Z_->gather(along, threads_);
  }
  const auto solve = [&](std::span<double> b) { factor.solve(b.data(), 1, threads_); };
  // The complement corner - B M^-1 B' is positive semi-definite.
  PrimalPoint step;
  solve(std::span<double>(u));
  std::vector<std::vector<double>> columns = B;
  for (std::vector<double>& column : columns) solve(std::span<double>(column));
  for (std::size_t r = 0; r < k; ++r) {
    for (std::size_t c = 0; c < k; ++c)
      corner[r * k + c] -= std::inner_product(B[r].begin(), B[r].end(), columns[c].begin(), 0.0);
    v[r] -= std::inner_product(B[r].begin(), B[r].end(), u.begin(), 0.0);
  }
  if (k > 0) solve_small(corner, v);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t i = 0; i < n; ++i) u[i] -= v[r] * columns[r][i];
  step.coefficients = std::move(u);
  step.lambda = std::move(v);
  fill(step);
  return step;
}

/// The variables with a curvature from their system, the others where they are.
PrimalPoint Directions::in_points(const DualQp& qp, const PrimalPoint& at,
                                  const DualPoint& dual) const {
  std::vector<Index> set;
  std::vector<double> rest(K_->size(), 0.0), rest_f(K_->size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (dual.curvature[v] > 0)
      set.push_back(static_cast<Index>(v));
    else
      rest[row_[v]] += sign_[v] * dual.a[v];
  }
  K_->multiply(rest, rest_f, precision_, threads_);
  const std::size_t k = qp.A.size();
  std::vector<double> u(set.size()), v = qp.d;
  std::vector<std::vector<double>> B(k);
  for (std::size_t r = 0; r < k; ++r)
    for (std::size_t x = 0; x < qp.size(); ++x)
      if (dual.curvature[x] == 0) v[r] -= qp.A[r][x] * dual.a[x];
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Index x = set[i];
    u[i] = dual.a[x] / dual.curvature[x] + sign_[x] * (at.f[row_[x]] - rest_f[row_[x]]);
    for (std::size_t r = 0; r < k; ++r) {
      u[i] += qp.A[r][x] * at.lambda[r];
      B[r].push_back(qp.A[r][x]);
    }
  }
  PrimalPoint step;
  step.lambda.assign(k, 0.0);
  step.coefficients = rest;
  step.a = dual.a;
  if (!set.empty()) {
    const bool dense = set.size() <= dense_ && SymmetricMatrix::bytes(set.size()) <= bytes_;
    const SetMatrix M(qp, set, dual.curvature, dense, precision_, threads_);
    const Bordered solved =
        solve_bordered(B, std::move(u), v, [&](std::span<double> b) { M.solve(b); });
    for (std::size_t i = 0; i < set.size(); ++i) {
      step.coefficients[row_[set[i]]] += sign_[set[i]] * solved.x[i];
      const Block& block = qp.block[set[i]];
      step.a[set[i]] = std::clamp(solved.x[i], block.lower, block.upper);
    }
    for (std::size_t r = 0; r < k; ++r) step.lambda[r] = solved.y[r] - at.lambda[r];
  }
  for (std::size_t p = 0; p < step.coefficients.size(); ++p)
    step.coefficients[p] -= at.coefficients[p];
  fill(step);
  return step;
}

}  // namespace maxmargin
