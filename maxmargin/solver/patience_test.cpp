// A product of a matrix that would never be done: a certificate that is not waited for.
#include "maxmargin/solver/patience.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::patience_test {
namespace {

class Endless : public DenseQuadratic {
 public:
  using DenseQuadratic::DenseQuadratic;
  void multiply(std::span<const double>, std::span<double>, Precision,
                const Threads& threads) const override {
    constexpr int enough = 60000;
    for (int piece = 0; piece < enough; ++piece)
      threads.run(1,
                  [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    throw std::runtime_error("nobody has ended this product");
  }
};

/// Novelty detection: its variables do not begin at 0.
DualQp endless_problem() {
  constexpr std::size_t size = 20;
  std::vector<double> values(size * size, 0.5);
  for (std::size_t p = 0; p < size; ++p) values[p * size + p] = 1;
  DualQp qp;
  qp.K = std::make_shared<Endless>(size, std::move(values));
  for (std::size_t p = 0; p < size; ++p) {
    qp.row.push_back(static_cast<Index>(p));
    qp.block.push_back({1, 0, 0, 0.1, 0});
  }
  qp.A.emplace_back(size, 1.0);
  qp.d.push_back(1);
  return qp;
}

void expect_nothing_claimed(const DualQp& qp, const Certified& found) {
  EXPECT_EQ(found.certificate.primal, infinity);
  EXPECT_EQ(found.certificate.dual, -infinity);
  EXPECT_EQ(found.certificate.gap, infinity);
  EXPECT_EQ(found.obstacle, no_time_to_certify);
  ASSERT_EQ(found.solution.a.size(), qp.size());
  ASSERT_EQ(found.solution.lambda.size(), 1u);
  double sum = 0;
  for (const double each : found.solution.a) {
    EXPECT_GE(each, 0);
    EXPECT_LE(each, 0.1);
    sum += each;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Patience, ASignalEndsProductsOfTheStartAndOfTheCertificate) {
  const DualQp qp = endless_problem();
  const Threads threads(2);
  for (int asked : {0, 3}) {
    const Context context{
        threads, [&](const Progress&) { return asked-- > 0 ? Control::proceed : Control::cancel; }};
    const Certified found = solve(qp, Smo{}, context);
    EXPECT_EQ(found.solution.ended, Ended::cancelled);
    expect_nothing_claimed(qp, found);
  }
}

TEST(Patience, SoDoesALimitOfTime) {
  const DualQp qp = endless_problem();
  Smo options;
  options.stop.seconds = 0.1;
  const Certified found = solve(qp, options, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::time_limit);
  expect_nothing_claimed(qp, found);
}

}  // namespace
}  // namespace maxmargin::patience_test
