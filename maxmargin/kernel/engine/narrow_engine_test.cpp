#include "maxmargin/kernel/engine/narrow_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/locality.hpp"
#include "maxmargin/kernel/engine/panel/panel_boxes.hpp"

namespace maxmargin::narrow_engine_test {
namespace {

/// Points around many centres, far from each other for a narrow kernel; some share a centre with
/// the next, some lie in between.
Features clusters(std::size_t rows, std::size_t columns, bool sparse, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> centres(20 * columns);
  for (double& value : centres) value = std::floor(3 * rng.uniform());
  Features features = no_rows(sparse, columns);
  std::vector<double> point(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const double* centre = centres.data() + rng.below(20) * columns;
    for (std::size_t j = 0; j < columns; ++j)
      point[j] = centre[j] == 0 && sparse ? 0 : centre[j] + 0.2 * rng.uniform();
    features.append(point);
  }
  return features;
}

TEST(NarrowEngine, ValuesAreThoseOfThePlainDefinition) {
  for (const bool sparse : {false, true})
    for (const double gamma : {8.0, 40.0}) {
      const Kernel kernel = Rbf{gamma};
      const Features whole = clusters(500, 9, sparse, 1);
      std::vector<Index> all(whole.count());
      std::iota(all.begin(), all.end(), Index{0});
      const std::vector<Index> order = neighbours_together(whole, all);
      ASSERT_NE(order, all);
      Features columns = no_rows(sparse, 9);
      columns.append(whole.view(), order);
      const auto engine = make_engine(kernel, columns);
      const std::vector<Index> which{0, 1, 63, 64, 200, 333, 499};
      const std::size_t begin = 17, count = 470;
      std::vector<float> out(which.size() * count, -1.0f);
      engine->block(columns, which, begin, count, out.data(), count);
      std::size_t zeros = 0, values = 0;
      std::vector<double> sum(count, 0.0), product(count, 0.0);
      for (std::size_t r = 0; r < which.size(); ++r)
        for (std::size_t c = 0; c < count; ++c) {
          const double want = naive_value(kernel, columns, which[r], columns, begin + c);
          const double got = static_cast<double>(out[r * count + c]);
          ASSERT_NEAR(got, want, 1e-6 * want + negligible_value);
          sum[c] += got * static_cast<double>(r + 1);
          zeros += got == 0;
          values += want > negligible_value;
        }
      EXPECT_GT(zeros, which.size() * count / 3);
      EXPECT_GT(values, which.size() * 5);
      std::vector<double> coefficients(which.size());
      std::iota(coefficients.begin(), coefficients.end(), 1.0);
      engine->add_product(columns, which, coefficients, begin, count, product.data());
      for (std::size_t c = 0; c < count; ++c) ASSERT_NEAR(product[c], sum[c], 1e-12);
    }
}

TEST(NarrowEngine, FewerColumnsHaveTheSameValues) {
  const Kernel kernel = Rbf{20};
  const Features rows = clusters(300, 7, false, 2);
  const auto engine = make_engine(kernel, rows);
  std::vector<Index> some;
  for (Index i = 0; i < 300; i += 2) some.push_back(i);
  Features chosen = Features::dense(7);
  chosen.append(rows.view(), some);
  std::vector<float> whole(some.size() * 300), part(some.size() * some.size());
  engine->block(rows, some, 0, 300, whole.data(), 300);
  for (const auto& smaller : {engine->for_columns(chosen, some), engine->for_block(rows, some)}) {
    smaller->block(rows, some, 0, some.size(), part.data(), some.size());
    for (std::size_t r = 0; r < some.size(); ++r)
      for (std::size_t c = 0; c < some.size(); ++c)
        // A block may be left out in one and not in the other.
        ASSERT_NEAR(part[r * some.size() + c], whole[r * 300 + some[c]], negligible_value);
  }
}

TEST(NarrowEngine, WideKernelsLeaveTheOrderAlone) {
  const Features rows = clusters(300, 7, false, 3);
  std::vector<Index> all(300);
  std::iota(all.begin(), all.end(), Index{0});
  EXPECT_FALSE(are_mostly_far(Rbf{0.1}, rows));
  EXPECT_FALSE(are_mostly_far(Linear{}, rows));
  EXPECT_TRUE(are_mostly_far(Rbf{50}, rows));
  std::vector<Index> moved = neighbours_together(rows, all);
  std::sort(moved.begin(), moved.end());
  EXPECT_EQ(moved, all);
}

TEST(PanelBoxes, NearRowsAreNeverLeftOut) {
  Rng rng(4);
  constexpr std::size_t slots = 21, panels = 20;
  PanelBoxes boxes(panels, slots);
  const auto random_row = [&](double middle) {
    AlignedVector<float> row(boxes.stride(), 0.0f);
    for (std::size_t j = 0; j < slots; ++j) row[j] = static_cast<float>(middle + rng.normal());
    return row;
  };
  std::vector<std::vector<AlignedVector<float>>> columns(panels);
  for (std::size_t p = 0; p < panels; ++p)
    for (int k = 0; k < 5; ++k) {
      columns[p].push_back(random_row(static_cast<double>(p % 4)));
      boxes.add(p, columns[p].back().data());
    }
  const std::vector<Index> only{0};
  std::size_t left_out = 0;
  for (int round = 0; round < 100; ++round) {
    const AlignedVector<float> row = random_row(4 * rng.uniform());
    const double limit = 60 * rng.uniform();
    for (std::size_t p = 0; p < panels; ++p) {
      const bool near = !boxes.near_panel(p, row.data(), only, limit).empty();
      left_out += !near;
      if (near) {
        EXPECT_FALSE(boxes.near_group(p, row.data(), only, limit).empty());
        continue;
      }
      for (const auto& column : columns[p]) {
        double distance = 0;
        for (std::size_t j = 0; j < slots; ++j)
          distance += std::pow(static_cast<double>(row[j]) - static_cast<double>(column[j]), 2);
        EXPECT_GE(distance, limit);
      }
    }
  }
  EXPECT_GT(left_out, 100u);
}

}  // namespace
}  // namespace maxmargin::narrow_engine_test
