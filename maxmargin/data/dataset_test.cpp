#include "maxmargin/data/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::dataset_test {
namespace {

Dataset example(bool sparse, double tiny) {
  Dataset data;
  data.x = no_rows(sparse, 3);
  data.x.append(std::vector<double>{1, 0, 2});
  data.x.append(std::vector<double>{0, -0.0, 0});
  data.x.append(std::vector<double>{0.5, tiny, 0});
  data.y = {1, -1, 1};
  return data;
}

TEST(Dataset, ShortestTextReadsBack) {
  EXPECT_EQ(shortest(1), "1");
  EXPECT_EQ(shortest(-1), "-1");
  EXPECT_EQ(shortest(0.5), "0.5");
  EXPECT_EQ(shortest(-0.0), "0");
  EXPECT_EQ(shortest(0.1), "0.1");
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = rng.normal() * std::pow(10, rng.uniform(-200, 200));
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
  }
}

TEST(Dataset, NumericClassesAreSortedByValue) {
  Dataset data = example(false, 1);
  data.y = {10, -2, 9};
  const Classes classes = classes_of(data);
  EXPECT_EQ(classes.values, (std::vector<double>{-2, 9, 10}));
  EXPECT_EQ(classes.names, (std::vector<std::string>{"-2", "9", "10"}));
  EXPECT_EQ(classes.of_row, (std::vector<Index>{2, 0, 1}));
}

TEST(Dataset, WordClassesAreSortedAndOnlyThoseThatOccur) {
  Dataset data = example(false, 1);
  data.words = {"zebra", "unused", "ant"};
  data.y = {0, 2, 0};
  const Classes classes = classes_of(data);
  EXPECT_EQ(classes.names, (std::vector<std::string>{"ant", "zebra"}));
  EXPECT_EQ(classes.values, (std::vector<double>{2, 0}));
  EXPECT_EQ(classes.of_row, (std::vector<Index>{1, 0, 1}));
}

TEST(Dataset, ManyDistinctLabelsAreFoundOnce) {
  Dataset data;
  for (int i = 0; i < 30000; ++i) data.y.push_back((i * 7919) % 5000);
  const Classes classes = classes_of(data);
  ASSERT_EQ(classes.values.size(), 5000u);
  for (std::size_t i = 0; i < data.y.size(); ++i)
    ASSERT_EQ(classes.values[classes.of_row[i]], data.y[i]);
}

TEST(Dataset, BadLabelsAreRefused) {
  Dataset data = example(false, 1);
  data.y[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(classes_of(data), Error);
  data.words = {"a"};
  data.y = {0, 0, 1};
  EXPECT_THROW(classes_of(data), Error);
}

TEST(Dataset, HashKnowsContentAndNotStorage) {
  const std::string hash = content_hash(example(false, 0.25));
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(content_hash(example(true, 0.25)), hash);

  // The same floats, stored as doubles for the sake of a row that is left out below.
  Dataset doubles = example(false, 0.1);
  Dataset promoted;
  promoted.x = Features::dense(3);
  promoted.x.append(std::vector<double>{0.1, 0, 0});
  Features rest = Features::dense(3);
  const Dataset floats = example(false, 0.25);
  promoted.x.append(floats.x.view());
  ASSERT_NE(promoted.x.view().doubles, nullptr);
  rest.append(promoted.x.view().slice(1, 4));
  Dataset same;
  same.x = std::move(rest);
  same.y = floats.y;
  EXPECT_EQ(content_hash(same), hash);

  EXPECT_NE(content_hash(doubles), hash);
  Dataset other = example(false, 0.25);
  other.y[2] = -1;
  EXPECT_NE(content_hash(other), hash);
  other = example(false, 0.25);
  other.weight = {1, 1, 1};
  EXPECT_EQ(content_hash(other), hash);
  other.weight = {1, 2, 1};
  EXPECT_NE(content_hash(other), hash);
}

TEST(Dataset, HashKnowsWordsAndNotTheirNumbers) {
  Dataset a = example(false, 1), b = example(true, 1);
  a.words = {"no", "yes"};
  a.y = {0, 1, 0};
  b.words = {"yes", "no"};
  b.y = {1, 0, 1};
  EXPECT_EQ(content_hash(a), content_hash(b));
  b.words = {"yes", "nO"};
  EXPECT_NE(content_hash(a), content_hash(b));
}

// Moving a value to the next row or column is another data set.
TEST(Dataset, HashKnowsPositions) {
  const auto hash = [](std::vector<double> values) {
    Dataset data;
    data.x = Features::dense(2, values);
    return content_hash(data);
  };
  const std::string first = hash({1, 0, 0, 0});
  EXPECT_NE(hash({0, 1, 0, 0}), first);
  EXPECT_NE(hash({0, 0, 1, 0}), first);
}

}  // namespace
}  // namespace maxmargin::dataset_test
