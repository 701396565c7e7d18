#include "maxmargin/data/rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::rows_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix as_matrix(const Rows& rows) {
  Matrix matrix(rows.count, std::vector<double>(rows.columns, 0));
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double value) { matrix[i][feature] = value; });
  return matrix;
}

Matrix random_matrix(Rng& rng, std::size_t count, std::size_t columns, bool floats) {
  Matrix matrix(count, std::vector<double>(columns, 0));
  for (auto& row : matrix)
    for (double& value : row)
      if (rng.below(3) == 0) {
        value = rng.normal();
        if (floats) value = static_cast<float>(value);
      }
  return matrix;
}

Features stored(const Matrix& matrix, std::size_t columns, bool sparse) {
  Features features = no_rows(sparse, columns);
  for (const auto& row : matrix) features.append(row);
  return features;
}

TEST(Features, KeepsRowsWhateverTheStorage) {
  Rng rng(1);
  for (const bool sparse : {false, true})
    for (const bool floats : {false, true}) {
      const Matrix matrix = random_matrix(rng, 20, 7, floats);
      const Features features = stored(matrix, 7, sparse);
      EXPECT_EQ(as_matrix(features), matrix);
      EXPECT_EQ(features.view().sparse(), sparse);
      EXPECT_EQ(features.view().floats != nullptr, floats);
      if (!sparse) {
        EXPECT_EQ(features.view().stored(), 140u);
      }
    }
}

TEST(Features, BecomesDoubleAtTheFirstValueThatIsNoFloat) {
  Features features = Features::dense(2);
  features.append(std::vector<double>{0.5, 16777216});
  EXPECT_NE(features.view().floats, nullptr);
  features.append(std::vector<double>{0.1, 16777217});
  ASSERT_NE(features.view().doubles, nullptr);
  EXPECT_EQ(as_matrix(features), (Matrix{{0.5, 16777216}, {0.1, 16777217}}));
}

TEST(Features, AppendsPartsInOrderForAnyNumberOfThreads) {
  Rng rng(2);
  for (const bool sparse : {false, true}) {
    const Matrix first = random_matrix(rng, 5, 6, true), second = random_matrix(rng, 9, 6, false);
    Matrix all = first;
    all.insert(all.end(), second.begin(), second.end());
    const Features a = stored(first, 6, sparse), b = stored(second, 6, sparse);
    for (const int count : {1, 3}) {
      const Threads threads(count);
      const std::vector<Rows> parts{a.view(), b.view().slice(0, 4), b.view().slice(4, 4),
                                    b.view().slice(4, 9)};
      Features joined = no_rows(sparse, 6);
      joined.append(parts, threads);
      EXPECT_EQ(as_matrix(joined), all);
    }
  }
}

TEST(Features, AppendsChosenRows) {
  Rng rng(3);
  for (const bool sparse : {false, true}) {
    const Matrix matrix = random_matrix(rng, 10, 4, false);
    const Features all = stored(matrix, 4, sparse);
    const std::vector<Index> which{3, 4, 5, 5, 0, 9};
    Features chosen = no_rows(sparse, 4);
    chosen.append(all, which);
    Matrix expected;
    for (const Index i : which) expected.push_back(matrix[i]);
    EXPECT_EQ(as_matrix(chosen), expected);
  }
}

TEST(Features, CompactCopiesAreDenseWhereThatTakesLessMemory) {
  for (const double density : {0.1, 0.9})
    for (const double unit : {0.25, 0.1}) {  // exact as floats, and not
      Rng rng(5);
      Features sparse = Features::sparse(9);
      for (int i = 0; i < 600; ++i) {
        std::vector<double> row(9, 0.0);
        for (double& value : row)
          if (rng.uniform() < density) value = unit * static_cast<double>(1 + rng.below(9));
        sparse.append(row);
      }
      const std::vector<Index> which{5, 3, 4, 599, 0, 5};
      const Threads three(3);
      const Features copy = Features::compact(sparse, which, three);
      EXPECT_EQ(copy.is_sparse(), density < 0.5);
      EXPECT_EQ(copy.view().floats != nullptr, unit == 0.25);
      ASSERT_EQ(copy.count(), which.size());
      for (std::size_t k = 0; k < which.size(); ++k) {
        std::vector<double> expected(9, 0.0), found(9, 0.0);
        sparse.view().for_each(which[k], [&](Index j, double value) { expected[j] = value; });
        copy.view().for_each(k, [&](Index j, double value) { found[j] = value; });
        EXPECT_EQ(found, expected);
      }
    }
}

TEST(Features, SparsePairsFillDenseRowsWithZeros) {
  Features dense = Features::dense(4), sparse = Features::sparse(4);
  for (Features* features : {&dense, &sparse}) {
    features->append(std::vector<Index>{1, 3}, std::vector<double>{5, 6});
    features->append(std::vector<Index>{}, std::vector<double>{});
    EXPECT_EQ(as_matrix(*features), (Matrix{{0, 5, 0, 6}, {0, 0, 0, 0}}));
  }
}

TEST(Features, TransformsAndWidens) {
  Features features = Features::sparse(3);
  features.append(std::vector<double>{1, 0, 2});
  features.transform([](Index feature, double value) { return value * (feature + 1); });
  features.widen(5);
  EXPECT_EQ(as_matrix(features), (Matrix{{1, 0, 6, 0, 0}}));
}

// Offsets are 64 bits wide: a slice far into a matrix of more than 2^32 values must not wrap. The
// values are never touched, so address arithmetic is all there is.
TEST(Features, SlicesLieBeyondFourGigavalues) {
  Rows dense;
  dense.count = 100000;
  dense.columns = 100000;
  const float base = 0;
  dense.floats = &base;
  EXPECT_EQ(dense.stored(), 10000000000u);
  const std::uint64_t start[] = {0, 5000000000u, 9000000000u};
  Rows sparse;
  sparse.count = 2;
  sparse.columns = 10;
  sparse.floats = &base;
  sparse.start = start;
  EXPECT_EQ(sparse.stored(), 9000000000u);
  EXPECT_EQ(sparse.slice(1, 2).stored(), 4000000000u);
}

TEST(Features, RefusesBadRows) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Features features = Features::sparse(3);
  using Indices = std::vector<Index>;
  using Values = std::vector<double>;
  EXPECT_THROW(features.append(Indices{1}, Values{1, 2}), Error);
  EXPECT_THROW(features.append(Indices{3}, Values{1}), Error);
  EXPECT_THROW(features.append(Indices{1, 1}, Values{1, 2}), Error);
  EXPECT_THROW(features.append(Indices{2, 1}, Values{1, 2}), Error);
  EXPECT_THROW(features.append(Indices{1}, Values{nan}), Error);
  EXPECT_THROW(features.append(Values{1, 2}), Error);
  EXPECT_THROW(features.append(Values{1, infinity, 2}), Error);
  EXPECT_EQ(features.count(), 0u);

  features.append(Values{1, 2, 3});
  Features dense = Features::dense(3), wide = Features::dense(4);
  wide.append(Values{1, 2, 3, 4});
  EXPECT_THROW(dense.append(features.view()), Error);
  EXPECT_THROW(dense.append(wide.view()), Error);
  EXPECT_THROW(dense.widen(4), Error);
  EXPECT_THROW(Features::dense(2, Values{1, 2, 3}), Error);
}

}  // namespace
}  // namespace maxmargin::rows_test
