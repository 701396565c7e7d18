#include "maxmargin/solver/interior_point/streamed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/interior_point/interior_point.hpp"
#include "maxmargin/solver/interior_point/path_variables.hpp"
#include "maxmargin/solver/interior_point/streamed_pass.hpp"
#include "tests/made_data.hpp"
#include "tests/streamed_and_in_memory.hpp"

namespace maxmargin::streamed_test {
namespace {

using Constant = StreamedProblem::Constant;

// What is asked of runs from disk.
constexpr double streamed_gap = 1e-11;

struct Point {
  Certificate certificate;
  double optimum;  ///< the objective as computed, with nothing charged for rounding
  std::vector<double> w;
  double b = 0;
};

Point solved_in_memory(const Both& both, const Loss& loss, double cost, Constant constant) {
  const Threads threads(1);
  const DualQp qp = both.in_memory(loss, cost, constant);
  InteriorPoint options;
  options.stop.kkt = options.stop.relative_gap = 1e-13;
  const Certified certified = certify(qp, run(qp, options, {threads}), Precision::exact, threads);
  const Evaluation evaluation = evaluate(qp, certified.solution.a, certified.f, {});
  Point point{certified.certificate, evaluation.primal, {}};
  EXPECT_NEAR(evaluation.primal, evaluation.dual, 1e-12 * evaluation.primal);
  point.w = qp.K->low_rank(100)->gather(qp.coefficients(certified.solution.a), threads);
  if (constant == Constant::free) point.b = certified.solution.lambda.at(0);
  if (constant == Constant::penalised) {
    point.b = point.w.back();
    point.w.pop_back();
  }
  return point;
}

/// Both are bounds of one optimum, which is known to 1e-12, and as near to it as was asked for.
void expect_enclosed(const Certificate& certificate, const Point& expected, double asked) {
  const double known = 1e-12 * expected.optimum;
  EXPECT_GE(certificate.primal, expected.optimum - known);
  EXPECT_LE(certificate.dual, expected.optimum + known);
  EXPECT_LE(certificate.primal - certificate.dual, asked * expected.optimum);
  EXPECT_GE(certificate.primal, expected.certificate.dual);
  EXPECT_LE(certificate.dual, expected.certificate.primal);
}

struct Streamed {
  StreamedSolution solution;
  StreamedCertified certified;
};
Streamed solved_from_disk(const StreamedProblem& problem, std::size_t working_rows,
                          const Threads& threads) {
  StreamedInteriorPoint options;
  options.stop.kkt = options.stop.relative_gap = streamed_gap;
  options.working_rows = working_rows;
  Streamed result;
  result.solution = run(problem, options, {threads});
  result.certified = certify(
      problem,
      [&](const RowChunk& chunk) { return variables_of(problem, result.solution.position, chunk); },
      result.solution.free, threads);
  return result;
}

double largest_difference(std::span<const double> x, std::span<const double> y) {
  double largest = 0;
  for (std::size_t j = 0; j < x.size(); ++j) largest = std::max(largest, std::abs(x[j] - y[j]));
  return largest;
}
double largest_of(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

// The equation of the path, and the derivatives by differences.
TEST(Streamed, VariablesAreOnThePath) {
  const Block hinge{-1, -1, 0, 3, 0}, tube{1, 0.25, -2, 0.5, 0}, huber{1, 0.25, -2, 2, 0.3};
  for (const Block& block : {hinge, tube, huber})
    for (const double mu : {1.0, 1e-3, 1e-9})
      for (const double h : {-40.0, -0.3, -block.linear, 0.1, 2.0, 1e4}) {
        const double width = block.upper - block.lower;
        const OnPath on = on_path(block, h, mu);
        const double g = on.t - block.lower, r = block.upper - on.t;
        ASSERT_GE(g, 0);
        ASSERT_GE(r, 0);
        // Distances that rounding has not eaten.
        if (std::min(g, r) < 1e-7 * width) continue;
        const double rest = h + block.slope(on.t) - mu * width / g + mu * width / r;
        EXPECT_NEAR(rest, 0, 1e-8 * (std::abs(h) + 1)) << mu << " " << h;
        const double step = 1e-2 * mu;
        const double by_h =
            (on_path(block, h - step, mu).t - on_path(block, h + step, mu).t) / (2 * step);
        EXPECT_NEAR(on.give, by_h, 1e-3 * on.give + 1e-9) << mu << " " << h;
        const double by_mu =
            (on_path(block, h, mu * 1.0001).t - on_path(block, h, mu * 0.9999).t) / (0.0002 * mu);
        EXPECT_NEAR(on.drift, by_mu, 1e-4 * width / mu) << mu << " " << h;
      }
}

TEST(Streamed, VariablesSideBySideAreThoseOneByOne) {
  Rng rng(2);
  for (const std::size_t count : {0, 1, 3, 8, 29})
    for (const double mu : {1.0, 1e-4, 1e-12}) {
      PathVariables many(count);
      double values = 0, conjugates = 0, size = 1;
      std::vector<OnPath> wanted;
      for (std::size_t k = 0; k < count; ++k) {
        const double lower = rng.uniform(-2, 1);
        const Block block{1, rng.normal(), lower, k % 7 == 5 ? lower : lower + rng.uniform(), 0};
        const double h = k % 5 == 4 ? -block.linear : 3 * rng.normal();
        many.h[k] = h;
        many.linear[k] = block.linear;
        many.lower[k] = block.lower;
        many.upper[k] = block.upper;
        wanted.push_back(on_path(block, h, mu));
        values += block.value(wanted[k].t);
        conjugates += block.conjugate(-h);
        size += std::abs(block.conjugate(-h)) + std::abs(block.value(wanted[k].t));
      }
      const PathVariables::Sums sums = many.find(count, mu);
      EXPECT_NEAR(sums.values, values, 1e-14 * size);
      EXPECT_NEAR(sums.conjugates, conjugates, 1e-14 * size);
      for (std::size_t k = 0; k < count; ++k) {
        EXPECT_NEAR(many.t[k], wanted[k].t, 1e-15 * (std::abs(many.lower[k]) + 1));
        EXPECT_NEAR(many.give[k], wanted[k].give, 1e-13 * wanted[k].give);
        // In the middle, t moves with mu by nothing but the rounding of two distances.
        const double rounding = 1e-15 * (many.upper[k] - many.lower[k]) / mu;
        EXPECT_NEAR(many.drift[k], wanted[k].drift, 1e-13 * std::abs(wanted[k].drift) + rounding);
      }
    }
}

// The matrix of a pass is the derivative of its gradient.
TEST(Streamed, NewtonMatrixByDifferences) {
  const Both both(made::classification(400, 3, made::Storage::dense_doubles, 2));
  const Threads threads(2);
  for (const Constant constant : {Constant::free, Constant::penalised, Constant::none}) {
    const StreamedProblem problem = both.streamed(EpsilonInsensitive{0.2}, 2, constant);
    std::vector<double> point{0.3, -0.2, 0.4, 0.1};
    point.resize(problem.numbers());
    const double mu = 0.05, step = 1e-6;
    const Newton here = newton_pass(problem, point, mu, threads, {});
    for (std::size_t j = 0; j < point.size(); ++j) {
      std::vector<double> moved = point;
      moved[j] += step;
      const Newton more = newton_pass(problem, moved, mu, threads, {});
      moved[j] -= 2 * step;
      const Newton less = newton_pass(problem, moved, mu, threads, {});
      for (std::size_t i = j; i < point.size(); ++i)
        EXPECT_NEAR(here.matrix[i * point.size() + j],
                    (more.gradient[i] - less.gradient[i]) / (2 * step),
                    1e-6 * largest_of(here.matrix));
    }
  }
}

TEST(Streamed, EqualsInMemory) {
  const Both classes(made::classification(1200, 5, made::Storage::dense_floats, 1));
  const Both numbers(made::regression(1200, 5, made::Storage::dense_doubles, 1));
  const Threads threads(2);
  const auto compare = [&](const Both& both, const Loss& loss, Constant constant) {
    SCOPED_TRACE(std::to_string(loss.index()) + " " + std::to_string(static_cast<int>(constant)));
    const double cost = 1;
    const Point expected = solved_in_memory(both, loss, cost, constant);
    const Streamed found = solved_from_disk(both.streamed(loss, cost, constant), 80, threads);
    const Certificate& certificate = found.certified.certificate;
    EXPECT_EQ(found.solution.ended, Ended::converged);
    EXPECT_LE(found.solution.rows_in_memory, 120u);
    expect_enclosed(certificate, expected, streamed_gap);
    EXPECT_LE(certificate.kkt, 1e-10);
    EXPECT_LE(certificate.equality_residual, 1e-10);
    std::vector<double> w = found.certified.point;
    if (constant != Constant::none) {
      EXPECT_NEAR(w.back(), expected.b, 1e-11);
      w.pop_back();
    }
    EXPECT_LE(largest_difference(w, expected.w), 1e-12 * largest_of(expected.w));
  };
  for (const Constant constant : {Constant::free, Constant::penalised, Constant::none}) {
    compare(classes, Hinge{}, constant);
    compare(numbers, EpsilonInsensitive{0.1, 1, 2}, constant);
  }
  compare(numbers, Pinball{0.3}, Constant::free);
  compare(classes, SquaredHinge{}, Constant::free);
  compare(classes, Logistic{}, Constant::penalised);
  compare(numbers, SquaredEpsilonInsensitive{0.1}, Constant::free);
  compare(numbers, Squared{}, Constant::none);
  compare(classes, Exponential{}, Constant::free);
  compare(classes, HuberisedHinge{0.3}, Constant::free);
  compare(classes, HuberisedHinge{0.3}, Constant::penalised);
  compare(numbers, Huber{0.2}, Constant::free);
  compare(numbers, Huber{0.2}, Constant::none);
}

// Where each is as good as any other constant, none of the rows is on a corner.
TEST(Streamed, AllRowsAtTheirBounds) {
  Dataset data = made::classification(40, 3, made::Storage::dense_floats, 1);
  for (std::size_t i = 0; i < 40; ++i) data.y[i] = i % 2 == 0 ? 1 : -1;
  const Both both(std::move(data));
  const double cost = 1e-3;
  const Point expected = solved_in_memory(both, Hinge{}, cost, Constant::free);
  const Streamed found =
      solved_from_disk(both.streamed(Hinge{}, cost, Constant::free), 10, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_EQ(found.solution.rows_in_memory, 0u);
  expect_enclosed(found.certified.certificate, expected, streamed_gap);
}

TEST(Streamed, WeightsAreCosts) {
  Dataset data = made::classification(600, 4, made::Storage::sparse, 3);
  Rng rng(1);
  for (std::size_t i = 0; i < data.rows(); ++i) data.weight.push_back(rng.uniform(0.1, 3));
  const Both both(std::move(data));
  const Point expected = solved_in_memory(both, Hinge{}, 2, Constant::free);
  const Streamed found =
      solved_from_disk(both.streamed(Hinge{}, 2, Constant::free), 160, Threads(1));
  expect_enclosed(found.certified.certificate, expected, streamed_gap);
}

/// Whole numbers: many rows, most of them different, on one hyperplane.
Dataset grid(std::size_t rows, std::size_t columns, double levels, std::uint64_t seed) {
  Rng rng(seed);
  Dataset data;
  data.x = Features::dense(columns);
  std::vector<double> row(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = std::floor(rng.uniform(0, levels));
      sum += (j % 2 == 0 ? 1 : -1) * row[j];
    }
    data.x.append(row);
    data.y.push_back(sum + (i % 3 == 0 ? rng.uniform(-1, 1) : 0.5));
  }
  return data;
}
Dataset grid_of_classes(std::size_t rows, std::size_t columns, double levels, std::uint64_t seed) {
  Dataset data = grid(rows, columns, levels, seed);
  Rng rng(seed + 1);
  for (double& y : data.y) y = y + rng.normal() > 0 ? 1 : -1;
  return data;
}

// More rows stand on their corners than may be taken into memory: their variables come from passes.
StreamedPosition compare_at_corners(const Both& both, const Loss& loss, double cost,
                                    Constant constant) {
  SCOPED_TRACE(std::to_string(loss.index()) + " " + std::to_string(cost) + " " +
               std::to_string(static_cast<int>(constant)));
  const Point expected = solved_in_memory(both, loss, cost, constant);
  const Streamed found = solved_from_disk(both.streamed(loss, cost, constant), 10, Threads(2));
  const Certificate& certificate = found.certified.certificate;
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_LE(found.solution.rows_in_memory, 15u);
  expect_enclosed(certificate, expected, streamed_gap);
  EXPECT_LE(certificate.kkt, 1e-11);
  EXPECT_LE(certificate.equality_residual, 1e-11);
  EXPECT_EQ(certificate.bound_residual, 0);
  return found.solution.position;
}

TEST(Streamed, ManyRowsOfZeros) {
  // A sixth of these rows is zero.
  const Both zeros(made::classification(600, 4, made::Storage::sparse, 3));
  for (const double cost : {0.5, 10.0})
    for (const Constant constant : {Constant::free, Constant::penalised})
      EXPECT_FALSE(compare_at_corners(zeros, Hinge{}, cost, constant).beside.empty());
}

TEST(Streamed, ManyRowsOfWholeNumbers) {
  const Both numbers(grid(500, 3, 6, 5)), few(grid(400, 2, 3, 7));
  const Both classes(grid_of_classes(600, 3, 5, 13));
  for (const Constant constant : {Constant::free, Constant::penalised, Constant::none}) {
    compare_at_corners(numbers, Pinball{0.4}, 2, constant);
    compare_at_corners(few, EpsilonInsensitive{0.5}, 1, constant);
    compare_at_corners(classes, Hinge{}, 0.01, constant);
  }
}

TEST(Streamed, FunctionsOfRowsOnTheirCorners) {
  const Both numbers(grid(500, 4, 6, 5), 1), few(grid(400, 3, 3, 7), 2);
  const Both classes(grid_of_classes(600, 4, 5, 13), 2);
  for (const Constant constant : {Constant::free, Constant::penalised, Constant::none}) {
    compare_at_corners(numbers, Pinball{0.4}, 2, constant);
    compare_at_corners(few, EpsilonInsensitive{0.5}, 1, constant);
    compare_at_corners(classes, Hinge{}, 0.01, constant);
  }
}

// Where the equality rows are missed the dual is a bound all the same: that of a point nearby.
TEST(Streamed, MissedRowsOfFunctionsHaveTheirPrice) {
  const Both both(made::classification(500, 4, made::Storage::dense_floats, 8), 2);
  const Point expected = solved_in_memory(both, Hinge{}, 1, Constant::free);
  const StreamedProblem problem = both.streamed(Hinge{}, 1, Constant::free);
  const Streamed found = solved_from_disk(problem, 80, Threads(1));
  double before = infinity;
  for (const double off : {1e-4, 1e-8}) {
    const StreamedCertified certified = certify(
        problem,
        [&](const RowChunk& chunk) {
          std::vector<double> a = variables_of(problem, found.solution.position, chunk);
          for (std::size_t i = 0; i < a.size(); ++i)
            if ((chunk.first_row + i) % 7 == 0) a[i] += (a[i] < 0.5 ? off : -off);
          return a;
        },
        found.solution.free, Threads(1));
    EXPECT_GT(certified.certificate.equality_residual, off / 10);
    EXPECT_LE(certified.certificate.dual, expected.optimum);
    EXPECT_GE(certified.certificate.primal, expected.optimum * (1 - 1e-12));
    EXPECT_LT(certified.certificate.gap, before);
    EXPECT_LT(certified.certificate.gap, 1e4 * off * expected.optimum);
    before = certified.certificate.gap;
  }
}

TEST(Streamed, SameBitsForAnyNumberOfThreads) {
  const Both both(made::classification(1500, 6, made::Storage::dense_floats, 5));
  const StreamedProblem problem = both.streamed(Hinge{}, 1, Constant::free);
  const Streamed one = solved_from_disk(problem, 80, Threads(1));
  for (const int count : {2, 5}) {
    const Streamed several = solved_from_disk(problem, 80, Threads(count));
    EXPECT_EQ(one.certified.point, several.certified.point);
    EXPECT_EQ(one.solution.iterations, several.solution.iterations);
    EXPECT_EQ(one.certified.certificate.primal, several.certified.certificate.primal);
  }
}

// Wide rows share the sums of their parts: columns of zeros change nothing but that.
TEST(Streamed, WideRowsHaveTheSumsOfNarrowOnes) {
  const Both narrow(made::classification(200, 6, made::Storage::dense_floats, 5));
  constexpr std::size_t wide_columns = 600;
  ASSERT_LT(stream_lanes(wide_columns), stream_lanes(6));
  Dataset padded;
  padded.x = Features::dense(wide_columns);
  padded.y = narrow.data.y;
  const Rows x = narrow.data.x;
  for (std::size_t i = 0; i < x.count; ++i) {
    std::vector<double> row(wide_columns, 0.0);
    x.for_each(i, [&](Index j, double value) { row[j] = value; });
    padded.x.append(row);
  }
  const Both wide(std::move(padded));
  const std::vector<double> point = {0.3, -0.2, 0.5, 0.1, -0.4, 0.2};
  std::vector<double> padded_point(wide_columns, 0.0);
  std::copy(point.begin(), point.end(), padded_point.begin());
  const auto pass = [](const Both& both, std::span<const double> at, int threads) {
    return newton_pass(both.streamed(Hinge{}, 1, Constant::none), at, 0.1, Threads(threads), {});
  };
  const Newton expected = pass(narrow, point, 1), found = pass(wide, padded_point, 1);
  EXPECT_NEAR(found.primal, expected.primal, 1e-11);
  EXPECT_NEAR(found.dual, expected.dual, 1e-11);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(found.gradient[i], expected.gradient[i], 1e-11);
    for (std::size_t j = 0; j <= i; ++j)
      EXPECT_NEAR(found.matrix[i * wide_columns + j], expected.matrix[i * 6 + j], 1e-10);
  }
  const Newton several = pass(wide, padded_point, 3);
  EXPECT_EQ(found.matrix, several.matrix);
  EXPECT_EQ(found.gradient, several.gradient);
}

// Whatever the variables are, the certificate is that of the same ones in memory; but where A a = d
// is missed by more than one variable can take, only memory has a dual.
TEST(Streamed, CertificateOfAnyVariables) {
  const Both both(made::classification(500, 4, made::Storage::dense_floats, 8));
  const Threads threads(2);
  Rng rng(9);
  std::vector<double> any(500), balanced;
  for (double& value : any) value = rng.uniform();
  double sum[2] = {0, 0};
  for (std::size_t i = 0; i < any.size(); ++i) sum[both.data.y[i] > 0] += any[i];
  for (std::size_t i = 0; i < any.size(); ++i)
    balanced.push_back(any[i] * std::min(sum[0], sum[1]) / sum[both.data.y[i] > 0]);
  const auto compare = [&](const std::vector<double>& a, Constant constant) {
    SCOPED_TRACE(static_cast<int>(constant));
    const DualQp qp = both.in_memory(Hinge{}, 1, constant);
    Solution solution;
    solution.a = a;
    const Certified expected = certify(qp, solution, Precision::exact, threads);
    const std::vector<double> free = expected.solution.lambda;
    const StreamedCertified found = certify(
        both.streamed(Hinge{}, 1, constant),
        [&](const RowChunk& chunk) {
          return std::vector<double>(
              a.begin() + static_cast<std::ptrdiff_t>(chunk.first_row),
              a.begin() + static_cast<std::ptrdiff_t>(chunk.first_row + chunk.rows));
        },
        free, threads);
    const Certificate& have = found.certificate;
    const Certificate& want = expected.certificate;
    EXPECT_NEAR(have.primal, want.primal, 1e-10 * want.primal);
    if (want.equality_residual > 1) {
      EXPECT_EQ(have.dual, -infinity);
    } else {
      EXPECT_NEAR(have.dual, want.dual, 1e-10 * std::abs(want.dual));
      EXPECT_NEAR(have.gap, want.gap, 1e-10 * want.gap);
    }
    EXPECT_NEAR(have.kkt, want.kkt, 1e-10 * want.kkt);
    EXPECT_NEAR(have.equality_residual, want.equality_residual, 1e-10);
    EXPECT_EQ(have.bound_residual, want.bound_residual);
  };
  compare(any, Constant::free);
  compare(balanced, Constant::free);
  compare(any, Constant::penalised);
}

// Stopped wherever it is, it has an answer whose certificate is honest.
TEST(Streamed, LimitsLeaveAnAnswer) {
  const Both both(made::classification(1500, 5, made::Storage::dense_floats, 6));
  const StreamedProblem problem = both.streamed(Hinge{}, 1, Constant::penalised);
  const Threads threads(1);
  const double optimum = solved_in_memory(both, Hinge{}, 1, Constant::penalised).optimum;
  for (const std::size_t passes : {1, 2, 4}) {
    StreamedInteriorPoint options;
    options.stop.kkt = options.stop.relative_gap = 1e-10;
    options.stop.iterations = passes;
    options.working_rows = 50;
    const StreamedSolution solution = run(problem, options, {threads});
    EXPECT_EQ(solution.ended, Ended::iteration_limit);
    const StreamedCertified certified = certify(
        problem,
        [&](const RowChunk& chunk) { return variables_of(problem, solution.position, chunk); },
        solution.free, threads);
    EXPECT_GE(certified.certificate.primal, optimum * (1 - 1e-12));
    EXPECT_LE(certified.certificate.dual, optimum * (1 + 1e-12));
    EXPECT_EQ(certified.certificate.bound_residual, 0);
  }
  StreamedInteriorPoint options;
  options.stop.seconds = 0;
  EXPECT_EQ(run(problem, options, {threads}).ended, Ended::time_limit);
}

}  // namespace
}  // namespace maxmargin::streamed_test
