// Problems without a margin, or with hardly any curvature: the primal-dual method has to end by
// itself, and to say how.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::no_margin_test {
namespace {

struct Sample {
  const char* name;
  std::size_t columns;
  std::vector<double> x, y;  // y = 0: one class
};

std::size_t rows_of(const Sample& sample) { return sample.y.size(); }

/// nu-SVC, or one-class, with a linear kernel, as docs/nu_svc.md and docs/one_class.md state them.
DualQp nu_machine(const Sample& sample, double nu) {
  DualQp qp;
  const bool two_sides = sample.y[0] != 0;
  const double total = nu * static_cast<double>(rows_of(sample));
  for (std::size_t i = 0; i < rows_of(sample); ++i) {
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({two_sides ? sample.y[i] : 1, 0, 0, 1, 0});
  }
  for (const double sign : {1.0, -1.0}) {
    if (sign < 0 && !two_sides) break;
    auto& row = qp.A.emplace_back();
    for (const Block& block : qp.block) row.push_back(block.sign == sign ? sign : 0);
    qp.d.push_back(sign * total / (two_sides ? 2 : 1));
  }
  qp.K = make_kernel_quadratic(
      Linear{}, std::make_shared<const Features>(Features::dense(sample.columns, sample.x)));
  return qp;
}

Sample made(const char* name, std::size_t rows, std::size_t columns, bool two_sides,
            double (*value)(Rng&, std::size_t row, double y)) {
  Rng rng(5);
  Sample sample{name, columns, {}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    sample.y.push_back(!two_sides ? 0 : i % 2 == 0 ? 1 : -1);
    for (std::size_t j = 0; j < columns; ++j) sample.x.push_back(value(rng, i, sample.y.back()));
  }
  return sample;
}

/// In each of them the best |w| is zero, but for large nu.
std::vector<Sample> samples_without_a_margin() {
  std::vector<Sample> all;
  all.push_back(made("no signal", 60, 2, true,
                     [](Rng& rng, std::size_t, double) { return rng.uniform(-1, 1); }));
  all.push_back(made("overlapping classes", 80, 3, true,
                     [](Rng& rng, std::size_t, double y) { return 0.1 * y + rng.normal(); }));
  all.push_back(
      made("constant features", 20, 2, true, [](Rng&, std::size_t, double) { return 1.0; }));
  all.push_back(made("rows of zeros", 20, 1, true, [](Rng&, std::size_t, double) { return 0.0; }));
  all.push_back(made("large numbers", 40, 2, true,
                     [](Rng& rng, std::size_t, double) { return 1e4 * rng.normal(); }));
  all.push_back(
      made("one class of zeros", 20, 2, false, [](Rng&, std::size_t, double) { return 0.0; }));
  all.push_back(made("one class, half of it zeros", 40, 2, false,
                     [](Rng& rng, std::size_t i, double) { return i % 2 ? 0.0 : rng.normal(); }));
  all.push_back(made("one class around the origin", 60, 2, false,
                     [](Rng& rng, std::size_t, double) { return rng.normal(); }));
  Sample twins{"the same rows in both classes", 3, {}, {}};
  Rng rng(6);
  for (int i = 0; i < 25; ++i) {
    const double x[] = {rng.normal(), rng.normal(), rng.normal()};
    for (const double y : {1.0, -1.0}) {
      twins.y.push_back(y);
      twins.x.insert(twins.x.end(), std::begin(x), std::end(x));
    }
  }
  all.push_back(std::move(twins));
  return all;
}

TEST(NoMargin, TheRunEndsAndSaysSo) {
  for (const Sample& sample : samples_without_a_margin())
    for (const double nu : {0.1, 0.5, 0.9})
      for (const int set : {256, 5}) {
        SCOPED_TRACE(testing::Message() << sample.name << ", nu " << nu << ", sets of " << set);
        const DualQp qp = nu_machine(sample, nu);
        PrimalDual options;
        options.working_set = set;
        options.stop.iterations = 3'000'000;  // not to be met: a test has to end too
        const Certified found = solve(qp, options, Threads(1));
        EXPECT_TRUE(found.solution.ended == Ended::unbounded ||
                    found.solution.ended == Ended::converged)
            << to_string(found.solution.ended);
        // |w|^2 / 2 is what pairs find, to the rounding of float values; a
        // run that says there is no margin is right.
        double largest = 0;
        for (const double value : qp.K->diagonal()) largest = std::max(largest, value);
        const double rows = static_cast<double>(rows_of(sample)), rounding = 1e-6 * largest * rows;
        const double least = -solve(qp, Smo{}, Threads(1)).certificate.dual;
        EXPECT_NEAR(-found.certificate.dual, least, rounding + 1e-3 * least);
        if (found.solution.ended == Ended::unbounded) {
          EXPECT_LE(least, rounding);
        }
        EXPECT_LE(found.certificate.equality_residual, 1e-9 * rows);
        EXPECT_LE(found.certificate.bound_residual, 0);
      }
}

// The margin is small, and there is one.
TEST(NoMargin, ASmallMarginIsFound) {
  Sample sample{"a small margin", 2, {}, {}};
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    const double y = i % 2 ? 1 : -1;
    sample.y.push_back(y);
    sample.x.push_back(0.02 * y);
    sample.x.push_back(rng.normal());
  }
  const DualQp qp = nu_machine(sample, 0.5);
  const Certified found = solve(qp, PrimalDual{}, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::converged);
  // All coefficients of both sides pull along the first axis: w_1 = 0.02 times their sum.
  EXPECT_NEAR(-found.certificate.dual, 0.5 * std::pow(0.02 * 30, 2), 1e-3);
}

}  // namespace
}  // namespace maxmargin::no_margin_test
