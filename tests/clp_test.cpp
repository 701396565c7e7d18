// Clp (Debian's coinor-clp) as an independent witness of the linear-programming machine: the same
// optimum of a program that is written down here once more.
#include <gtest/gtest.h>

#include "maxmargin/train/train.hpp"
#include "tests/libsvm_witness.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::clp_test {
namespace {

constexpr const char* program = "/usr/bin/clp";
constexpr double gamma = 0.7;

double kernel_value(const Rows& x, std::size_t i, std::size_t j) {
  std::vector<double> difference(x.columns, 0.0);
  x.for_each(i, [&](Index feature, double value) { difference[feature] += value; });
  x.for_each(j, [&](Index feature, double value) { difference[feature] -= value; });
  double square = 0;
  for (const double each : difference) square += each * each;
  return std::exp(-gamma * square);
}

/// sign (f(x_row) - target) + xi >= -width, of which xi costs so much.
struct SoftRow {
  std::size_t row;
  double sign, target, width, cost;
};

/// min sum_j (p_j + m_j) + sum cost xi with f = sum_j (p_j - m_j) k(x_j, .) + b, as a free MPS
/// file.
std::string mps_of(const Rows& x, const std::vector<SoftRow>& rows, bool bias) {
  std::ostringstream columns, right;
  const auto entry = [&](const std::string& column, const std::string& row, double value) {
    columns << ' ' << column << ' ' << row << ' ' << shortest(value) << '\n';
  };
  std::string text = "NAME machine FREE\nROWS\n N cost\n";
  for (std::size_t k = 0; k < rows.size(); ++k) text += " G r" + std::to_string(k) + '\n';
  for (std::size_t j = 0; j < x.count; ++j)
    for (const auto& [letter, sign] : {std::pair("p", 1.0), std::pair("m", -1.0)}) {
      const std::string column = letter + std::to_string(j);
      entry(column, "cost", 1);
      for (std::size_t k = 0; k < rows.size(); ++k)
        entry(column, "r" + std::to_string(k),
              sign * rows[k].sign * kernel_value(x, rows[k].row, j));
    }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    entry("x" + std::to_string(k), "cost", rows[k].cost);
    entry("x" + std::to_string(k), "r" + std::to_string(k), 1);
    right << " right r" << k << ' ' << shortest(rows[k].sign * rows[k].target - rows[k].width)
          << '\n';
  }
  for (std::size_t k = 0; bias && k < rows.size(); ++k)
    entry("b", "r" + std::to_string(k), rows[k].sign);
  return text + "COLUMNS\n" + columns.str() + "RHS\n" + right.str() +
         (bias ? "BOUNDS\n FR bound b\n" : "") + "ENDATA\n";
}

void expect_the_same(const Dataset& data, const Task& task, bool bias,
                     const std::vector<SoftRow>& rows) {
  const Folder folder;
  std::ofstream(folder / "machine.mps") << mps_of(data.x, rows, bias);
  const std::string log =
      folder.run("clp machine.mps -primalTolerance 1e-9 -dualTolerance 1e-9 -solve");
  const std::vector<double> theirs = printed_behind(log, "Optimal objective ");
  ASSERT_EQ(theirs.size(), 1u) << log;
  TrainOptions options{.task = task, .kernel = Rbf{gamma}};
  options.l1 = true;
  options.stop = {1e-7, 1e-8};
  const Trained ours = train(made::copy_of(data), options, Threads(1));
  EXPECT_EQ(ours.ended, Ended::converged);
  EXPECT_NEAR(ours.certificate.primal, theirs[0], 2e-8 * theirs[0]);
  // Ten digits are printed.
  EXPECT_LE(ours.certificate.dual, theirs[0] * (1 + 1e-9));
}

TEST(Clp, FindsTheSameLinearProgrammingMachine) {
  ASSERT_TRUE(std::filesystem::exists(program))
      << "scripts/install-dependencies brings " << program;
  const Dataset classes = made::classification(70, 3, made::Storage::dense_doubles, 41);
  const Dataset numbers = made::regression(50, 2, made::Storage::dense_doubles, 42);
  for (const bool bias : {true, false})
    for (const double cost : {0.3, 5.0}) {
      SCOPED_TRACE("C = " + shortest(cost));
      const Bias kind = bias ? Bias::unpenalised : Bias::none;
      std::vector<SoftRow> margins, tube, quantile;
      for (std::size_t i = 0; i < classes.rows(); ++i) {
        const double y = classes.y[i];
        margins.push_back({i, y, y, 0, cost});
      }
      for (std::size_t i = 0; i < numbers.rows(); ++i)
        for (const double sign : {1.0, -1.0}) {
          tube.push_back({i, sign, numbers.y[i], 0.1, cost});
          quantile.push_back({i, sign, numbers.y[i], 0, cost * (sign > 0 ? 0.8 : 0.2)});
        }
      expect_the_same(classes, Svc{.cost = cost, .bias = kind}, bias, margins);
      expect_the_same(numbers, Svr{.cost = cost, .loss = EpsilonInsensitive{0.1}, .bias = kind},
                      bias, tube);
      expect_the_same(numbers, Svr{.cost = cost, .loss = Pinball{0.8}, .bias = kind}, bias,
                      quantile);
    }
}

}  // namespace
}  // namespace maxmargin::clp_test
