#include "maxmargin/data/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::scaling_test {
namespace {

constexpr std::size_t plenty = std::size_t{1} << 30;

Features random_features(std::size_t count, bool sparse) {
  Rng rng(5);
  Features features = no_rows(sparse, 4);
  for (std::size_t i = 0; i < count; ++i)
    features.append(std::vector<double>{rng.normal() * 100 + 7, rng.below(2) ? rng.normal() : 0, 3,
                                        rng.below(3) ? 0 : rng.uniform(0, 1e-5)});
  return features;
}

std::vector<double> column(const Rows& rows, Index feature) {
  std::vector<double> values(rows.count, 0);
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index j, double value) {
      if (j == feature) values[i] = value;
    });
  return values;
}

TEST(Scaling, EachKindReachesWhatItPromises) {
  for (const bool sparse : {false, true})
    for (const auto kind :
         {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum}) {
      Features features = random_features(50, sparse);
      const Scaling scaling = learn_scaling(features, kind, plenty);
      apply(scaling, features);
      EXPECT_EQ(features.is_sparse(), sparse && kind == ScalingKind::maximum);
      for (const Index j : {0u, 1u, 3u}) {
        const auto values = column(features, j);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        double mean = 0, squares = 0;
        for (const double value : values) mean += value / 50;
        for (const double value : values) squares += (value - mean) * (value - mean) / 50;
        if (kind == ScalingKind::range) {
          EXPECT_NEAR(*low, -1, 1e-12);
          EXPECT_NEAR(*high, 1, 1e-12);
        } else if (kind == ScalingKind::unit) {
          EXPECT_NEAR(*low, 0, 1e-12);
          EXPECT_NEAR(*high, 1, 1e-12);
        } else if (kind == ScalingKind::deviation) {
          EXPECT_NEAR(mean, 0, 1e-12);
          EXPECT_NEAR(squares, 1, 1e-12);
        } else {
          EXPECT_NEAR(std::max(-*low, *high), 1, 1e-12);
        }
      }
      EXPECT_EQ(column(features, 2), std::vector<double>(50, 0)) << "a constant feature becomes 0";
    }
}

TEST(Scaling, SparseAndDenseLearnTheSame) {
  for (const auto kind :
       {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum}) {
    const Scaling a = learn_scaling(random_features(30, false), kind, plenty);
    const Scaling b = learn_scaling(random_features(30, true), kind, plenty);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(a.offset[j], b.offset[j], 1e-12 * std::abs(a.offset[j]));
      EXPECT_NEAR(a.factor[j], b.factor[j], 1e-12 * std::abs(a.factor[j]));
    }
  }
}

TEST(Scaling, AppliesToOtherRowsAsLearned) {
  const Features learned = Features::dense(2, std::vector<double>{0, 10, 4, 30});
  const Scaling scaling = learn_scaling(learned, ScalingKind::unit, plenty);
  Features other = Features::sparse(1);
  other.append(std::vector<double>{8});
  apply(scaling, other);  // the second feature is absent, so 0, which lies below its range
  EXPECT_EQ(column(other, 0)[0], 2);
  EXPECT_EQ(column(other, 1)[0], -0.5);
}

TEST(Scaling, ExtremeValuesStayFinite) {
  const double large = std::numeric_limits<double>::max();
  const double small = std::numeric_limits<double>::denorm_min();
  for (const auto kind :
       {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum}) {
    Features features = Features::dense(2, std::vector<double>{large, small, -large, 0});
    const Scaling scaling = learn_scaling(features, kind, plenty);
    apply(scaling, features);
    for (const double value : column(features, 0)) EXPECT_LE(std::abs(value), 1 + 1e-12);
    for (const double value : column(features, 1)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Scaling, SparseRowsThatWouldFillUpAreRefused) {
  Features features = Features::sparse(1000000);
  features.append(std::vector<Index>{5}, std::vector<double>{1});
  features.append(std::vector<Index>{7}, std::vector<double>{2});
  const std::size_t most = 16000000;
  EXPECT_NO_THROW(learn_scaling(features, ScalingKind::maximum, most));
  features.append(std::vector<Index>{9}, std::vector<double>{2});
  try {
    learn_scaling(features, ScalingKind::range, most);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("maximum"), std::string::npos) << error.what();
  }
}

TEST(Scaling, HugeFeatureNumbersTakeNoMemory) {
  Features features = Features::sparse(4294967295u);
  features.append(std::vector<Index>{4294967294u}, std::vector<double>{1});
  features.append(std::vector<Index>{}, std::vector<double>{});
  const Scaling scaling = learn_scaling(features, ScalingKind::maximum, 1 << 10);
  EXPECT_EQ(scaling.feature, std::vector<Index>{4294967294u});
  EXPECT_EQ(scaling.factor, std::vector<double>{1});
}

TEST(Scaling, RefusesOtherFeatures) {
  const Scaling scaling = learn_scaling(random_features(5, false), ScalingKind::unit, plenty);
  Features wide = Features::sparse(5), narrow = Features::dense(3);
  EXPECT_THROW(apply(scaling, wide), Error);
  EXPECT_THROW(apply(scaling, narrow), Error);
}

TEST(Scaling, NamesRoundTrip) {
  for (const auto kind :
       {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum})
    EXPECT_EQ(scaling_kind(to_string(kind)), kind);
  EXPECT_FALSE(scaling_kind("ranges").has_value());
}

/// The same rows twice: with features next to each other, and with the last of them far away.
struct NearAndFar {
  static constexpr Index last = 4000000000u;
  Features near = random_features(30, true);
  Features far = Features::sparse(std::size_t{last} + 1);

  NearAndFar() { moved_to(far, near); }
  static void moved_to(Features& apart, const Rows& rows) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::vector<Index> features;
      std::vector<double> values;
      rows.for_each(i, [&](Index feature, double value) {
        features.push_back(feature == 3 ? last : feature);
        values.push_back(value);
      });
      apart.append(features, values);
    }
  }
};

TEST(Scaling, FarFeaturesAreListedAndScaledAsNearOnes) {
  for (const auto kind :
       {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum}) {
    NearAndFar rows;
    const Scaling near = learn_scaling(rows.near, kind, plenty);
    const Scaling far = learn_scaling(rows.far, kind, 1 << 20);
    EXPECT_FALSE(near.lists_features());
    EXPECT_EQ(far.feature, (std::vector<Index>{0, 1, 2, NearAndFar::last}));
    EXPECT_EQ(far.offset, near.offset);
    EXPECT_EQ(far.factor, near.factor);
    apply(near, rows.near);
    apply(far, rows.far);
    EXPECT_TRUE(rows.far.is_sparse());
    EXPECT_EQ(rows.far.columns(), std::size_t{NearAndFar::last} + 1);
    for (const Index j : {0u, 1u, 2u}) EXPECT_EQ(column(rows.far, j), column(rows.near, j));
    EXPECT_EQ(column(rows.far, NearAndFar::last), column(rows.near, 3));
  }
}

TEST(Scaling, FeaturesThatAListDoesNotHaveAreZero) {
  const Scaling scaling = learn_scaling(NearAndFar().far, ScalingKind::range, plenty);
  Features other = Features::sparse(100);
  other.append(std::vector<Index>{0, 50}, std::vector<double>{scaling.offset[0], 7});
  apply(scaling, other);
  EXPECT_EQ(column(other, 0)[0], 0);
  EXPECT_EQ(column(other, 50)[0], 0);
  EXPECT_EQ(column(other, NearAndFar::last)[0], -scaling.offset[3] * scaling.factor[3]);
}

TEST(Scaling, RowsWithoutValuesAreConstant) {
  Features none = Features::sparse(100000000);
  none.append(std::vector<Index>{}, std::vector<double>{});
  const Scaling scaling = learn_scaling(none, ScalingKind::range, plenty);
  EXPECT_EQ(scaling.feature, std::vector<Index>{0});
  EXPECT_EQ(scaling.factor, std::vector<double>{0});
}

}  // namespace
}  // namespace maxmargin::scaling_test
