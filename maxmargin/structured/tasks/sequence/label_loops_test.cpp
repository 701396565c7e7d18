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

TEST(LabelLoops, SumsAndChangesAreThoseOfPlainLoops) {
  Rng rng(2);
  for (const std::size_t labels : {2, 16, 26, 40})
    for (std::size_t rows = 0; rows < 14; ++rows) {
      const std::size_t rank = 5, stride = label_stride(labels);
      EXPECT_GE(stride, labels);
      std::vector<float> z(rows * rank), w(rank * stride), sums(rows * stride, NAN),
          change(rows * stride);
      for (auto* each : {&z, &w, &change})
        for (float& value : *each) value = static_cast<float>(rng.normal());
      label_sums(z.data(), rows, rank, w.data(), stride, sums.data());
      std::vector<float> changed = w;
      std::vector<const float*> pointers;
      for (std::size_t r = 0; r < rows; ++r) pointers.push_back(z.data() + r * rank);
      add_label_changes(pointers, rank, change.data(), stride, changed.data());
      for (std::size_t l = 0; l < stride; ++l) {
        for (std::size_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (std::size_t k = 0; k < rank; ++k)
            sum += static_cast<double>(z[r * rank + k]) * static_cast<double>(w[k * stride + l]);
          EXPECT_NEAR(sums[r * stride + l], sum, 1e-5);
        }
        for (std::size_t k = 0; k < rank; ++k) {
          double sum = static_cast<double>(w[k * stride + l]);
          for (std::size_t r = 0; r < rows; ++r)
            sum +=
                static_cast<double>(z[r * rank + k]) * static_cast<double>(change[r * stride + l]);
          EXPECT_NEAR(changed[k * stride + l], sum, 1e-5);
        }
      }
    }
}

}  // namespace
}  // namespace maxmargin::label_loops_test
