// Measures what maxmargin/base/cost_model.hpp assumes, on one core of this machine:
// `costs`. One line each: name, unit, what is assumed, what was measured, their quotient; then the
// sizes and shares from which on one way is faster, with what was measured of them, or with the
// bench that does. Times are of the processor, so that other work on the machine counts only by the
// caches it empties.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/matrix/cache/segment_store.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/solver/interior_point/interior_point.hpp"
#include "maxmargin/solver/one_variable/set_steps.hpp"
#include "maxmargin/solver/smo/set/inner.hpp"
#include "maxmargin/solver/smo/smo.hpp"

namespace {

using namespace maxmargin;

double processor_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// The least time of several turns, for each of `operations`.
template <class Work>
double time_of(double operations, Work&& work) {
  double least = 1e300;
  for (int turn = 0; turn < 5; ++turn) {
    const double begin = processor_nanoseconds();
    work();
    least = std::min(least, processor_nanoseconds() - begin);
  }
  return least / operations;
}

void show(const char* name, const char* unit, double assumed, double measured) {
  std::printf("%-38s %-34s %10.3g %10.3g %8.2f\n", name, unit, assumed, measured,
              measured / assumed);
}

/// A number that other benches measure.
void name(const char* what, const char* unit, double assumed, const char* by) {
  std::printf("%-38s %-34s %10.6g  %s\n", what, unit, assumed, by);
}
template <class Number>
void name(const char* what, const char* unit, Number assumed, const char* by) {
  name(what, unit, static_cast<double>(assumed), by);
}

volatile double sink = 0;

constexpr CostModel model{};
constexpr std::size_t row_length = 20000, long_rows = 2000;

double touching() {
  return time_of(row_length * long_rows, [] {
    auto* values = new float[row_length * long_rows];
    std::memset(values, 1, row_length * long_rows * sizeof(float));
    sink = static_cast<double>(values[row_length]);
    delete[] values;
  });
}

double reading(const std::vector<float>& values) {
  std::vector<const float*> from;
  for (std::size_t r = 0; r < 500; ++r) from.push_back(values.data() + r * row_length);
  const std::vector<double> ones(from.size(), 1.0);
  std::vector<double> sum(row_length, 0.0);
  return time_of(static_cast<double>(row_length * from.size()), [&] {
    add_scaled_rows(from, ones, row_length, sum.data());
    sink = sum[7];
  });
}

/// Values at 500 columns out of each of so many rows.
double picking(const std::vector<float>& values, std::size_t many, std::size_t length) {
  Rng rng(1);
  std::vector<std::size_t> columns(500);
  for (std::size_t& column : columns)
    column = static_cast<std::size_t>(rng.uniform() * static_cast<double>(length));
  std::sort(columns.begin(), columns.end());
  std::vector<float> out(columns.size());
  return time_of(static_cast<double>(many * columns.size()), [&] {
    for (std::size_t r = 0; r < many; ++r) {
      for (std::size_t c = 0; c < columns.size(); ++c) out[c] = values[r * length + columns[c]];
      sink = static_cast<double>(out[3]);
    }
  });
}

/// Across the diagonal, in blocks of a line of the cache.
double copying() {
  constexpr std::size_t size = 768, block = 16;
  std::vector<float> values(size * size, 1.0f);
  return time_of(size * size, [&] {
    for (std::size_t r = 0; r < size; r += block)
      for (std::size_t c = 0; c < size; c += block)
        for (std::size_t i = r; i < r + block; ++i)
          for (std::size_t k = c; k < c + block; ++k) values[k * size + i] = values[i * size + k];
    sink = static_cast<double>(values[5]);
  });
}

double allotting() {
  return time_of(row_length * 400, [] {
    SegmentStore store(400, row_length * 401 * sizeof(float));
    const std::vector<float> row(row_length, 1.0f);
    for (Index r = 0; r < 400; ++r) store.add(r, 0, row_length, row.data());
  });
}

/// A made problem of a working set.
struct Set {
  static constexpr std::size_t size = 512;
  std::vector<double> K;
  Set() {
    Rng rng(3);
    Features points = Features::dense(8);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> row(8);
      for (double& value : row) value = rng.normal();
      points.append(row);
    }
    const auto matrix =
        make_kernel_quadratic(Rbf{0.1}, std::make_shared<const Features>(std::move(points)));
    std::vector<Index> all(size);
    std::iota(all.begin(), all.end(), Index{0});
    K.resize(size * size);
    matrix->exact_block(all, 0, size, K.data(), size);
  }
};

double pair_steps(const Set& set) {
  AlignedVector<float> K(Set::size * Set::size);
  std::copy(set.K.begin(), set.K.end(), K.begin());
  std::size_t steps = 0;
  const double time = time_of(1, [&] {
    InnerProblem problem;
    problem.reset(std::vector<std::size_t>{Set::size});
    for (std::size_t k = 0; k < Set::size; ++k) {
      problem.row[k] = K.data() + k * Set::size;
      problem.diagonal[k] = 1;
      const double sign = k % 3 == 0 ? 1 : -1;
      problem.variable[k][0] = {0, sign > 0 ? 0.0 : -10.0, sign > 0 ? 10.0 : 0.0, sign};
    }
    steps = solve_inner(problem, 1e-9, 5000).steps;
  });
  return time / static_cast<double>(steps * Set::size);
}

double single_steps(const Set& set) {
  std::size_t steps = 0;
  const double time = time_of(1, [&] {
    SetProblem problem(Set::size);
    for (std::size_t k = 0; k < Set::size; ++k) {
      for (std::size_t i = 0; i < Set::size; ++i)
        problem.M[k * problem.stride + i] = static_cast<float>(set.K[k * Set::size + i]);
      problem.slope[k] = k % 3 == 0 ? -1 : 1;
      problem.lower[k] = -10;
      problem.upper[k] = 10;
      problem.diagonal[k] = 1;
    }
    steps = take_greedy_steps(problem, 1e-9, 20000);
  });
  return time / static_cast<double>(steps * Set::size);
}

double factoring(std::size_t n) {
  const Threads alone(1);
  const auto size = static_cast<double>(n);
  return time_of(size * size * size, [&] {
    Factor factor(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) factor.matrix().row(i)[j] = i == j ? 2.0 * size : 1.0;
    if (factor.cholesky(alone) == Factor::Outcome::done) sink = factor.matrix().row(1)[0];
  });
}

double assembling(const Set& set) {
  const std::vector<float> K(set.K.begin(), set.K.end());
  return time_of(Set::size * Set::size, [&] {
    std::vector<float> own;
    SymmetricMatrix M(Set::size);
    for (std::size_t i = 0; i < Set::size; ++i)
      for (std::size_t j = 0; j < Set::size; ++j) own.push_back(K[i * Set::size + j]);
    for (std::size_t i = 0; i < Set::size; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        M.row(i)[j] = static_cast<double>(own[i * Set::size + j]);
    sink = M.row(3)[1];
  });
}

/// Rows of normal numbers, or of whole ones up to `whole`, of which a share is not zero.
std::shared_ptr<const Features> made_rows(std::size_t count, std::size_t columns, double share,
                                          int whole = 0) {
  Rng rng(5);
  Features x = no_rows(share < 1, columns);
  std::vector<double> row(columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (double& value : row)
      value = rng.uniform() >= share ? 0
              : whole > 0            ? 1 + std::floor(rng.uniform() * whole)
                                     : rng.normal();
    x.append(row);
  }
  return std::make_shared<const Features>(std::move(x));
}

/// A value of K, in blocks of rows over all columns as working sets ask for them; within a product
/// with a vector; and in double.
enum class Ask { block, product, exact };
void show_values(const char* name, const Kernel& kernel, const Features& x, Ask ask = Ask::block) {
  const auto engine = make_engine(kernel, x);
  const Rows rows = x.view();
  std::vector<Index> which(64);
  std::iota(which.begin(), which.end(), Index{0});
  std::vector<float> out(which.size() * rows.count);
  std::vector<double> exact(ask == Ask::exact ? out.size() : 0), sums(rows.count, 0.0);
  const std::vector<double> ones(which.size(), 1.0);
  const double measured = time_of(static_cast<double>(out.size()), [&] {
    if (ask == Ask::product)
      engine->add_product(rows, which, ones, 0, rows.count, sums.data());
    else if (ask == Ask::exact)
      engine->exact_block(rows, which, 0, rows.count, exact.data(), rows.count);
    else
      engine->block(rows, which, 0, rows.count, out.data(), rows.count);
    sink = static_cast<double>(out[7]) + sums[3];
  });
  show(name, "value of a kernel", engine->value_cost(model), measured);
}

/// Both halves of a product with a symmetric matrix, for each value that is computed.
void show_second_sum(const char* name, const Kernel& kernel, const Features& x) {
  const auto engine = make_engine(kernel, x);
  const Rows rows = x.view();
  const std::vector<double> ones(rows.count, 1.0);
  std::vector<double> sums(rows.count, 0.0);
  const double computed = static_cast<double>(Engine::half_rows * rows.count);
  const double measured = time_of(computed, [&] {
    engine->add_half_product(rows, 0, ones, sums.data());
    sink = sums[3];
  });
  show(name, "value that serves two rows", engine->half_cost(model), measured);
}

/// Squared losses, which leave most variables free, with a matrix of full rank or of few columns.
DualQp squared_problem(const Features& x, const std::shared_ptr<const Quadratic>& K) {
  DualQp qp;
  qp.K = K;
  qp.A.emplace_back();
  qp.d.push_back(0);
  for (std::size_t i = 0; i < x.count(); ++i) {
    double sum = 0;
    x.view().for_each(i, [&](Index, double value) { sum += value; });
    const double sign = sum + 0.3 * std::sin(static_cast<double>(i)) > 0 ? 1 : -1;
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({sign, -1, 0, infinity, 0.5});
    qp.A[0].push_back(sign);
  }
  return qp;
}

template <class Solver>
double time_of_solving(const DualQp& qp, Solver solver, double& iterations) {
  const Threads alone(1);
  solver.stop.kkt = solver.stop.relative_gap = 1e-3;
  return time_of(1, [&] {
    const Solution solution = run(qp, solver, Run{alone});
    iterations = static_cast<double>(solution.iterations);
    sink = solution.a[0];
  });
}

void show_solvers() {
  double iterations = 0;
  const auto few = made_rows(1000, 20, 1);
  const DualQp full = squared_problem(*few, make_kernel_quadratic(Rbf{0.05}, few));
  const double path = time_of_solving(full, InteriorPoint{}, iterations);
  show("newton(n)", "system of a path (n = 1000)", model.newton(1000), path / iterations);
  const auto some = made_rows(3000, 20, 1);
  const DualQp pairs = squared_problem(*some, make_kernel_quadratic(Rbf{0.05}, some));
  const double ended = time_of_solving(pairs, Smo{}, iterations);
  show("pairs_of_free_variables", "entry of K, from start to end", model.pairs_of_free_variables,
       ended / 9e6);
  const auto many = made_rows(20000, 100, 1);
  const DualQp low = squared_problem(*many, make_kernel_quadratic(Linear{}, many));
  const double along = time_of_solving(low, InteriorPoint{}, iterations);
  show("column_system", "m n (n + 300): m = 20000, n = 100", model.column_system,
       along / iterations * model.column_system / model.low_rank_system(20000, 100));
  Approximate how;
  how.rank = 400;
  how.selection = Selection::pivoted;
  const double making =
      time_of(3000.0 * 400 * 400, [&] { sink = approximate(*pairs.K, how, Threads(1)).trace; });
  show("make_columns", "m n^2: m = 3000, n = 400", model.make_columns, making);
}

/// The time of a value of K, all of whose rows are computed.
double value_time(const Kernel& kernel, const Features& x, const CostModel& costs) {
  const Threads alone(1);
  const auto engine = make_engine(kernel, x.view(), alone, costs);
  const Rows rows = x.view();
  std::vector<Index> which(64);
  std::iota(which.begin(), which.end(), Index{0});
  std::vector<float> out(which.size() * rows.count);
  return time_of(static_cast<double>(out.size()), [&] {
    engine->block(rows, which, 0, rows.count, out.data(), rows.count);
    sink = static_cast<double>(out[7]);
  });
}

/// The share of non-zeros from which on a list takes longer than all features.
double dense_share() {
  CostModel lists, all;
  lists.engines.dense_from = 2;
  all.engines.dense_from = 0;
  const auto x = made_rows(4000, 400, 0.4);
  return 0.4 * value_time(Rbf{0.001}, *x, all) / value_time(Rbf{0.001}, *x, lists);
}

/// What a choice between two ways is worth where it turns: the time by the second of these costs
/// for each of that by the first.
template <class Work>
void show_turn(const char* what, const char* unit, double assumed, const CostModel costs[2],
               Work&& work) {
  double time[2];
  for (int way = 0; way < 2; ++way) time[way] = time_of(1, [&] { work(costs[way]); });
  std::printf("%-38s %-34s %10.3g  %.2f times as long there by the way for less\n", what, unit,
              assumed, time[1] / time[0]);
}

void show_turns() {
  const Threads alone(1);
  show("engines.dense_from", "share of non-zeros", model.engines.dense_from, dense_share());
  {
    CostModel costs[2];
    costs[0].engines.most_differences = 1000;
    costs[1].engines.most_differences = 0;
    const auto x = made_rows(4000, model.engines.most_differences, 1);
    double time[2];
    for (int way = 0; way < 2; ++way) time[way] = value_time(Rbf{0.01}, *x, costs[way]);
    std::printf("%-38s %-34s %10.3g  %.2f times as long there as products\n",
                "engines.most_differences", "features",
                static_cast<double>(model.engines.most_differences), time[0] / time[1]);
  }
  {
    CostModel costs[2];
    costs[0].engines.least_halved = 1;
    costs[1].engines.least_halved = std::size_t{1} << 40;
    const auto x = made_rows(model.engines.least_halved, 100, 1);
    show_turn("engines.least_halved", "points", static_cast<double>(model.engines.least_halved),
              costs, [&](const CostModel& each) {
                const auto K = make_kernel_quadratic(Rbf{0.001}, x, {}, Definite::unknown,
                                                     Context(alone).with_costs(each));
                const std::vector<double> ones(K->size(), 1.0);
                std::vector<double> sums(K->size());
                for (int k = 0; k < 10; ++k) K->multiply(ones, sums, Precision::fast, alone);
                sink = sums[1];
              });
  }
  {
    CostModel costs[2];
    costs[0].pairs.cascade_from = 1;
    costs[1].pairs.cascade_from = std::size_t{1} << 40;
    const auto x = made_rows(model.pairs.cascade_from, 20, 1);
    DualQp qp = squared_problem(*x, make_kernel_quadratic(Rbf{0.05}, x));
    for (Block& block : qp.block) {
      block.curvature = 0;
      block.upper = 1;
    }
    show_turn("pairs.cascade_from", "points", static_cast<double>(model.pairs.cascade_from), costs,
              [&](const CostModel& each) {
                Smo smo;
                smo.stop.kkt = smo.stop.relative_gap = 1e-3;
                sink = run(qp, smo, Run{Context(alone).with_costs(each)}).a[0];
              });
  }
}

/// By whole runs: with another value here, against the program before.
void name_others() {
  constexpr const char *peers = "bench/peers", *solvers = "bench/solvers",
                       *restarted = "bench/papers/restarts";
  name("plain", "value, for each feature", model.plain.each, peers);
  name("own_function", "value of a kernel", model.own_function, "the user's");
  name("stored_value", "value of a matrix", model.stored_value, peers);
  name("low_rank", "value, for each column", model.low_rank.each, solvers);
  name("left_out_value", "negligible value", model.left_out_value, peers);
  name("listed_feature_in_cache", "cycles, feature of a row alone", model.listed_feature_in_cache,
       peers);
  name("listed_feature", "cycles, the same from further away", model.listed_feature, peers);
  name("grouped_feature", "cycles, feature of rows in groups", model.grouped_feature, peers);
  name("cached_values", "values in a cache", model.cached_values, "pick_cached_value");
  name("sparse_pair_step", "step with sparse rows", model.sparse_pair_step, peers);
  name("columns_beside", "columns", model.columns_beside, "column_system");

  const SolverChoice& choice = model.solvers;
  name("solvers.tight_precision", "tolerance", choice.tight_precision, solvers);
  name("solvers.few_points", "points", choice.few_points, solvers);
  name("solvers.few_points_of_one_system", "points", choice.few_points_of_one_system, solvers);
  name("solvers.some_points", "points", choice.some_points, solvers);
  name("solvers.many_points", "points", choice.many_points, solvers);
  name("solvers.many_points_a_column", "points for each column", choice.many_points_a_column,
       solvers);
  name("solvers.least_points_a_column", "points for each column", choice.least_points_a_column,
       solvers);
  name("solvers.path_iterations", "systems", choice.path_iterations, solvers);
  name("solvers.newton_iterations", "systems", choice.newton_iterations, solvers);
  name("solvers.most_seconds_after_a_stall", "seconds", choice.most_seconds_after_a_stall, solvers);
  name("solvers.uses_on_a_path", "systems", choice.uses_on_a_path, solvers);
  name("solvers.uses_without_bounds", "systems", choice.uses_without_bounds, solvers);
  name("solvers.products", "products with K", choice.products, solvers);
  name("solvers.points_of_pilot", "points", choice.points_of_pilot, solvers);
  name("solvers.least_points_of_pilot", "points", choice.least_points_of_pilot, solvers);
  name("solvers.least_value_of_pilot", "nanoseconds of a value", choice.least_value_of_pilot,
       solvers);

  const EngineChoice& engines = model.engines;
  name("engines.packing_factor", "bytes for each stored one", engines.packing_factor, peers);
  name("engines.small_panels", "bytes", engines.small_panels, peers);
  name("engines.cached_features", "features", engines.cached_features, peers);
  name("engines.most_near", "share of pairs of points", engines.most_near, peers);
  name("engines.most_near_stored", "share of pairs of points", engines.most_near_stored, peers);
  name("engines.least_far_rows", "rows", engines.least_far_rows, peers);
  name("engines.most_features_of_a_box", "features", engines.most_features_of_a_box, peers);
  name("engines.most_halved", "points", engines.most_halved, "memory");
  name("engines.most_stretches", "stretches", engines.most_stretches, peers);

  const PairChoice& pairs = model.pairs;
  name("pairs.least_part", "points", pairs.least_part, peers);
  name("pairs.usable_share", "share of support vectors", pairs.usable_share, peers);
  name("pairs.hopeless_share", "share of support vectors", pairs.hopeless_share, peers);
  name("pairs.most_sparse_steps", "steps for each variable", pairs.most_sparse_steps, peers);
  name("pairs.rows_taken_again", "times", pairs.rows_taken_again, peers);
  name("pairs.most_remaining", "share of variables", pairs.most_remaining, peers);
  name("pairs.newton_share", "share of the work", pairs.newton_share, peers);
  name("pairs.most_plain", "variables", pairs.most_plain, "bench/libsvm");
  name("singles.sets_before_newton", "working sets", model.singles.sets_before_newton, solvers);
  name("singles.newton_share", "share of the work", model.singles.newton_share, solvers);

  const SimplexChoice& simplices = model.simplices;
  name("simplices.least_examples", "examples", simplices.least_examples, restarted);
  name("simplices.most_examples", "examples", simplices.most_examples, restarted);
  name("simplices.fresh_examples", "examples", simplices.fresh_examples, restarted);
  name("simplices.working_set", "examples", simplices.working_set, restarted);
  name("simplices.visits_to_newton", "steps for each example", simplices.visits_to_newton,
       restarted);
  name("simplices.most_free", "classes of examples", simplices.most_free, restarted);
  name("simplices.newton_share", "multiplications for each one", simplices.newton_share, restarted);

  const RestartChoice& restarts = model.restarts;
  name("restarts.times_free", "variables for each free one", restarts.times_free, restarted);
  name("restarts.least_part", "variables", restarts.least_part, restarted);
  name("restarts.largest_part", "variables", restarts.largest_part, restarted);
  name("restarts.largest_share", "share of variables", restarts.largest_share, restarted);
  name("restarts.undecided_rows", "share of rows", restarts.undecided_rows, "bench/papers/sgma");

  const UnlearnChoice& unlearning = model.unlearning;
  name("unlearning.least_near", "variables", unlearning.least_near, restarted);
  name("unlearning.near_for_free", "variables for each free one", unlearning.near_for_free,
       restarted);
  name("unlearning.most_exchanged", "variables", unlearning.most_exchanged, restarted);
  constexpr const char* race = "maxmargin race";
  name("races.approximate_from", "points", model.races.approximate_from, race);
  name("races.points_a_column", "points for each column", model.races.points_a_column, race);
  name("races.least_columns", "columns", model.races.least_columns, race);
  name("races.most_columns", "columns", model.races.most_columns, race);
  constexpr const char* on_disk = "bench/out-of-core";
  name("streamed.working_rows", "rows", model.streamed.working_rows, on_disk);
  name("streamed.working_rows_a_feature", "rows for each feature",
       model.streamed.working_rows_a_feature, on_disk);
  name("streamed.rows_a_working_row", "rows for each in memory", model.streamed.rows_a_working_row,
       on_disk);

  const SmallMachineChoice& small = model.small_machines;
  name("small_machines.most_rows", "rows of a machine", small.most_rows, "bench/libsvm");
  name("small_machines.values_for_each_use", "values for each used", small.values_for_each_use,
       peers);
  name("mercer.rows", "rows", model.mercer.rows, "maxmargin check");
  name("mercer.eigenvalue_rows", "rows", model.mercer.eigenvalue_rows, "maxmargin check");
  name("structured.few_dimensions", "dimensions", model.structured.few_dimensions,
       "bench/structural");
  name("structured.most_enumerated", "labels", model.structured.most_enumerated,
       "bench/structural");

  const CertifyChoice& certify = model.certify;
  name("certify.near_share", "non-zeros for each changed one", certify.near_share, restarted);
  name("certify.least_points", "points", certify.least_points, peers);
  name("certify.points_at_stake", "points for each at stake", certify.points_at_stake, peers);
  name("certify.most_extended_work", "operations in long double", certify.most_extended_work,
       "a run to a gap of 1e-12");
  name("weights.most_growth", "bytes for each of the model", model.weights.most_growth,
       "bench/libsvm");
  name("weights.small_bytes", "bytes", model.weights.small_bytes, "memory");
}

}  // namespace

int main() {
  const std::vector<float> values(row_length * long_rows, 1.0f);
  const Set set;
  std::printf("%-38s %-34s %10s %10s %8s\n", "name", "nanoseconds for each", "assumed", "measured",
              "quotient");
  show("touch_value", "float of fresh memory", model.touch_value, touching());
  show("read_value", "float of long rows", model.read_value, reading(values));
  show("pick_value", "value out of many long rows", model.pick_value,
       picking(values, long_rows, row_length));
  show("pick_cached_value", "value out of rows in a cache", model.pick_cached_value,
       picking(values, 100, 2000));
  show("copy_value", "value across the diagonal", model.copy_value, copying());
  show("allot_value", "float of a shared store", model.allot_value, allotting());
  show("pair_step", "step and variable of the set", model.pair_step, pair_steps(set));
  show("single_step", "step and variable of the set", model.single_step, single_steps(set));
  show("assemble", "entry of a dense system", model.assemble, assembling(set));
  show("factor", "cube of the variables (n = 512)", model.factor, factoring(512));
  show("factor", "cube of the variables (n = 2048)", model.factor, factoring(2048));
  const auto dense = made_rows(4000, 100, 1), wide = made_rows(300, 4000, 0.02);
  const auto far = made_rows(2000, 4000, 0.02);  // 34 MB in panels, which few caches hold
  const auto narrow = made_rows(4000, 400, 0.2);
  const auto binary = made_rows(4000, 400, 0.1, 1), whole = made_rows(4000, 2000, 0.2, 255);
  const auto large = made_rows(4000, 400, 0.2, 3000), few = made_rows(4000, 8, 1);
  const auto counts = made_rows(4000, 100, 1, 30);
  show_values("binary_product", Rbf{0.01}, *binary, Ask::product);
  show_values("binary", Rbf{0.01}, *binary);
  show_values("fused", Rbf{0.01}, *few, Ask::product);
  show_values("listed_quads", Rbf{1e-6}, *whole);
  show_values("listed_pairs", Rbf{1e-9}, *large);
  show_values("dense_pairs", Rbf{1e-5}, *counts);
  show_values("listed", Rbf{0.001}, *narrow);
  show_values("listed (wide)", Rbf{0.001}, *wide);
  show_values("listed (far)", Rbf{0.001}, *far);
  show_values("dense", Rbf{0.001}, *dense);
  show_values("sum_in_double", Rbf{0.05}, *dense);
  show_values("differences", Laplacian{0.1}, *few);
  show_second_sum("second_sum", Rbf{0.001}, *dense);
  show_second_sum("fused_second_sum", Rbf{0.01}, *few);
  show_solvers();
  std::printf("\n%-38s %-34s %10s  %s\n", "where one way gets faster", "unit", "assumed",
              "measured; or by whole runs with another value, with which bench");
  show_turns();
  name_others();
  return 0;
}
