#include "maxmargin/solver/hulls/hulls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/small.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::hulls_test {
namespace {

/// Points of the plane in two classes that a line through 0 separates; `curvature` 0: a hard
/// margin.
DualQp separable(std::size_t size, const Kernel& kernel, double curvature, bool bias) {
  Rng rng(4);
  Features x = Features::dense(2);
  DualQp qp;
  if (bias) {
    qp.A.emplace_back();
    qp.d = {0};
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double y = i % 3 == 0 ? 1 : -1;
    x.append(std::vector<double>{y * (0.3 + rng.uniform()), rng.normal()});
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({y, -1, 0, infinity, curvature});
    if (bias) qp.A[0].push_back(y);
  }
  qp.K = make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(x)));
  return qp;
}

TEST(Hulls, BothKindsOfStepsFindTheWidestMargin) {
  for (const HullStep step : {HullStep::exchange, HullStep::toward})
    for (const Kernel& kernel : {Kernel(Linear{}), Kernel(Rbf{0.5})})
      for (const double curvature : {0.0, 0.5})
        for (const bool bias : {false, true}) {
          SCOPED_TRACE(std::string(to_string(step)) + " " + std::string(name_of(kernel)) + " " +
                       std::to_string(curvature) + " " + std::to_string(bias));
          const DualQp qp = separable(40, kernel, curvature, bias);
          MaxMarginPerceptron options;
          options.hull_step = step;
          options.stop.kkt = options.stop.relative_gap = 1e-5;
          const Certified found = solve(qp, options, Threads(1));
          EXPECT_EQ(found.solution.ended, Ended::converged);
          EXPECT_LE(found.certificate.relative_gap, 1e-5);
          EXPECT_LE(found.certificate.kkt, 1e-5);
          InteriorPoint other;
          other.stop.relative_gap = 1e-8;
          const double optimum = solve(qp, other, Threads(1)).certificate.dual;
          EXPECT_NEAR(found.certificate.dual, optimum, 2e-5 * optimum);
        }
}

// The length of a step is the best one: no shorter and no longer step leaves a smaller distance.
TEST(Hulls, StepsAreTheBestOnTheirLine) {
  const DualQp qp = separable(12, Rbf{0.5}, 0.1, true);
  std::vector<double> start;
  Rng rng(8);
  for (std::size_t v = 0; v < qp.size(); ++v) start.push_back(rng.uniform(0.1, 1));
  const Threads threads(1);
  const auto made = [&](std::span<const double> a) {
    return Hulls(qp, a, CachePolicy::row, 1 << 20, Precision::exact, threads);
  };
  const auto distance = [](const Hulls& hulls) {
    double sum = 0;
    for (const Hulls::View& view : hulls.views()) sum += view.mean;
    return sum;
  };
  const Hulls before = made(start);
  const std::vector<Hulls::View> views = before.views();
  for (const int kind : {0, 1, 2}) {
    Hulls after = made(start);
    if (kind == 0) after.exchange(views[0].far, views[0].near);
    if (kind == 1) after.go_toward(views[1].near);
    if (kind == 2) after.go_away(views[1].far);
    const double reached = distance(after);
    EXPECT_LT(reached, distance(before));
    for (const double share : {0.9, 0.99, 1.01, 1.1}) {
      std::vector<double> a = before.alpha();
      for (std::size_t v = 0; v < a.size(); ++v) a[v] += share * (after.alpha()[v] - a[v]);
      // A step that ended at a face cannot be longer.
      if (share > 1 && std::ranges::any_of(a, [](double each) { return each < 0; })) continue;
      EXPECT_GE(distance(made(a)), reached - 1e-9) << kind << " " << share;
    }
  }
}

TEST(Hulls, ClassesThatOverlapHaveNoMargin) {
  DualQp qp = separable(40, Linear{}, 0, true);
  for (std::size_t v : {3u, 4u}) {
    qp.block[v].sign *= -1;
    qp.A[0][v] *= -1;
  }
  MaxMarginPerceptron options;
  options.stop.seconds = 5;
  EXPECT_NE(solve(qp, options, Threads(1)).solution.ended, Ended::converged);
}

double angle(const DualQp& qp, std::span<const double> a, std::span<const double> b) {
  const auto product = [&](std::span<const double> x, std::span<const double> y) {
    std::vector<double> f(qp.K->size());
    qp.K->multiply(qp.coefficients(x), f, Precision::exact, Threads(1));
    return dot(qp.coefficients(y), f);
  };
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

// In the plane the separating w are an arc, and the Bayes point is in its middle.
TEST(BayesPoint, IsTheMiddleOfAllThatSeparate) {
  const DualQp qp = separable(30, Linear{}, 0, false);
  BayesPoint options;
  options.stop.iterations = 10000;
  const Certified found = solve(qp, options, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::iteration_limit);
  // The ends of the arc are orthogonal to two of the points: those that the ball hits, and it hits
  // both as often and as hard.
  std::vector<double> hit;
  for (std::size_t v = 0; v < qp.size(); ++v)
    hit.push_back(found.solution.a[v] * std::sqrt(qp.K->diagonal()[qp.row[v]]));
  std::ranges::sort(hit, std::greater());
  EXPECT_EQ(hit[2], 0);
  EXPECT_NEAR(hit[0], hit[1], 0.05 * hit[0]);
}

// The mean of separating functions drawn at random, in the five dimensions of five points.
TEST(BayesPoint, IsTheMeanOfDraws) {
  const DualQp qp = separable(5, Rbf{0.3}, 0.05, false);
  BayesPoint options;
  options.stop.iterations = 100000;
  const Certified found = solve(qp, options, Threads(1));
  for (const double each : found.solution.a) EXPECT_GE(each, 0);
  // w = sum b_v s_v x_v with b = L'^-1 z is normal in the span, and separates where L z > 0.
  const std::size_t n = qp.size();
  std::vector<double> Q(n * n), L(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Index which[] = {qp.row[i]};
    qp.K->exact_block(which, 0, n, &Q[i * n], n);
    for (std::size_t j = 0; j < n; ++j) Q[i * n + j] *= qp.block[i].sign * qp.block[j].sign;
    Q[i * n + i] += qp.block[i].curvature;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = Q[i * n + j];
      for (std::size_t k = 0; k < j; ++k) rest -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? std::sqrt(rest) : rest / L[j * n + j];
    }
  Rng rng(1);
  std::vector<double> mean(n, 0.0);  // of z
  for (int draw = 0; draw < 200000; ++draw) {
    std::vector<double> z(n);
    for (double& each : z) each = rng.normal();
    bool separates = true;
    for (std::size_t i = 0; i < n && separates; ++i)
      separates = dot(std::span(L).subspan(i * n, i + 1), std::span(z).first(i + 1)) > 0;
    for (std::size_t i = 0; i < n && separates; ++i) mean[i] += z[i];
  }
  std::vector<double> own(n, 0.0);  // z of the answer: L'a
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) own[j] += L[i * n + j] * found.solution.a[i];
  const double cosine = dot(mean, own) / std::sqrt(dot(mean, mean) * dot(own, own));
  EXPECT_GT(cosine, 0.999);
}

// It separates, has a certificate, and a smaller margin than the widest.
TEST(BayesPoint, IsCertifiedAndNotTheOptimum) {
  const DualQp qp = separable(30, Linear{}, 0, false);
  BayesPoint options;
  options.stop.iterations = 100;
  const Certified found = solve(qp, options, Threads(1));
  const double widest = solve(qp, InteriorPoint{}, Threads(1)).certificate.primal;
  EXPECT_TRUE(std::isfinite(found.certificate.primal));
  EXPECT_GT(found.certificate.primal, widest);
  EXPECT_LT(found.certificate.dual, widest);
  EXPECT_LT(angle(qp, found.solution.a, solve(qp, InteriorPoint{}, Threads(1)).solution.a), 1);
}

TEST(Hulls, RefuseWhatIsNoSeparation) {
  DualQp qp = separable(10, Linear{}, 0, true);
  EXPECT_FALSE(refuses(qp, MaxMarginPerceptron{}).has_value());
  EXPECT_NE(refuses(qp, BayesPoint{})->find("no equality row"), std::string::npos);
  EXPECT_NE(refuses(separable(10, Linear{}, 0, false), BayesPoint{})->find("--max-iterations"),
            std::string::npos);
  MaxMarginPerceptron tight;
  tight.stop.kkt = 1e-9;
  EXPECT_NE(refuses(qp, tight)->find("no further than 1e-6"), std::string::npos);
  qp.A[0][2] *= 2;
  EXPECT_NE(refuses(qp, MaxMarginPerceptron{})->find("that of a bias"), std::string::npos);
  qp.block[2].upper = 1;
  EXPECT_NE(refuses(qp, MaxMarginPerceptron{})->find("--hard-margin"), std::string::npos);
  EXPECT_NE(
      refuses(separable(10, Sigmoid{}, 0, true), MaxMarginPerceptron{})->find("semi-definite"),
      std::string::npos);
}

}  // namespace
}  // namespace maxmargin::hulls_test
