#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::label_loops_test {
namespace {

TEST(LabelLoops, HaveTheBitsOfAPlainLoopForAnyNumberOfLabels) {
  Rng rng(1);
  for (std::size_t labels = 1; labels < 60; ++labels) {
    std::vector<double> w(labels * labels), from(labels);
    for (double& each : w) each = rng.normal();
    for (double& each : from) each = rng.normal();
    if (labels > 2) from[1] = -std::numeric_limits<double>::infinity();
    std::vector<double> plain(labels, -std::numeric_limits<double>::infinity()), found(labels, NAN);
    for (std::size_t k = 0; k < labels; ++k)
      for (std::size_t l = 0; l < labels; ++l)
        plain[l] = std::max(plain[l], from[k] + w[k * labels + l]);
    best_before(from.data(), w.data(), labels, found.data());
    EXPECT_EQ(found, plain) << labels;
  }
}

}  // namespace
}  // namespace maxmargin::label_loops_test
