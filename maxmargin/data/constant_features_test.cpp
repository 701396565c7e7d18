#include "maxmargin/data/constant_features.hpp"

#include <gtest/gtest.h>

namespace maxmargin::constant_features_test {
namespace {

TEST(ConstantFeatures, AreThoseWithOneValueInAllChosenRows) {
  const std::vector<double> values{1, 0, 2, 5,  //
                                   1, 3, 2, 5,  //
                                   1, 0, 2, 4,  //
                                   0, 0, 2, 5};
  const Features dense = Features::dense(4, values);
  Features sparse = Features::sparse(4);
  for (std::size_t i = 0; i < 4; ++i) sparse.append(std::span(values).subspan(4 * i, 4));
  const Features* const both[] = {&dense, &sparse};
  for (const Features* rows : both) {
    const auto found = [&](std::vector<Index> which) { return constant_features(*rows, which); };
    EXPECT_EQ(found({0, 1, 2, 3}), (std::vector<Index>{2}));
    EXPECT_EQ(found({0, 1, 2}), (std::vector<Index>{0, 2}));
    EXPECT_EQ(found({1, 3}), (std::vector<Index>{2, 3}));
    EXPECT_EQ(found({0}), (std::vector<Index>{0, 2, 3}));
    EXPECT_TRUE(found({}).empty());
  }
}

}  // namespace
}  // namespace maxmargin::constant_features_test
