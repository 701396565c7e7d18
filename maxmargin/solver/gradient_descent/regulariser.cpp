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
    std::vector<double> coefficient(qp_.K->size(), 0.0);
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const double a = qp_.block[v].argmax(-slope(v, f, lambda));
      coefficient[qp_.row[v]] += qp_.block[v].sign * a;
      for (std::size_t r = 0; r < lambda.size(); ++r) gradient.lambda[r] -= qp_.A[r][v] * a;
    }
    gradient.beta =
        regulariser_gradient(options_.regulariser, *qp_.K, beta, f, run_.precision, run_.threads);
    const std::vector<double> losses = multiply(coefficient);
    for (std::size_t p = 0; p < losses.size(); ++p) gradient.beta[p] -= losses[p];
    return gradient;
  }

  /// Any coefficients as variables: the first of each point and sign carries them, within its
  /// bounds or not; what is beyond is told by the certificate.
  Solution answer(std::span<const double> beta, std::vector<double> lambda, Ended ended,
                  std::size_t steps) const {
    Solution solution;
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

Solution run_regularised(const DualQp& qp, const GradientDescent& options, const Run& run) {
  return NormDescent(qp, options, run).solve();
}

}  // namespace maxmargin
