#include "maxmargin/data/renumbering.hpp"

#include <gtest/gtest.h>

namespace maxmargin::renumbering_test {
namespace {

Features rows_with(const std::vector<std::vector<Index>>& features, std::size_t columns) {
  Features rows = Features::sparse(columns);
  for (const auto& row : features) {
    std::vector<double> values;
    for (const Index feature : row) values.push_back(feature % 7 + 0.5);
    rows.append(row, values);
  }
  return rows;
}

std::vector<std::pair<Index, double>> row_of(const Rows& rows, std::size_t i) {
  std::vector<std::pair<Index, double>> row;
  rows.for_each(i, [&](Index feature, double value) { row.emplace_back(feature, value); });
  return row;
}

TEST(Renumbering, FewGapsStay) {
  EXPECT_TRUE(Renumbering(rows_with({{0, 5}, {999999}}, 1000000)).none());
  EXPECT_TRUE(Renumbering(Features::dense(3)).none());
}

TEST(Renumbering, GapsAreClosedAndComeBack) {
  const std::size_t columns = 4000000001u;
  const Features rows = rows_with({{3, 4000000000u}, {}, {3, 70000000}}, columns);
  const Renumbering numbers(rows);
  ASSERT_EQ(numbers.size(), 3u);
  const Features closed = numbers.applied(rows);
  EXPECT_EQ(closed.columns(), 3u);
  EXPECT_EQ(row_of(closed, 0)[1].first, 2u);
  EXPECT_EQ(row_of(closed, 2)[1].first, 1u);
  const Features again = numbers.undone(closed, columns);
  EXPECT_EQ(again.columns(), columns);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(row_of(again, i), row_of(rows, i));
}

TEST(Renumbering, RowsWithoutValuesHaveNothingButGaps) {
  const Renumbering numbers(rows_with({{}, {}}, 100000000));
  EXPECT_FALSE(numbers.none());
  EXPECT_EQ(numbers.applied(rows_with({{}}, 100000000)).columns(), 0u);
}

// They count in distances: each keeps a number of its own.
TEST(Renumbering, UnknownFeaturesComeBehind) {
  const std::size_t columns = 100000000;
  const Renumbering numbers(rows_with({{5, 60000000}}, columns));
  const Features other = numbers.applied(rows_with({{1, 5, 9}, {9, 60000000, 70000000}}, columns));
  EXPECT_EQ(other.columns(), 5u);
  using Row = std::vector<std::pair<Index, double>>;
  EXPECT_EQ(row_of(other, 0), (Row{{0, 5.5}, {2, 1.5}, {3, 2.5}}));
  EXPECT_EQ(row_of(other, 1)[0].first, 1u);
  EXPECT_EQ(row_of(other, 1)[2].first, 4u);
}

}  // namespace
}  // namespace maxmargin::renumbering_test
