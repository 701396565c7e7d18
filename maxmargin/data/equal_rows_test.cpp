#include "maxmargin/data/equal_rows.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::equal_rows_test {
namespace {

TEST(EqualRows, FirstOfEachKindWhateverTheStorage) {
  Rng rng(1);
  Features dense = Features::dense(3), sparse = Features::sparse(3);
  Features padded = Features::sparse(3);
  std::vector<std::vector<double>> rows;
  std::vector<Index> expected;
  for (Index i = 0; i < 60; ++i) {
    rows.push_back({double(rng.below(2)) - 0.0, rng.below(2) ? 0.1 : -0.0, double(rng.below(3))});
    dense.append(rows.back());
    sparse.append(rows.back());
    // Some rows with their zeros, some without.
    if (rng.below(2) == 0)
      padded.append(rows.back());
    else
      padded.append(std::vector<Index>{0, 1, 2}, rows.back());
    expected.push_back(i);
    for (Index j = i; j-- > 0;)
      if (rows[j] == rows[i]) expected.back() = j;
  }
  EXPECT_EQ(first_equal_rows(dense), expected);
  EXPECT_EQ(first_equal_rows(sparse), expected);
  EXPECT_EQ(first_equal_rows(padded), expected);
}

}  // namespace
}  // namespace maxmargin::equal_rows_test
