#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::label_loops_test {
namespace {

TEST(LabelLoops, HaveTheBitsOfPlainLoopsForAnyNumberOfLabels) {
  Rng rng(1);
  constexpr std::size_t attributes = 9;
  const std::vector<Index> attribute{0, 3, 4, 8, 3};
  const std::vector<float> value{1.5F, -0.3F, 2, 0.7F, 1e-3F};
  for (std::size_t labels = 1; labels < 60; ++labels) {
    std::vector<double> w(std::max(attributes, labels) * labels), from(labels);
    for (double& each : w) each = rng.normal();
    for (double& each : from) each = rng.normal();
    if (labels > 2) from[1] = -std::numeric_limits<double>::infinity();
    for (const bool valued : {false, true}) {
      std::vector<double> plain(labels, 0.0), found(labels, NAN);
      for (std::size_t k = 0; k < attribute.size(); ++k)
        for (std::size_t l = 0; l < labels; ++l) {
          const double product =
              (valued ? static_cast<double>(value[k]) : 1.0) * w[attribute[k] * labels + l];
          plain[l] += product;
        }
      label_scores(w.data(), {attribute.data(), valued ? value.data() : nullptr, attribute.size()},
                   labels, found.data());
      EXPECT_EQ(found, plain) << labels;
    }
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
