#include "maxmargin/solver/gradient_descent/regulariser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

constexpr int most_step_halvings = 60;
constexpr int most_shares = 100;  // looked at on the way from 0 to a dual point

/// Makes A a = 0 by taking from the heavier side of each row; false where d is not 0 or a variable
/// stands in two rows.
bool balance(const DualQp& qp, std::span<double> a) {
  for (std::size_t v = 0; v < qp.size(); ++v) {
    std::size_t rows = 0;
    for (const auto& row : qp.A) rows += row[v] != 0;
    if (rows > 1) return false;
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    if (qp.d[r] != 0) return false;
    double up = 0, down = 0;
    for (std::size_t v = 0; v < qp.size(); ++v)
      (qp.A[r][v] * a[v] > 0 ? up : down) += std::abs(qp.A[r][v] * a[v]);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const double term = qp.A[r][v] * a[v];
      if (term > 0 && up > down) a[v] *= down / up;
      if (term < 0 && down > up) a[v] *= up / down;
    }
  }
  return true;
}

class NormDescent {
 public:
  NormDescent(const DualQp& qp, const GradientDescent& options, const Run& run)
      : qp_(qp), options_(options), run_(run), limits_(run, options.stop) {}

  Solution solve() {
    std::vector<double> beta(qp_.K->size(), 0.0), f(beta), lambda(qp_.A.size(), 0.0);
    double now = objective(beta, f, lambda), length = 1;
    Ended ended = Ended::stalled;
    std::size_t steps = 0;
    for (;; ++steps) {
      Progress progress;
      progress.iteration = steps;
      progress.primal = now;
      if (steps >= options_.stop.iterations) ended = Ended::iteration_limit;
      if (steps >= options_.stop.iterations) break;
      if (!limits_.allow(progress)) {
        ended = *limits_.stopped();
        break;
      }
      const Gradient gradient = gradient_at(beta, f, lambda);
      const std::vector<double> product = multiply(gradient.beta);
      const double square =
          dot(gradient.beta, gradient.beta) + dot(gradient.lambda, gradient.lambda);
      int halvings = 0;
      for (length *= 2; halvings < most_step_halvings; length /= 2, ++halvings) {
        std::vector<double> next = beta, next_f = f, next_lambda = lambda;
        for (std::size_t p = 0; p < next.size(); ++p) {
          next[p] -= length * gradient.beta[p];
          next_f[p] -= length * product[p];
        }
        for (std::size_t r = 0; r < lambda.size(); ++r)
          next_lambda[r] -= length * gradient.lambda[r];
        const double value = objective(next, next_f, next_lambda);
        if (!(value < now - 1e-4 * length * square)) continue;
        beta = std::move(next);
        f = std::move(next_f);
        lambda = std::move(next_lambda);
        now = value;
        break;
      }
      if (halvings == most_step_halvings) break;
    }
    return answer(beta, std::move(lambda), ended, steps);
  }

 private:
  struct Gradient {
    std::vector<double> beta, lambda;
  };

  std::vector<double> multiply(std::span<const double> x) const {
    std::vector<double> y(x.size());
    qp_.K->multiply(x, y, run_.precision, run_.threads);
    return y;
  }
  double slope(std::size_t v, std::span<const double> f, std::span<const double> lambda) const {
    double h = qp_.block[v].sign * f[qp_.row[v]];
    for (std::size_t r = 0; r < lambda.size(); ++r) h += qp_.A[r][v] * lambda[r];
    return h;
  }
  /// The derivatives of the losses.
  std::vector<double> dual_point(std::span<const double> f, std::span<const double> lambda) const {
    std::vector<double> a;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      a.push_back(qp_.block[v].argmax(-slope(v, f, lambda)));
    return a;
  }
  double objective(std::span<const double> beta, std::span<const double> f,
                   std::span<const double> lambda) const {
    double sum = regulariser_value(options_.regulariser, beta, f) + dot(lambda, qp_.d);
    for (std::size_t v = 0; v < qp_.size(); ++v)
      sum += qp_.block[v].conjugate(-slope(v, f, lambda));
    return sum;
  }
  Gradient gradient_at(std::span<const double> beta, std::span<const double> f,
                       std::span<const double> lambda) const {
    Gradient gradient{{}, qp_.d};
    const std::vector<double> a = dual_point(f, lambda);
    for (std::size_t r = 0; r < lambda.size(); ++r) gradient.lambda[r] -= dot(qp_.A[r], a);
    gradient.beta =
        regulariser_gradient(options_.regulariser, *qp_.K, beta, f, run_.precision, run_.threads);
    const std::vector<double> losses = multiply(qp_.coefficients(a));
    for (std::size_t p = 0; p < losses.size(); ++p) gradient.beta[p] -= losses[p];
    return gradient;
  }

  /// Any coefficients as variables: the first of each point and sign carries them, within its
  /// bounds or not; what is beyond is told by the certificate.
  Solution answer(std::span<const double> beta, std::vector<double> lambda, Ended ended,
                  std::size_t steps) const {
    Solution solution;
    std::vector<double> f(beta.size());
    qp_.K->multiply(beta, f, Precision::exact, run_.threads);
    solution.own_primal = objective(beta, f, lambda);
    solution.own_dual =
        regularised_dual(qp_, options_.regulariser, dual_point(f, lambda), run_.threads);
    solution.a.assign(qp_.size(), 0.0);
    std::vector<int> carrier(beta.size(), -1);
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      int& known = carrier[qp_.row[v]];
      if (known < 0 || qp_.block[v].sign * beta[qp_.row[v]] > 0) known = static_cast<int>(v);
    }
    for (std::size_t p = 0; p < beta.size(); ++p)
      if (carrier[p] >= 0) {
        const auto v = static_cast<std::size_t>(carrier[p]);
        solution.a[v] = qp_.block[v].sign * beta[p];
      }
    solution.lambda = std::move(lambda);
    solution.ended = ended;
    solution.iterations = steps;
    return solution;
  }

  const DualQp& qp_;
  const GradientDescent& options_;
  const Run& run_;
  Limits limits_;
};

}  // namespace

double regulariser_value(Regulariser regulariser, std::span<const double> beta,
                         std::span<const double> f) {
  switch (regulariser) {
    case Regulariser::standard:
      return dot(beta, f) / 2;
    case Regulariser::renormalised:
      return std::sqrt(std::max(0.0, dot(beta, f))) / 2;
    case Regulariser::l1:
      return std::accumulate(beta.begin(), beta.end(), 0.0,
                             [](double sum, double each) { return sum + std::abs(each); });
    case Regulariser::l2_data:
      return dot(f, f);
  }
  return 0;
}

std::vector<double> regulariser_gradient(Regulariser regulariser, const Quadratic& K,
                                         std::span<const double> beta, std::span<const double> f,
                                         Precision precision, const Threads& threads) {
  std::vector<double> gradient(f.begin(), f.end());
  if (regulariser == Regulariser::renormalised) {
    const double norm = std::sqrt(std::max(0.0, dot(beta, f)));
    for (double& each : gradient) each = norm > 0 ? each / (2 * norm) : 0;
  }
  if (regulariser == Regulariser::l1)
    for (std::size_t p = 0; p < beta.size(); ++p)
      gradient[p] = beta[p] > 0 ? 1 : beta[p] < 0 ? -1 : 0;
  if (regulariser == Regulariser::l2_data) {
    K.multiply(f, gradient, precision, threads);
    for (double& each : gradient) each *= 2;
  }
  return gradient;
}

double regularised_dual(const DualQp& qp, Regulariser regulariser, std::vector<double> a,
                        const Threads& threads) {
  if (!balance(qp, a)) return -infinity;
  const std::vector<double> c = qp.coefficients(a);
  std::vector<double> product(c.size());
  qp.K->multiply(c, product, Precision::exact, threads);
  const double square = dot(c, product);
  // min of Omega[f] - share c'f is 0 up to some share and minus infinity beyond, or a parabola.
  double most = 1, bend = 0;
  switch (regulariser) {
    case Regulariser::standard:
      bend = square / 2;
      break;
    case Regulariser::renormalised:
      if (square > 0.25) most = 0.5 / std::sqrt(square);
      break;
    case Regulariser::l1:
      for (const double each : product) most = std::min(most, 1 / std::abs(each));
      break;
    case Regulariser::l2_data:
      bend = dot(c, c) / 4;
      break;
  }
  double best = -infinity;
  for (int n = 0; n <= most_shares; ++n) {
    const double share = most * n / most_shares;
    double value = -bend * share * share;
    for (std::size_t v = 0; v < qp.size(); ++v) value -= qp.block[v].value(share * a[v]);
    best = std::max(best, value);
  }
  return best;
}

Solution run_regularised(const DualQp& qp, const GradientDescent& options, const Run& run) {
  return NormDescent(qp, options, run).solve();
}

}  // namespace maxmargin
