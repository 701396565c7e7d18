#include "maxmargin/train/formulate/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/train/formulate/formulate.hpp"

namespace maxmargin::functions_test {
namespace {

/// Columns of values with names, and an example for each row.
struct Made {
  FunctionValues functions;
  std::vector<Example> examples;

  Made(std::vector<std::string> names, const std::vector<std::vector<double>>& rows) {
    functions.names = std::move(names);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      functions.values.insert(functions.values.end(), rows[i].begin(), rows[i].end());
      examples.push_back({static_cast<Index>(i), i % 2 == 0 ? 1.0 : -1.0, 1});
    }
  }

  std::string complaint(const Loss& loss, Bias bias = Bias::unpenalised) const {
    try {
      check_functions(functions, examples, loss, bias);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(FunctionBasis, CoefficientsComeBackWhateverTheScales) {
  Rng rng(1);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 30; ++i) {
    const double x = 10 + rng.uniform();
    rows.push_back({x, 1e200 * x * x, 1e-200 * rng.normal()});
  }
  const Made made({"x", "huge", "tiny"}, rows);
  for (const Bias bias : {Bias::unpenalised, Bias::none}) {
    const FunctionBasis basis(made.functions, made.examples, bias);
    std::vector<double> lambda = {0.5, -2, 1, 3};
    if (bias == Bias::none) lambda.erase(lambda.begin());
    std::vector<double> found = lambda;
    basis.translate(found);
    const std::size_t first = bias == Bias::none ? 0 : 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double by_basis = first == 1 ? lambda[0] : 0, by_functions = first == 1 ? found[0] : 0;
      for (std::size_t r = 0; r < 3; ++r) {
        by_basis += lambda[first + r] * basis.values[r][i];
        by_functions += found[first + r] * rows[i][r];
      }
      EXPECT_NEAR(by_basis, by_functions, 1e-7);
    }
    for (std::size_t r = 0; r < 3; ++r) {
      double square = 0, sum = 0;
      for (const double value : basis.values[r]) {
        square += value * value / 30;
        sum += value / 30;
      }
      EXPECT_NEAR(square, 1, 1e-12);
      if (first == 1) {
        EXPECT_NEAR(sum, 0, 1e-12);
      }
    }
  }
}

TEST(CheckFunctions, NamesWhatDependsOnWhat) {
  std::vector<std::vector<double>> rows;
  Rng rng(2);
  for (int i = 0; i < 20; ++i) {
    const double x = rng.normal(), z = rng.normal();
    rows.push_back({x, z, 3 * x - 0.5 * z, 7, 2 * z + 1, 0});
  }
  const auto pick = [&](std::vector<std::size_t> columns) {
    const char* all[] = {"x", "z", "mix", "seven", "line", "nothing"};
    std::vector<std::string> names;
    std::vector<std::vector<double>> values(rows.size());
    for (const std::size_t c : columns) {
      names.emplace_back(all[c]);
      for (std::size_t i = 0; i < rows.size(); ++i) values[i].push_back(rows[i][c]);
    }
    return Made(names, values);
  };
  EXPECT_EQ(pick({0, 1}).complaint(Hinge{}), "accepted");
  expect_part(pick({0, 1, 2}).complaint(Hinge{}),
              "the function 'mix' depends linearly on 'x' and 'z'");
  expect_part(pick({0, 3}).complaint(Hinge{}), "'seven' depends linearly on the bias in");
  expect_part(pick({1, 4}).complaint(Hinge{}), "'line' depends linearly on the bias and 'z'");
  expect_part(pick({0, 0}).complaint(Hinge{}), "'x' depends linearly on 'x'");
  expect_part(pick({0, 5}).complaint(Hinge{}), "'nothing' is zero in every row");
  // Without a free bias a constant is a function like others.
  EXPECT_EQ(pick({0, 3}).complaint(Hinge{}, Bias::penalised), "accepted");
  EXPECT_EQ(pick({1, 4}).complaint(Hinge{}, Bias::none), "accepted");
}

TEST(CheckFunctions, WantsAsManyRowsAsFunctions) {
  const Made made({"x", "z", "t"}, {{1, 2, 3}, {4, 5, 7}, {0, 1, 0}});
  expect_part(made.complaint(Hinge{}), "3 functions and the bias cannot be told apart in 3 rows");
  EXPECT_EQ(made.complaint(Hinge{}, Bias::none), "accepted");
}

TEST(CheckFunctions, TellsTheLargestFeasibleNu) {
  // Rows of +1 have x = 1, 0.2, of -1 have x = -1, 0.2 in turn: a nu up to 1/2 can balance x.
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({i % 4 == 0 ? 1.0 : i % 4 == 1 ? -1.0 : 0.2});
  const Made made({"x"}, rows);
  EXPECT_EQ(made.complaint(NuMargin{0.49}), "accepted");
  expect_part(made.complaint(NuMargin{0.6}), "nu = 0.6 is infeasible with these functions");
  expect_part(made.complaint(NuMargin{0.6}), "the largest feasible nu is about 0.49999");

  const Made separating({"y"}, {{1}, {-1}, {2}, {-3}, {1}, {-1}});
  expect_part(separating.complaint(NuMargin{0.5}), "separate the classes");

  // Ten rows below zero must weigh as much as some of the thirty above.
  std::vector<std::vector<double>> lopsided;
  for (int i = 0; i < 40; ++i) lopsided.push_back({i < 10 ? -1.0 : 1.0});
  EXPECT_EQ(Made({"x"}, lopsided).complaint(Novelty{0.5}), "accepted");
  expect_part(Made({"x"}, lopsided).complaint(Novelty{0.7}),
              "the largest feasible nu is about 0.5");
  expect_part(Made({"x"}, {{1}, {2}, {3}}).complaint(Novelty{0.5}), "positive in every row");
}

}  // namespace
}  // namespace maxmargin::functions_test
