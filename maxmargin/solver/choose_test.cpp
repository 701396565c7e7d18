#include <gtest/gtest.h>

#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::choose_test {
namespace {

/// A matrix that is only asked for its shape.
class Shape : public Quadratic {
 public:
  Shape(std::size_t points, std::size_t columns, Definite definite)
      : diagonal_(points, 1.0), columns_(columns), definite_(definite) {}
  std::size_t size() const override { return diagonal_.size(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    return {.definite = definite_,
            .deviation = float_rounding,
            .fast_error = 0,
            .exact_error = 0,
            .value_cost = columns_ < size() ? 0.1 * static_cast<double>(columns_) : 1,
            .bytes = 0,
            .columns = columns_};
  }
  MatrixCapabilities can() const override { return {}; }
  void rows(std::span<const Index>, std::size_t, std::size_t, std::span<float* const>,
            const Threads&) const override {}
  void exact_block(std::span<const Index>, std::size_t, std::size_t, double*,
                   std::size_t) const override {}
  void multiply(std::span<const double>, std::span<double>, Precision,
                const Threads&) const override {}
  /// Groups of equal points, as many as there are columns; or every point on its own.
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    const std::size_t groups = groups_ > 0 ? groups_ : size();
    std::vector<double> values;
    for (const Index i : points)
      for (const Index j : points) values.push_back(i % groups == j % groups ? 1 : 0);
    return std::make_shared<DenseQuadratic>(points.size(), std::move(values));
  }

  std::size_t groups_ = 0;

 private:
  std::vector<double> diagonal_;
  std::size_t columns_;
  Definite definite_;
};

enum class Rows { none, bias, other };
enum class Cost { corners, squared, entropy };

DualQp problem(std::size_t points, std::size_t columns, Rows rows, Cost cost = Cost::corners,
               Definite definite = Definite::yes) {
  DualQp qp;
  qp.K = std::make_shared<Shape>(points, columns, definite);
  std::vector<double> entries;
  for (std::size_t i = 0; i < points; ++i) {
    Block block{i % 2 == 0 ? 1.0 : -1.0, -1, 0, cost == Cost::squared ? infinity : 1,
                cost == Cost::squared ? 0.5 : 0};
    if (cost == Cost::entropy) block.entropy = Entropy::logistic;
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back(block);
    entries.push_back(rows == Rows::bias ? block.sign : static_cast<double>(i) + 1);
  }
  if (rows != Rows::none) {
    qp.A.push_back(std::move(entries));
    qp.d.push_back(0);
  }
  return qp;
}

constexpr std::size_t plenty = std::size_t{1} << 40;

Stop to(double precision, double seconds = infinity) {
  Stop stop;
  stop.kkt = stop.relative_gap = precision;
  stop.seconds = seconds;
  return stop;
}

std::string chosen(const DualQp& qp, double precision = 1e-3, double seconds = infinity,
                   std::size_t memory = plenty) {
  const Choice choice = choose_solver(qp, to(precision, seconds), memory);
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_EQ(choice.reason.find('\n'), std::string::npos);
  return std::string(name_of(choice.solver));
}

TEST(ChooseSolver, PairsForMachinesWithABias) {
  for (const std::size_t points : {100u, 3000u, 20000u})
    for (const double precision : {1e-3, 1e-8})
      EXPECT_EQ(chosen(problem(points, points, Rows::bias), precision), "smo") << points;
  EXPECT_EQ(chosen(problem(100, 100, Rows::bias, Cost::corners, Definite::no)), "smo");
}

TEST(ChooseSolver, AllVariablesAtOnceForSquaredLossesOfLowRank) {
  for (const double precision : {1e-3, 1e-8}) {
    EXPECT_EQ(chosen(problem(5000, 10, Rows::bias, Cost::squared), precision),
              precision > 1e-5 ? "newton" : "interior-point");
    EXPECT_EQ(chosen(problem(500, 10, Rows::bias, Cost::squared), precision), "smo");
    EXPECT_EQ(chosen(problem(5000, 5000, Rows::bias, Cost::squared), precision), "smo");
    EXPECT_EQ(chosen(problem(15000, 10, Rows::bias), precision), "smo");
  }
}

TEST(ChooseSolver, APathWhereSupportVectorsAreManyForTheColumns) {
  // Each point on its own: all of them are support vectors.
  EXPECT_EQ(chosen(problem(20000, 100, Rows::bias)), "interior-point");
  EXPECT_EQ(chosen(problem(20000, 1000, Rows::bias)), "smo");
  EXPECT_EQ(chosen(problem(20000, 20, Rows::bias)), "smo");  // values are cheap
  EXPECT_EQ(chosen(problem(20000, 100, Rows::bias), 1e-3, 0.1), "smo");
  // Groups of equal points of one class each: one of each is enough, however the classes alternate.
  DualQp few = problem(20000, 100, Rows::bias);
  const auto grouped = std::make_shared<Shape>(20000, 100, Definite::yes);
  grouped->groups_ = 20;
  few.K = grouped;
  EXPECT_EQ(chosen(few), "smo");
}

/// A full matrix whose points are in so many groups: as many columns are needed.
DualQp of_rank(std::size_t points, std::size_t rank, Rows rows, Cost cost) {
  DualQp qp = problem(points, points, rows, cost);
  const auto grouped = std::make_shared<Shape>(points, points, Definite::yes);
  grouped->groups_ = rank;
  qp.K = grouped;
  return qp;
}

TEST(ChooseSolver, TheRankThatAKernelNeedsDecidesForSquaredLosses) {
  for (const Rows rows : {Rows::none, Rows::bias, Rows::other}) {
    const Choice choice = choose_solver(of_rank(5000, 17, rows, Cost::squared), to(1e-3), plenty);
    EXPECT_EQ(name_of(choice.solver), "interior-point");
    EXPECT_GT(std::get<InteriorPoint>(choice.solver).low_rank, 0);
    EXPECT_NE(choice.reason.find("rank needed about 17"), std::string::npos) << choice.reason;
  }
  const DualQp qp = of_rank(5000, 17, Rows::bias, Cost::squared);
  // Nearly half of the points, a loss with corners, an end before it is through, no room at all.
  EXPECT_EQ(chosen(of_rank(5000, 190, Rows::bias, Cost::squared)), "smo");
  EXPECT_EQ(chosen(of_rank(5000, 17, Rows::bias, Cost::corners)), "smo");
  EXPECT_EQ(chosen(qp, 1e-3, 0.01), "smo");
  EXPECT_EQ(chosen(qp, 1e-3, infinity, 1 << 10), "smo");
}

TEST(ChooseSolver, GoesByTheCostsThatItIsGiven) {
  const DualQp qp = of_rank(5000, 17, Rows::bias, Cost::squared);
  CostModel dear;
  dear.make_columns = 1e6;
  EXPECT_EQ(name_of(choose_solver(qp, to(1e-3), plenty, dear).solver), "smo");
  const DualQp low = problem(20000, 50, Rows::bias, Cost::squared);
  EXPECT_EQ(name_of(choose_solver(low, to(1e-3, 60), plenty).solver), "newton");
  dear.column_system = 1e6;
  EXPECT_EQ(name_of(choose_solver(low, to(1e-3, 60), plenty, dear).solver), "smo");
}

TEST(ChooseSolver, TheRankThatAKernelNeedsDecidesForEntropies) {
  const auto low_rank = [](const DualQp& qp, std::size_t memory) {
    return std::get<InteriorPoint>(choose_solver(qp, to(1e-3), memory).solver).low_rank > 0;
  };
  const DualQp low = of_rank(5000, 17, Rows::bias, Cost::entropy);
  EXPECT_TRUE(low_rank(low, plenty));
  // The matrix would take 200 MB and more.
  EXPECT_TRUE(low_rank(low, 10 << 20));
  EXPECT_FALSE(low_rank(problem(5000, 5000, Rows::bias, Cost::entropy), plenty));
  EXPECT_FALSE(low_rank(problem(5000, 10, Rows::bias, Cost::entropy), plenty));
}

TEST(ChooseSolver, WithoutARow) {
  EXPECT_EQ(chosen(problem(5000, 10, Rows::none, Cost::squared)), "lagrangian");
  EXPECT_EQ(chosen(problem(2000, 2000, Rows::none, Cost::squared), 1e-8), "lagrangian");
  EXPECT_EQ(chosen(problem(9000, 9000, Rows::none, Cost::squared), 1e-8), "gauss-seidel");
  EXPECT_EQ(chosen(problem(5000, 5000, Rows::none)), "smo");
  EXPECT_EQ(chosen(problem(20000, 10, Rows::none)), "interior-point");
  EXPECT_EQ(chosen(problem(20000, 1000, Rows::none)), "gauss-seidel");
  EXPECT_EQ(chosen(problem(5000, 10, Rows::none)), "gauss-seidel");
}

TEST(ChooseSolver, RowsOfOtherKinds) {
  EXPECT_EQ(chosen(problem(200, 200, Rows::other), 1e-8), "interior-point");
  EXPECT_EQ(chosen(problem(200, 200, Rows::other), 1e-3), "smo");
  EXPECT_EQ(chosen(problem(5000, 5000, Rows::other), 1e-8), "smo");
  EXPECT_EQ(chosen(problem(5000, 5000, Rows::other, Cost::squared), 1e-8), "primal-dual");
}

TEST(ChooseSolver, OnlyOneTakesOtherCosts) {
  EXPECT_EQ(chosen(problem(5000, 5000, Rows::bias, Cost::entropy)), "interior-point");
}

TEST(ChooseSolver, MemoryAndTimeMustBeEnough) {
  const DualQp low_rank = problem(20000, 50, Rows::bias, Cost::squared);
  for (const double precision : {1e-3, 1e-8}) {
    const std::string best = precision > 1e-5 ? "newton" : "interior-point";
    EXPECT_EQ(chosen(low_rank, precision), best);
    EXPECT_EQ(chosen(low_rank, precision, infinity, 1 << 20), "smo");
    EXPECT_EQ(chosen(low_rank, precision, 0.5), "smo");
    EXPECT_EQ(chosen(low_rank, precision, 3600), best);
  }
}

// Whatever is chosen can be run.
TEST(ChooseSolver, AnotherOneGoesOnAfterAStall) {
  const auto after = [](const DualQp& qp, const Solver& stalled, std::size_t memory = plenty) {
    const auto choice = choose_after_stall(qp, to(1e-3), memory, stalled);
    return choice ? std::string(name_of(choice->solver)) : "";
  };
  EXPECT_EQ(after(problem(300, 300, Rows::bias), Smo{}), "interior-point");
  EXPECT_EQ(after(problem(300, 10, Rows::none), GaussSeidel{}), "interior-point");
  EXPECT_EQ(after(problem(300, 300, Rows::none, Cost::entropy), InteriorPoint{}), "newton");
  // Neither where it would take long, nor where it has no room.
  EXPECT_EQ(after(problem(20000, 20000, Rows::bias), Smo{}), "");
  EXPECT_EQ(after(problem(300, 300, Rows::bias), Smo{}, 100000), "newton");
  EXPECT_EQ(after(problem(300, 300, Rows::bias, Cost::corners, Definite::no), Smo{}), "");
}

TEST(ChooseSolver, NothingIsChosenThatRefuses) {
  for (const Rows rows : {Rows::none, Rows::bias, Rows::other})
    for (const Cost cost : {Cost::corners, Cost::squared, Cost::entropy})
      for (const std::size_t points : {30u, 2500u})
        for (const std::size_t columns : {std::size_t{3}, points})
          for (const double precision : {1e-3, 1e-8}) {
            const DualQp qp = problem(points, columns, rows, cost);
            const Choice choice = choose_solver(qp, to(precision), plenty);
            EXPECT_FALSE(refusal(qp, choice.solver)) << name_of(choice.solver);
          }
}

}  // namespace
}  // namespace maxmargin::choose_test
