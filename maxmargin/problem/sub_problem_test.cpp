#include "maxmargin/problem/sub_problem.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::sub_problem_test {
namespace {

/// Two variables a point, one equality row.
DualQp made(std::size_t points) {
  Rng rng(8);
  Features rows = Features::dense(3);
  DualQp qp;
  qp.A.resize(1);
  qp.d = {0.25};
  for (std::size_t i = 0; i < points; ++i) {
    rows.append(std::vector<double>{rng.normal(), rng.normal(), rng.normal()});
    for (const double sign : {1.0, -1.0}) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back({sign, rng.normal(), 0, 2, i % 3 == 0 ? 0.5 : 0});
      qp.A[0].push_back(sign);
    }
  }
  qp.K = make_kernel_quadratic(Rbf{0.5}, std::make_shared<const Features>(std::move(rows)));
  return qp;
}

double objective(const DualQp& qp, const std::vector<double>& a) {
  const std::vector<double> beta = qp.coefficients(a);
  std::vector<double> f(qp.K->size());
  qp.K->multiply(beta, f, Precision::exact, Threads(1));
  double sum = 0;
  for (std::size_t p = 0; p < f.size(); ++p) sum += beta[p] * f[p] / 2;
  for (std::size_t v = 0; v < a.size(); ++v)
    sum += qp.block[v].linear * a[v] + qp.block[v].curvature * a[v] * a[v] / 2;
  return sum;
}

TEST(SubProblem, ChangesOfSomeVariablesChangeItsObjectiveAsThatOfTheWhole) {
  const DualQp qp = made(40);
  Rng rng(9);
  std::vector<double> a(qp.size());
  for (double& value : a) value = 2 * rng.uniform();
  std::vector<double> f(qp.K->size());
  qp.K->multiply(qp.coefficients(a), f, Precision::fast, Threads(1));
  const std::vector<Index> some{70, 3, 2, 31, 33, 79, 12};
  const SubProblem part = sub_problem(qp, some, a, f, Threads(1));
  EXPECT_EQ(part.points, (std::vector<Index>{1, 6, 15, 16, 35, 39}));
  ASSERT_EQ(part.qp.size(), some.size());
  const std::vector<double> before = part.part_of(a);
  std::vector<double> after = before, whole = a;
  for (double& value : after) value = 2 * rng.uniform();
  part.put_back(after, whole);
  EXPECT_NEAR(objective(part.qp, after) - objective(part.qp, before),
              objective(qp, whole) - objective(qp, a), 1e-5);
  const auto residual = [](const DualQp& of, const std::vector<double>& at) {
    double sum = -of.d[0];
    for (std::size_t v = 0; v < at.size(); ++v) sum += of.A[0][v] * at[v];
    return sum;
  };
  EXPECT_NEAR(residual(part.qp, after), residual(qp, whole), 1e-12);
}

TEST(SubProblem, OfVariablesWhoseOthersAreZeroIsThatPartOfTheProblem) {
  const DualQp qp = made(10);
  const std::vector<Index> some{4, 5, 9, 0};
  const SubProblem part = sub_problem(qp, some);
  EXPECT_EQ(part.qp.d, qp.d);
  std::vector<double> small{0.5, 1, 0.25, 2}, a(qp.size(), 0.0);
  part.put_back(small, a);
  EXPECT_EQ(part.part_of(a), small);
  EXPECT_NEAR(objective(part.qp, small), objective(qp, a), 1e-12);
}

}  // namespace
}  // namespace maxmargin::sub_problem_test
