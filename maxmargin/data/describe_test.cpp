#include "maxmargin/data/describe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::describe_test {
namespace {

bool advises(const Description& told, const std::string& text) {
  return std::any_of(told.advice.begin(), told.advice.end(), [&](const std::string& sentence) {
    return sentence.find(text) != std::string::npos;
  });
}

Dataset example(bool sparse) {
  Dataset data;
  data.x = no_rows(sparse, 4);
  const double rows[][4] = {{1, 1e6, 5, 0}, {2, 3e6, 5, 0}, {1, 1e6, 5, 0},
                            {2, 3e6, 5, 0}, {3, 0, 5, 0},   {0.1, 0, 5, 0}};
  for (const auto& row : rows) data.x.append(row);
  data.y = {1, 1, 1, 2, 2, 2};
  return data;
}

TEST(Describe, CountsWhatIsThere) {
  for (const bool sparse : {false, true}) {
    const Description told = describe(example(sparse));
    EXPECT_EQ(told.rows, 6u);
    EXPECT_EQ(told.features, 4u);
    EXPECT_EQ(told.nonzeros, 16u);
    EXPECT_EQ(told.stored, sparse ? 16u : 24u);
    EXPECT_DOUBLE_EQ(told.density, 16.0 / 24);
    EXPECT_EQ(told.sparse, sparse);
    EXPECT_FALSE(told.floats);
    EXPECT_TRUE(told.labelled);
    EXPECT_TRUE(told.numeric_labels);
    ASSERT_EQ(told.classes.size(), 2u);
    EXPECT_EQ(told.classes[0], (std::pair<std::string, std::size_t>("1", 3)));
    EXPECT_EQ(told.label_low, 1);
    EXPECT_EQ(told.label_high, 2);
    EXPECT_DOUBLE_EQ(told.label_mean, 1.5);
    EXPECT_DOUBLE_EQ(told.label_deviation, 0.5);
    EXPECT_EQ(told.constant_features, sparse ? std::vector<Index>{2} : (std::vector<Index>{2, 3}));
    EXPECT_EQ(told.absent_features, sparse ? 1u : 0u);
    EXPECT_EQ(told.smallest_scale_feature, 0u);
    EXPECT_EQ(told.largest_scale_feature, 1u);
    EXPECT_EQ(told.duplicate_rows, 1u);
    EXPECT_EQ(told.contradictory_rows, 2u);
    EXPECT_EQ(told.empty_rows, 0u);
    EXPECT_TRUE(advises(told, "10^6 (feature 2 against feature 1)"));
    EXPECT_TRUE(advises(told, "--scale"));
    EXPECT_TRUE(advises(told, "constant (feature 3"));
    EXPECT_TRUE(advises(told, "2 rows have the same features"));
  }
}

TEST(Describe, NamesFeatures) {
  Dataset data = example(false);
  data.feature_names = {"age", "income", "planet", "none"};
  EXPECT_TRUE(advises(describe(data), "feature 3, planet"));
}

TEST(Describe, WarnsAboutClasses) {
  Dataset data = example(false);
  data.y.assign(6, 3);
  EXPECT_TRUE(advises(describe(data), "only one class (3)"));
  data.words = {"cat", "dog"};
  data.y = {0, 0, 0, 0, 0, 1};
  EXPECT_TRUE(advises(describe(data), "class dog has only 1 row"));
  data.y.clear();
  data.words.clear();
  const Description told = describe(data);
  EXPECT_FALSE(told.labelled);
  EXPECT_EQ(told.duplicate_rows, 2u);
  EXPECT_EQ(told.contradictory_rows, 0u);
}

TEST(Describe, CleanDataGetsNoAdvice) {
  Rng rng(1);
  Dataset data;
  data.x = Features::dense(3);
  for (int i = 0; i < 40; ++i) {
    data.x.append(std::vector<double>{rng.normal(), rng.normal(), rng.normal()});
    data.y.push_back(i % 2);
  }
  EXPECT_TRUE(describe(data).advice.empty());
}

// Against a double loop over all pairs of rows.
TEST(Describe, RepeatedRowsAsCountedByHand) {
  Rng rng(2);
  for (int round = 0; round < 20; ++round) {
    Dataset data;
    data.x = no_rows(round % 2 == 0, 3);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < 40; ++i) {
      rows.push_back({double(rng.below(3)), double(rng.below(2)), double(rng.below(2))});
      data.x.append(rows.back());
      data.y.push_back(double(rng.below(2)));
    }
    std::size_t duplicates = 0, contradictory = 0, empty = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      bool earlier = false, other = false;
      for (std::size_t j = 0; j < rows.size(); ++j) {
        if (rows[i] != rows[j]) continue;
        earlier |= j < i && data.y[i] == data.y[j];
        other |= data.y[i] != data.y[j];
      }
      duplicates += earlier;
      contradictory += other;
      empty += rows[i] == std::vector<double>(3, 0);
    }
    const Description told = describe(data);
    EXPECT_EQ(told.duplicate_rows, duplicates);
    EXPECT_EQ(told.contradictory_rows, contradictory);
    EXPECT_EQ(told.empty_rows, empty);
  }
}

TEST(Describe, HugeFeatureNumbersTakeNoMemory) {
  Dataset data;
  data.x = Features::sparse(4294967295u);
  data.x.append(std::vector<Index>{4294967294u}, std::vector<double>{1});
  data.x.append(std::vector<Index>{0, 4294967294u}, std::vector<double>{2, 3});
  const Description told = describe(data);
  EXPECT_EQ(told.features, 4294967295u);
  EXPECT_EQ(told.absent_features, 4294967293u);
  EXPECT_EQ(told.largest_scale_feature, 0u);
}

TEST(Describe, NothingIsDescribedAsNothing) {
  const Description told = describe(Dataset{});
  EXPECT_EQ(told.rows, 0u);
  EXPECT_EQ(told.stored, 0u);
}

}  // namespace
}  // namespace maxmargin::describe_test
