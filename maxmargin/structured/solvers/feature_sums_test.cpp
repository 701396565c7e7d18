#include "maxmargin/structured/solvers/feature_sums.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::feature_sums_test {
namespace {

TEST(FeatureSums, HaveTheBitsOfAVectorOfAllDimensions) {
  Rng rng(4);
  FeatureSums sums;
  for (const std::size_t dimensions : {1, 3, 40, 100000})
    for (std::size_t size = 0; size < 70; ++size) {
      JointFeatures features, other;
      std::vector<double> dense(dimensions, 0.0);
      for (std::size_t k = 0; k < size; ++k) {
        features.add(rng.below(dimensions), rng.normal());
        other.add(rng.below(dimensions), rng.normal());
        dense[features.index[k]] += features.value[k];
      }
      sums.assign(features);
      EXPECT_EQ(sums.dot(features), features.dot(dense)) << dimensions << ' ' << size;
      EXPECT_EQ(sums.dot(other), other.dot(dense)) << dimensions << ' ' << size;
    }
}

}  // namespace
}  // namespace maxmargin::feature_sums_test
