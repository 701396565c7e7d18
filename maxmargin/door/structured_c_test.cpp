#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "maxmargin/structured.h"
#include "maxmargin/structured/solvers/solve.hpp"
#include "maxmargin/structured/tasks/multiclass/multiclass.hpp"

namespace maxmargin::structured_c_test {
namespace {

/// Rows of three classes, as a program in C would keep them.
struct ThreeClasses {
  std::vector<double> x;  // two numbers a row
  std::vector<std::int32_t> y;
  double poison = 0;  // added to a loss
  std::uint32_t shift = 0;
};

ThreeClasses made_classes() {
  ThreeClasses made;
  for (int i = 0; i < 30; ++i) {
    const double angle = 0.7 * i;
    made.y.push_back(i % 3);
    made.x.push_back(std::cos(angle) + (i % 3 == 0 ? 1.0 : 0.0));
    made.x.push_back(std::sin(angle) + (i % 3 == 1 ? 1.5 : 0.0));
  }
  return made;
}

double class_score(const ThreeClasses& data, std::size_t i, int c, const double* w) {
  return data.x[2 * i] * w[2 * c] + data.x[2 * i + 1] * w[2 * c + 1];
}

maxmargin_oracle table_of(ThreeClasses& data) {
  maxmargin_oracle table{};
  table.self = &data;
  table.examples = data.y.size();
  table.dimensions = 6;
  table.answers_slack = 1;
  table.truth = [](void* self, std::size_t i, std::int32_t* y, std::size_t) -> std::size_t {
    y[0] = static_cast<ThreeClasses*>(self)->y[i];
    return 1;
  };
  table.loss = [](void* self, std::size_t i, const std::int32_t* y, std::size_t) {
    const auto& rows = *static_cast<ThreeClasses*>(self);
    return y[0] == rows.y[i] ? 0.0 : 1.0 + rows.poison;
  };
  table.features = [](void* self, std::size_t i, const std::int32_t* y, std::size_t,
                      std::uint32_t* index, double* value, std::size_t room) -> std::size_t {
    const auto& rows = *static_cast<ThreeClasses*>(self);
    for (std::uint32_t j = 0; j < 2 && j < room; ++j) {
      index[j] = 2 * static_cast<std::uint32_t>(y[0]) + j + rows.shift;
      value[j] = rows.x[2 * i + j];
    }
    return 2;
  };
  table.most_violated = [](void* self, std::size_t i, const double* w, int ask, std::int32_t* y,
                           std::size_t) -> std::size_t {
    const auto& rows = *static_cast<ThreeClasses*>(self);
    const double right = class_score(rows, i, rows.y[i], w);
    double most = -std::numeric_limits<double>::infinity();
    for (int c = 0; c < 3; ++c) {
      const double loss = ask == maxmargin_best || c == rows.y[i] ? 0 : 1;
      const double margin = right - class_score(rows, i, c, w);
      const double s = ask == maxmargin_slack ? loss * (1 - margin) : loss - margin;
      if (s > most) {
        most = s;
        y[0] = c;
      }
    }
    return 1;
  };
  return table;
}

TEST(StructuredC, TrainsTheMachineOfTheSameOracleInCxx) {
  ThreeClasses data = made_classes();
  const maxmargin_oracle table = table_of(data);
  const MulticlassOracle own(Features::dense(2, data.x),
                             std::vector<Index>(data.y.begin(), data.y.end()), 3, {}, 0);
  for (const int rescaling : {0, 1})
    for (const int slack : {0, 1}) {
      maxmargin_structured_options options = maxmargin_structured_defaults();
      options.cost = 20;
      options.relative_gap = 1e-9;
      options.rescaling = rescaling;
      options.slack = slack;
      options.threads = 1;
      std::vector<double> w(6, 7);
      maxmargin_structured_result result;
      char message[200] = "";
      ASSERT_EQ(maxmargin_structured_train(&table, &options, w.data(), &result, message, 200), 0)
          << message;
      EXPECT_EQ(result.converged, 1);
      EXPECT_EQ(result.exactness, maxmargin_exact);
      EXPECT_GT(result.oracle_calls, 30u);
      Stop stop;
      stop.relative_gap = 1e-9;
      const Structured problem{own, 20, rescaling == 1 ? Rescaling::slack : Rescaling::margin,
                               slack == 1 ? Slack::squared : Slack::linear};
      const SolvedStructured solved = solve(problem, BlockPlanes{}, stop, {Threads(1)});
      EXPECT_NEAR(result.primal, solved.certificate.primal, 1e-7 * result.primal);
      for (std::size_t j = 0; j < 6; ++j)
        EXPECT_NEAR(w[j], solved.w.coefficients()[j], 1e-4) << rescaling << slack << j;
    }
}

TEST(StructuredC, NamesTheExampleOfAFaultAndLeavesTheWeightsAlone) {
  const auto refused = [](ThreeClasses data, auto&& change) {
    maxmargin_oracle table = table_of(data);
    maxmargin_structured_options options = maxmargin_structured_defaults();
    change(table, options);
    std::vector<double> w(6, 7);
    char message[300] = "";
    EXPECT_EQ(maxmargin_structured_train(&table, &options, w.data(), nullptr, message, 300), 1);
    EXPECT_EQ(w, std::vector<double>(6, 7));
    return std::string(message);
  };
  const auto nothing = [](auto&, auto&) {};
  ThreeClasses data = made_classes();
  data.poison = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refused(data, nothing).find("example "), std::string::npos);
  data = made_classes();
  data.shift = 100;
  EXPECT_NE(refused(data, nothing).find("beyond its dimensions"), std::string::npos);
  data = made_classes();
  EXPECT_NE(refused(data, [](auto& table, auto&) { table.loss = nullptr; }).find("null"),
            std::string::npos);
  EXPECT_NE(refused(data, [](auto&, auto& options) { options.cost = -1; }).find("C must"),
            std::string::npos);
  EXPECT_NE(refused(data, [](auto& table, auto&) { table.examples = 0; }).find("no examples"),
            std::string::npos);
  EXPECT_FALSE(refused(data, [](auto&, auto& options) { options.solver = "magic"; }).empty());
  EXPECT_EQ(maxmargin_structured_train(nullptr, nullptr, nullptr, nullptr, nullptr, 0), 1);
}

TEST(StructuredC, AsksAgainWhereThereIsNotEnoughRoom) {
  struct Long {
    std::size_t length;
  } data{1000};
  maxmargin_oracle table{};
  table.self = &data;
  table.examples = 2;
  table.dimensions = 1000;
  table.truth = [](void* self, std::size_t, std::int32_t* y, std::size_t room) {
    const std::size_t length = static_cast<Long*>(self)->length;
    for (std::size_t k = 0; k < std::min(room, length); ++k) y[k] = 1;
    return length;
  };
  table.loss = [](void*, std::size_t, const std::int32_t* y, std::size_t length) {
    double wrong = 0;
    for (std::size_t k = 0; k < length; ++k) wrong += y[k] == 1 ? 0 : 1;
    return wrong;
  };
  table.features = [](void*, std::size_t, const std::int32_t* y, std::size_t length,
                      std::uint32_t* index, double* value, std::size_t room) {
    for (std::size_t k = 0; k < std::min(room, length); ++k) {
      index[k] = static_cast<std::uint32_t>(k);
      value[k] = y[k];
    }
    return length;
  };
  table.most_violated = [](void* self, std::size_t, const double* w, int ask, std::int32_t* y,
                           std::size_t room) {
    const std::size_t length = static_cast<Long*>(self)->length;
    for (std::size_t k = 0; k < std::min(room, length); ++k)
      y[k] = w[k] < (ask == maxmargin_best ? 0 : 1) ? 0 : 1;
    return length;
  };
  const maxmargin_structured_options options = maxmargin_structured_defaults();
  std::vector<double> w(1000);
  maxmargin_structured_result result;
  char message[300] = "";
  ASSERT_EQ(maxmargin_structured_train(&table, &options, w.data(), &result, message, 300), 0)
      << message;
  // Each component by itself: min w^2/2 + max(0, 1 - w).
  for (const double each : w) EXPECT_NEAR(each, 1, 0.05);
}

}  // namespace
}  // namespace maxmargin::structured_c_test
