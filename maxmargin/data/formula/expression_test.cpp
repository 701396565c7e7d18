#include "maxmargin/data/formula/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin::expression_test {
namespace {

const std::vector<std::string> names = {"age", "floor area", "x1", "e"};

double at(const std::string& text, const std::vector<double>& row,
          const std::vector<std::string>& columns = {}) {
  const Expression expression(text, columns, row.size());
  std::vector<double> values;
  for (const Index feature : expression.features()) values.push_back(row[feature]);
  return expression.evaluate(1, values).at(0);
}

TEST(Expression, IsWorkedOutAsWritten) {
  const std::vector<double> row = {0.5, -2, 3};
  EXPECT_DOUBLE_EQ(at("x1 + x2 * x3", row), -5.5);
  EXPECT_DOUBLE_EQ(at("(x1 + x2) * x3", row), -4.5);
  EXPECT_DOUBLE_EQ(at("-x3^2", row), -9);
  EXPECT_DOUBLE_EQ(at("2^3^2", row), 512);
  EXPECT_DOUBLE_EQ(at("x3 - 1 - 1", row), 1);
  EXPECT_DOUBLE_EQ(at("1e2 / .5", row), 200);
  EXPECT_DOUBLE_EQ(at("sin(x1)", row), std::sin(0.5));
  EXPECT_DOUBLE_EQ(at("sinc(2*pi*(x3-5))", row),
                   std::sin(-4 * std::numbers::pi) / (-4 * std::numbers::pi));
  EXPECT_DOUBLE_EQ(at("sinc(0)", row), 1);
  EXPECT_DOUBLE_EQ(at("max(x1, min(x2, x3))", row), 0.5);
  EXPECT_DOUBLE_EQ(at("log(e) + exp(0)", row), 2);
  EXPECT_DOUBLE_EQ(at("(x1 > 0) - (x2 >= 0) + (x3 == 3) + (x3 != 3)", row), 2);
  EXPECT_DOUBLE_EQ(at("sign(x2) * abs(x2) + floor(x1) + sqrt(x3 + 1)", row), 0);
  EXPECT_TRUE(std::isnan(at("log(x2)", row)));
  EXPECT_DOUBLE_EQ(at("7", row), 7);
}

TEST(Expression, KnowsFeaturesByNumberAndByName) {
  const std::vector<double> row = {1, 20, 300, 4000};
  EXPECT_EQ(at("age", row, names), 1);
  EXPECT_EQ(at("[floor area] / 2", row, names), 10);
  EXPECT_EQ(at("x1", row, names), 300);  // a name goes before a number
  EXPECT_EQ(at("x2", row, names), 20);
  EXPECT_EQ(at("e", row, names), 4000);  // and before a constant
  const Expression both("x2 * age + x2", names, 4);
  EXPECT_EQ(both.features(), (std::vector<Index>{0, 1}));
  EXPECT_EQ(both.text(), "x2 * age + x2");
  EXPECT_EQ(both.evaluate(2, std::vector<double>{1, 2, 3, 4}), (std::vector<double>{4, 16}));
}

/// The column that an error names, and its text.
std::pair<std::size_t, std::string> mistake(const std::string& text) {
  try {
    Expression(text, names, 4);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return {error.place().column, error.what()};
  }
  return {0, "accepted"};
}

TEST(Expression, MistakesHaveAColumn) {
  const auto expect = [](const std::string& text, std::size_t column, const std::string& part) {
    const auto [where, what] = mistake(text);
    EXPECT_EQ(where, column) << text << ": " << what;
    EXPECT_NE(what.find(part), std::string::npos) << what;
    EXPECT_NE(what.find("column " + std::to_string(column)), std::string::npos) << what;
  };
  expect("sin(x9)", 5, "no feature 'x9'");
  expect("1 + size", 5, "no feature 'size'");
  expect("age + snn(age)", 7, "no function 'snn'");
  expect("[floor erea]", 1, "no feature 'floor erea'");
  expect("[floor area", 1, "not closed");
  expect("sin(age", 4, "not closed");
  expect("age)", 4, "not opened");
  expect("age = 3", 5, "'=' is not an operator");
  expect("age ; 3", 5, "';' is not an operator");
  expect("age, x2", 4, "comma");
  expect("2age", 2, "a number goes on");
  expect("1.2.3", 4, "a number goes on");
  expect("age age", 5, "missing");
  expect("age +", 6, "end");
  expect("* age", 1, "operator");
  expect("sin()", 5, "too few");
  expect("sin(age, x2)", 12, "too many");
  expect("x0", 1, "no feature 'x0'");
}

TEST(Expression, NamesWhatThereIs) {
  const auto message = [](const std::vector<std::string>& called) {
    try {
      Expression("size", called, 2);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message({"age", "x2"}).find("there are x1 to x2, also called age"), std::string::npos);
  EXPECT_EQ(message({"x1", "x2"}).find("also called"), std::string::npos);
}

TEST(Expression, HasABoundedSize) {
  EXPECT_NE(mistake("").second.find("empty"), std::string::npos);
  EXPECT_NE(mistake("  ").second.find("empty"), std::string::npos);
  EXPECT_NE(mistake(std::string(1001, '1')).second.find("1001 characters"), std::string::npos);
  EXPECT_NE(mistake(std::string(51, '(') + "1" + std::string(51, ')')).second.find("nested"),
            std::string::npos);
  EXPECT_EQ(mistake(std::string(50, '(') + "1" + std::string(50, ')')).second, "accepted");
}

// Whatever the text is: a function or an Error.
TEST(Expression, SurvivesAnyText) {
  Rng rng(1);
  const std::string pieces[] = {"x1", "age",          "(",   ")", "+",  "-", "*",  "/",  "^",
                                ",",  "sin",          "max", "1", ".5", "<", ">=", "==", "!=",
                                " ",  "[floor area]", "pi",  "e"};
  int accepted = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (std::size_t n = 1 + rng.below(12); n > 0; --n)
      text += rng.below(30) == 0 ? std::string(1, static_cast<char>(rng.below(256)))
                                 : pieces[rng.below(std::size(pieces))];
    try {
      const Expression expression(text, names, 4);
      const std::vector<double> values(expression.features().size(), 0.5);
      EXPECT_EQ(expression.evaluate(1, values).size(), 1u);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace maxmargin::expression_test
