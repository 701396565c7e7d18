#include "maxmargin/model/parametric.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"

namespace maxmargin::parametric_test {
namespace {

using Kind = ParametricFunction::Kind;

const std::vector<std::string> names = {"age", "floor area", "price"};
const std::vector<std::vector<double>> table = {{1, 0, 3}, {0, 5, 0}, {2, 4, 6}};

Features rows_of(bool sparse) {
  Features x = no_rows(sparse, 3);
  for (const auto& row : table) x.append(row);
  return x;
}

TEST(ParametricFunctions, AreEvaluatedForDenseAndSparseRows) {
  const std::vector<ParametricFunction> list = {
      {Kind::expression, "price - 2*age", {}},
      {Kind::column, "floor area", {}},
      {Kind::own, "sum", [](std::span<const double> x) { return x[0] + x[1] + x[2]; }}};
  const ParametricFunctions functions(list, names, 3);
  EXPECT_EQ(functions.size(), 3u);
  EXPECT_TRUE(functions.hides());
  for (const bool sparse : {false, true}) {
    const Features x = rows_of(sparse);
    const std::vector<double> values = functions.values(x, Threads(2));
    for (std::size_t i = 0; i < table.size(); ++i) {
      EXPECT_EQ(values[3 * i], table[i][2] - 2 * table[i][0]);
      EXPECT_EQ(values[3 * i + 1], table[i][1]);
      EXPECT_EQ(values[3 * i + 2], table[i][0] + table[i][1] + table[i][2]);
    }
    const Features visible = functions.visible(x, x.columns());
    EXPECT_EQ(visible.columns(), 3u);
    EXPECT_EQ(visible.is_sparse(), sparse);
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::vector<double> row(3, 0.0);
      visible.view().for_each(i, [&](Index feature, double value) { row[feature] = value; });
      EXPECT_EQ(row, (std::vector<double>{table[i][0], 0, table[i][2]}));
    }
  }
}

TEST(ParametricFunctions, RowsMayHaveFewerFeatures) {
  const ParametricFunctions functions(
      std::vector<ParametricFunction>{{Kind::expression, "x3 + 1", {}}, {Kind::column, "3", {}}},
      {}, 3);
  Features narrow = Features::sparse(1);
  narrow.append(std::vector<double>{4});
  EXPECT_EQ(functions.values(narrow, Threads(1)), (std::vector<double>{1, 0}));
}

std::string complaint(const ParametricFunction& function, std::size_t first_row = 0) {
  try {
    const ParametricFunctions made(std::span(&function, 1), names, 3);
    made.values(rows_of(false), Threads(1), first_row);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParametricFunctions, SayWhatIsWrong) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(complaint({Kind::expression, "log(age)", {}}), "'log(age)' is -inf in row 2");
  expect(complaint({Kind::expression, "log(age)", {}}, 1000), "in row 1002");
  expect(complaint({Kind::expression, "sqrt(age - 1)", {}}), "nan in row 2");
  expect(complaint({Kind::column, "size", {}}), "there is no feature 'size'");
  expect(complaint({Kind::column, "4", {}}), "from 1 to 3");
  expect(complaint({Kind::column, "", {}}), "there is no feature ''");
  expect(complaint({Kind::expression, "agee", {}}), "column 1");
  expect(complaint({Kind::own, "mine", {}}), "a model file cannot hold");
}

}  // namespace
}  // namespace maxmargin::parametric_test
