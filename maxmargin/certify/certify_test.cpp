#include "maxmargin/certify/known.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "maxmargin/train/formulate/formulate.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::certify_test {
namespace {

/// A small machine, two of its points near to one another.
struct Made {
  DualQp qp;
  std::vector<double> a, b;

  explicit Made(std::size_t count = 40) {
    Dataset data = made::classification(count, 3, made::Storage::dense_doubles, 1);
    std::vector<Example> examples;
    for (std::size_t i = 0; i < data.rows(); ++i)
      examples.push_back({static_cast<Index>(i), data.y[i], 2});
    Examples rows;
    rows.x = std::make_shared<const Features>(std::move(data.x));
    rows.first_equal = first_equal_rows(*rows.x);
    qp = formulate(rows, examples, Hinge{}, Rbf{1}).qp;
    Rng rng(2);
    for (std::size_t v = 0; v < qp.size(); ++v) a.push_back(rng.uniform(0, 2));
    b = a;
    for (std::size_t v = 0; v < 5; ++v) b[3 * v] = 0;
  }

  Certified certified(const std::vector<double>& at, Precision precision,
                      const Known* known = nullptr) const {
    Solution solution;
    solution.a = at;
    solution.lambda = {0};
    return certify_from(known, qp, std::move(solution), precision, Threads(1));
  }
};

TEST(Certify, FromAKnownFIsTheSameWithinItsRounding) {
  const Made made;
  const Certified before = made.certified(made.a, Precision::fast);
  const Known known{made.a, before.f, before.error};
  const Certified plain = made.certified(made.b, Precision::fast);
  const Certified near = made.certified(made.b, Precision::fast, &known);
  EXPECT_EQ(near.solution.a, made.b);
  EXPECT_GE(near.error.all, known.error.all);
  EXPECT_LE(near.error.all, 3 * plain.error.all);
  for (std::size_t p = 0; p < plain.f.size(); ++p)
    EXPECT_NEAR(near.f[p], plain.f[p], near.error.all + plain.error.all);
  EXPECT_NEAR(near.certificate.gap, plain.certificate.gap, near.charge + plain.charge);
}

TEST(Certify, AnExactCertificateTakesNoFFromOthers) {
  const Made made;
  Known wrong{made.a, made.certified(made.a, Precision::fast).f, 0};
  for (double& f : wrong.f) f += 1;
  EXPECT_EQ(made.certified(made.b, Precision::exact, &wrong).f,
            made.certified(made.b, Precision::exact).f);
}

TEST(Certify, AnExactCertificateIsMovedFromOneInDoubleNearby) {
  const Made made;
  const Certified before = made.certified(made.a, Precision::exact);
  Known known{made.a, before.f, before.error, {}, true};
  const Certified plain = made.certified(made.b, Precision::exact);
  const Certified near = made.certified(made.b, Precision::exact, &known);
  EXPECT_GT(near.error.all, known.error.all);
  EXPECT_LE(near.error.all, 3 * plain.error.all);
  for (std::size_t p = 0; p < plain.f.size(); ++p)
    EXPECT_NEAR(near.f[p], plain.f[p], near.error.all + plain.error.all);
  EXPECT_NEAR(near.certificate.gap, plain.certificate.gap, near.charge + plain.charge);
  // A point far from the known one has its product computed from scratch.
  std::vector<double> far = made.a;
  for (double& each : far) each = 2 - each;
  for (double& f : known.f) f += 1;
  EXPECT_NE(made.certified(made.b, Precision::exact, &known).f, plain.f);
  EXPECT_EQ(made.certified(far, Precision::exact, &known).f,
            made.certified(far, Precision::exact).f);
}

TEST(Certify, FinerIsAsGoodAsInDoubleThroughout) {
  const Made made(900);
  Stop stop;
  stop.relative_gap = 1e-9;
  const Certified solved =
      solve(made.qp, named_solver(Smo::name, made.qp, stop, std::size_t{1} << 28), Threads(2));
  const Certified rough = made.certified(solved.solution.a, Precision::fast);
  const Certified exact = made.certified(solved.solution.a, Precision::exact);
  const Certified finer = certify_finer(made.qp, rough, Threads(2));
  ASSERT_FALSE(finer.error.of_point.empty());  // not every point is at stake
  EXPECT_LT(finer.certificate.gap, 0.1 * rough.certificate.gap);
  EXPECT_NEAR(finer.certificate.gap, exact.certificate.gap, 2 * exact.charge + 1e-12);
  EXPECT_LE(finer.certificate.dual, exact.certificate.primal);
  EXPECT_GE(finer.certificate.primal, exact.certificate.dual);
  for (std::size_t p = 0; p < exact.f.size(); ++p)
    EXPECT_LE(std::abs(finer.f[p] - exact.f[p]), finer.error.at(p) + exact.error.at(p)) << p;
}

}  // namespace
}  // namespace maxmargin::certify_test
