// Ways that only large problems go, gone by small ones: other costs and sizes are handed in. Each
// has to be gone, as the run's own count says, and has to lead to the optimum, which a solver of
// plain loops has found over kernel values by their definition.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "maxmargin/train/folds/retrain.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/made_data.hpp"
#include "tests/other_costs.hpp"

namespace maxmargin::fast_paths_test {
namespace {

using made::Storage;
using other_costs::dear_memory;
using other_costs::dear_values;

/// A small problem, and what makes it go a way.
struct Case {
  std::string name;
  Dataset data;
  TrainOptions options;
  CostModel costs{};
};

/// Clusters that a narrow Gaussian hardly sees from one another, with both classes in each.
Dataset clusters(std::size_t rows) {
  Rng rng(21);
  Dataset data;
  data.x = Features::dense(4);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> row(4);
    for (double& value : row)
      value = static_cast<float>(2 * static_cast<double>(i % 8) + 0.3 * rng.uniform());
    data.x.append(row);
    data.y.push_back(rng.uniform() < 0.5 ? -1 : 1);
  }
  return data;
}

Smo smo(int working_set) {
  Smo options;
  options.working_set = working_set;
  return options;
}

/// The same data and options for each task that a small optimum is stated of here.
std::vector<Case> for_each_task(const Case& svc, double epsilon, double nu) {
  const double cost = std::get<Svc>(svc.options.task).cost;
  std::vector<Case> list;
  for (const Task& task :
       {svc.options.task, Task(Svr{.cost = cost, .loss = EpsilonInsensitive{epsilon}}),
        Task(OneClass{.nu = nu})}) {
    Case& added = list.emplace_back();
    added.name = svc.name + ", " + std::string(name_of(task));
    added.data = made::copy_of(svc.data);
    added.options = svc.options;
    added.options.task = task;
    added.costs = svc.costs;
    if (outcome_of(task) == Outcome::novelty) added.data.y.clear();
    if (outcome_of(task) == Outcome::number)
      for (std::size_t i = 0; i < added.data.rows(); ++i)
        added.data.y[i] = made::target(added.data.x, i);
  }
  return list;
}

/// Several classes, by machines of two.
std::vector<Case> of_classes(std::size_t rows, int classes, const CostModel& costs) {
  std::vector<Case> list;
  for (const Storage storage : {Storage::dense_floats, Storage::sparse}) {
    Case& added = list.emplace_back();
    added.name = made::name_of(storage);
    added.data = made::classification(rows, 6, storage, 4, classes);
    added.options = {.task = Svc{.cost = 2}, .kernel = Rbf{0.75}};
    added.costs = costs;
  }
  return list;
}

/// Several classes in one problem.
std::vector<Case> by_simplices(const Kernel& kernel, double cost, const SimplexChoice& choice) {
  std::vector<Case> list;
  for (const int classes : {3, 4}) {
    Case& added = list.emplace_back();
    added.name = std::to_string(classes) + " classes";
    added.data = made::classification(32, 6, Storage::dense_floats, 4, classes);
    added.options = {
        .task = Svc{.cost = cost, .bias = Bias::none, .multiclass = Multiclass::crammer_singer},
        .kernel = kernel};
    added.costs.simplices = choice;
  }
  return list;
}
bool is_by_simplices(const Case& run) {
  const auto* svc = std::get_if<Svc>(&run.options.task);
  return svc != nullptr && svc->multiclass == Multiclass::crammer_singer;
}

/// Novelty detection, whose bounds are 1, needs too few steps for some ways.
std::vector<Case> without_novelty(std::vector<Case> list) {
  std::erase_if(list, [](const Case& each) { return each.data.y.empty(); });
  return list;
}

std::vector<Case> cases_of(Way way) {
  const auto two = [](std::size_t rows = 48) {
    return made::classification(rows, 6, Storage::dense_floats, 12);
  };
  const auto by = [](const Solver& settings, const Kernel& kernel, double cost) {
    TrainOptions options{.task = Svc{.cost = cost}, .kernel = kernel};
    options.settings = settings;
    return options;
  };
  switch (way) {
    case Way::truncated_pairs:
      return for_each_task({"narrow", clusters(96), by(smo(768), Rbf{8}, 5), dear_values()}, 0.01,
                           0.3);
    case Way::cached_pairs:
      return without_novelty(
          for_each_task({"cached", two(), by(smo(2), Rbf{0.75}, 100), dear_values()}, 0.01, 0.3));
    case Way::working_sets:
      return for_each_task({"sets", two(), by(smo(8), Rbf{0.75}, 2), {}}, 0.05, 0.3);
    case Way::newton_of_set:
      return without_novelty(for_each_task(
          {"set at once", two(), by(smo(768), Rbf{0.2}, 1e4), dear_values()}, 0.01, 0.5));
    case Way::newton:
      return for_each_task({"all at once", two(), by(smo(16), Rbf{0.75}, 100), dear_values()}, 0.01,
                           0.3);
    case Way::shrinking:
      return for_each_task({"shrunk", two(), by(smo(4), Rbf{0.75}, 2), dear_memory()}, 0.05, 0.5);
    case Way::picked_values:
      return for_each_task({"picked", two(), by(smo(8), Rbf{0.75}, 2), dear_values()}, 0.05, 0.3);
    case Way::part_first: {
      CostModel parts;
      parts.pairs.cascade_from = 8;
      parts.pairs.least_part = 16;
      return for_each_task({"part", two(96), by(smo(8), Rbf{0.05}, 0.5), parts}, 0.02, 0.6);
    }
    case Way::primal_dual_free:
      return for_each_task({"primal-dual", two(), by(PrimalDual{}, Rbf{0.75}, 100), dear_values()},
                           0.01, 0.3);
    case Way::half_products:
      return for_each_task({"halves", two(), by(smo(768), Rbf{0.75}, 0.01), dear_values()}, 1e-4,
                           0.999);
    case Way::shared_values:
      return of_classes(160, 4, dear_values());
    case Way::small_machine:
      return of_classes(120, 12, {});
    case Way::few_columns:
      return for_each_task({"columns", two(), by(InteriorPoint{}, Linear{}, 2), {}}, 0.05, 0.3);
    case Way::columns_for_K: {
      InteriorPoint path;
      path.low_rank = 1e-5;
      return for_each_task({"columns", two(), by(path, Rbf{0.01}, 2), {}}, 0.05, 0.3);
    }
    case Way::simplex_sets:
      return by_simplices(Rbf{0.75}, 2, {.working_set = 8});
    case Way::chosen_anew:
      return by_simplices(Rbf{0.75}, 2,
                          {.least_examples = 16, .most_examples = 16, .fresh_examples = 8});
    case Way::simplex_newton:
      return by_simplices(Rbf{0.1}, 10, {.visits_to_newton = 1, .newton_share = 1e9});
    case Way::linear_simplices:
      return by_simplices(Linear{}, 2, {});
    case Way::cached_rows:
    case Way::fewer_rows:
      return for_each_task({"folds", two(), by(smo(8), Rbf{0.75}, 2), dear_values()}, 0.05, 0.3);
    case Way::count:
      break;
  }
  return {};
}

/// The dual problem of some rows by its textbook form, over naive values. `positive`: that class
/// against the others.
DualQp naive_problem(const Case& run, const std::vector<Index>& rows,
                     const std::function<bool(Index)>& positive) {
  const std::size_t n = rows.size();
  std::vector<double> values;
  for (const Index i : rows)
    for (const Index j : rows)
      values.push_back(naive_value(run.options.kernel, run.data.x, i, run.data.x, j));
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(n, std::move(values));
  qp.A.resize(1);
  qp.d = {0};
  const auto add = [&](std::size_t point, const Block& block) {
    qp.row.push_back(static_cast<Index>(point));
    qp.block.push_back(block);
    qp.A[0].push_back(block.sign);
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (const auto* svc = std::get_if<Svc>(&run.options.task)) {
      add(k, {positive(rows[k]) ? 1.0 : -1.0, -1, 0, svc->cost, 0});
    } else if (const auto* svr = std::get_if<Svr>(&run.options.task)) {
      const double epsilon = std::get<EpsilonInsensitive>(svr->loss).epsilon;
      add(k, {1, epsilon - run.data.y[rows[k]], 0, svr->cost, 0});
      add(k, {-1, epsilon + run.data.y[rows[k]], 0, svr->cost, 0});
    } else {
      add(k, {1, 0, 0, 1, 0});
      qp.d[0] += std::get<OneClass>(run.options.task).nu;
    }
  }
  return qp;
}

/// Crammer and Singer's problem by its textbook form: for each row a variable of each class, whose
/// sum is 0, at most C where the class is the row's and 0 elsewhere.
DualQp naive_simplices(const Case& run) {
  const Classes classes = classes_of(run.data);
  const std::size_t n = run.data.rows(), c = classes.names.size();
  const double cost = std::get<Svc>(run.options.task).cost;
  std::vector<double> values(n * c * n * c, 0.0);
  DualQp qp;
  qp.A.assign(n, std::vector<double>(n * c, 0.0));
  qp.d.assign(n, 0.0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double value = naive_value(run.options.kernel, run.data.x, i, run.data.x, j);
      for (std::size_t k = 0; k < c; ++k) values[(i * c + k) * n * c + j * c + k] = value;
    }
    for (std::size_t k = 0; k < c; ++k) {
      const bool own = k == classes.of_row[i];
      qp.A[i][i * c + k] = 1;
      qp.row.push_back(static_cast<Index>(i * c + k));
      qp.block.push_back({1, own ? 0.0 : 1.0, -cost, own ? cost : 0, 0});
    }
  }
  qp.K = std::make_shared<DenseQuadratic>(n * c, std::move(values));
  return qp;
}

/// The optimum lies between the certificate's bounds, which are as close as was asked for.
template <class Real = double>
void expect_optimum(const Certificate& found, const DualQp& naive, const Stop& stop) {
  const auto optimum = static_cast<double>(reference::dense_optimum<Real>(naive).dual);
  const double rounding = 1e-9 * (1e-3 + std::abs(optimum));
  EXPECT_LE(found.relative_gap, stop.relative_gap);
  EXPECT_LE(found.kkt, stop.kkt);
  EXPECT_LE(found.dual, optimum + rounding);
  EXPECT_GE(found.primal, optimum - rounding);
}

/// Rows that a machine is about; all where it has no classes.
std::vector<Index> rows_of(const Dataset& data, const Sides& sides,
                           const std::vector<bool>& left_out) {
  std::vector<Index> rows;
  const bool classes = sides.positive >= 0 && !data.y.empty();
  const std::vector<Index> of_row = classes ? classes_of(data).of_row : std::vector<Index>{};
  for (std::size_t i = 0; i < data.rows(); ++i) {
    if (!left_out.empty() && left_out[i]) continue;
    const bool is_in = !classes || static_cast<int>(of_row[i]) == sides.positive ||
                       static_cast<int>(of_row[i]) == sides.negative;
    if (is_in) rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

void expect_optimum(const Case& run, const Sides& sides, const Certificate& found,
                    const std::vector<bool>& left_out = {}) {
  const bool classes = std::holds_alternative<Svc>(run.options.task);
  const std::vector<Index> of_row = classes ? classes_of(run.data).of_row : std::vector<Index>{};
  const auto positive = [&](Index row) { return static_cast<int>(of_row[row]) == sides.positive; };
  Sides own = sides;
  if (!classes) own.positive = -1;
  expect_optimum(found, naive_problem(run, rows_of(run.data, own, left_out), positive),
                 run.options.stop);
}

/// The machines without each fifth row, by folds that start from all rows.
void expect_optima_of_folds(const Case& run, const Context& context) {
  const Prepared prepared = prepare(made::copy_of(run.data), run.options, context.threads);
  std::vector<std::vector<bool>> left_out(3, std::vector<bool>(run.data.rows(), false));
  for (std::size_t fold = 0; fold < left_out.size(); ++fold)
    for (std::size_t i = fold; i < run.data.rows(); i += 5) left_out[fold][i] = true;
  auto can = retrainable(prepared, run.options, left_out.size(), context);
  ASSERT_TRUE(can);
  const std::vector<Retrained> folds =
      retrain_each(prepared, std::move(*can), left_out, run.options, context);
  for (std::size_t fold = 0; fold < left_out.size(); ++fold) {
    EXPECT_EQ(folds[fold].ended, Ended::converged);
    for (std::size_t k = 0; k < folds[fold].machines.size(); ++k)
      expect_optimum(run, folds[fold].problems.list[k],
                     folds[fold].machines[k].certified.certificate, left_out[fold]);
  }
}

class FastPaths : public testing::TestWithParam<Way> {};

TEST_P(FastPaths, AreGoneBySmallProblemsToTheOptimum) {
  const std::vector<Case> cases = cases_of(GetParam());
  ASSERT_FALSE(cases.empty()) << "a way without a small problem that goes it";
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    Case run{each.name, made::copy_of(each.data), each.options, each.costs};
    // Newton's steps close the gap where pairs have made the violation small.
    const bool closes_gap = GetParam() == Way::newton;
    run.options.stop = {.kkt = closes_gap ? 1e-3 : 1e-6, .relative_gap = closes_gap ? 1e-9 : 1e-7};
    run.options.stop.iterations = 1000000;  // what goes wrong may go on for ever
    run.options.memory_bytes = std::size_t{1} << 22;
    const Threads threads(2);
    const auto ways = std::make_shared<WaysGone>();
    const Context context = Context(threads).with_costs(run.costs).counted_by(ways);
    if (GetParam() == Way::fewer_rows || GetParam() == Way::cached_rows) {
      expect_optima_of_folds(run, context);
    } else {
      const Trained trained = train(made::copy_of(run.data), run.options, context);
      EXPECT_EQ(trained.ended, Ended::converged) << trained.obstacle;
      if (is_by_simplices(run))
        // Near their corners, bounds that others imply leave the reference too few digits in
        // double.
        expect_optimum<long double>(trained.certificate, naive_simplices(run), run.options.stop);
      else
        for (const Machine& machine : trained.model.machines)
          expect_optimum(run, machine, machine.certificate);
    }
    EXPECT_GT(ways->times(GetParam()), 0u) << "it was not gone";
  }
}

std::vector<Way> all_ways() {
  std::vector<Way> all;
  for (std::size_t k = 0; k < static_cast<std::size_t>(Way::count); ++k)
    all.push_back(static_cast<Way>(k));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ways, FastPaths, testing::ValuesIn(all_ways()),
                         [](const auto& instance) { return std::to_string(instance.index); });

}  // namespace
}  // namespace maxmargin::fast_paths_test
