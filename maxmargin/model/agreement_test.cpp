#include "maxmargin/model/agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::agreement_test {
namespace {

struct Numbers {
  std::vector<double> p, y, weight;

  double mean(auto&& value) const {
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      sum += weight[i] * value(i);
      weights += weight[i];
    }
    return sum / weights;
  }
};

// By the definitions, in two passes; a weight is that many rows; far from zero nothing is lost.
TEST(Agreement, IsThatOfTheDefinitions) {
  for (const double offset : {0.0, 1e7}) {
    Rng rng(5);
    Numbers of;
    Agreement agreement, repeated;
    for (int i = 0; i < 200; ++i) {
      of.y.push_back(offset + rng.normal());
      of.p.push_back(of.y.back() + 0.5 * rng.normal());
      of.weight.push_back(i % 4);
      agreement.add(of.p.back(), of.y.back(), of.weight.back());
      for (int k = 0; k < i % 4; ++k) repeated.add(of.p.back(), of.y.back());
    }
    const double mean_p = of.mean([&](std::size_t i) { return of.p[i]; });
    const double mean_y = of.mean([&](std::size_t i) { return of.y[i]; });
    const double pp =
        of.mean([&](std::size_t i) { return (of.p[i] - mean_p) * (of.p[i] - mean_p); });
    const double yy =
        of.mean([&](std::size_t i) { return (of.y[i] - mean_y) * (of.y[i] - mean_y); });
    const double py =
        of.mean([&](std::size_t i) { return (of.p[i] - mean_p) * (of.y[i] - mean_y); });
    const auto error = [&](std::size_t i) { return of.p[i] - of.y[i]; };
    const double squares = of.mean([&](std::size_t i) { return error(i) * error(i); });
    const double absolutes = of.mean([&](std::size_t i) { return std::abs(error(i)); });
    EXPECT_NEAR(agreement.mean_squared_error(), squares, 1e-12);
    EXPECT_NEAR(agreement.mean_absolute_error(), absolutes, 1e-12);
    EXPECT_NEAR(agreement.squared_correlation(), py * py / (pp * yy), 1e-7);
    EXPECT_NEAR(repeated.mean_squared_error(), squares, 1e-12);
    EXPECT_NEAR(repeated.squared_correlation(), agreement.squared_correlation(), 1e-7);
  }
}

TEST(Agreement, IsUnknownOfNothingAndOfWhatDoesNotVary) {
  Agreement agreement;
  EXPECT_TRUE(std::isnan(agreement.mean_squared_error()));
  agreement.add(1, 2, 0);
  EXPECT_TRUE(std::isnan(agreement.mean_absolute_error()));
  agreement.add(1, 2);
  agreement.add(1, 3);
  EXPECT_EQ(agreement.mean_absolute_error(), 1.5);
  EXPECT_TRUE(std::isnan(agreement.squared_correlation()));
}

}  // namespace
}  // namespace maxmargin::agreement_test
