#include "maxmargin/solver/restart.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/train/machines/machines.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::restart_test {
namespace {

using made::Storage;

constexpr std::size_t bytes = 1 << 20;

struct Whole {
  Prepared prepared;
  Formulated formulated;
  Certified solved;

  Whole(Dataset data, const TrainOptions& options)
      : prepared(prepare(std::move(data), options, Threads(1))) {
    const Subproblem& problem = prepared.problems.list[0];
    formulated =
        formulate(prepared.examples, problem.examples, problem.loss, options.kernel, problem.bias);
    solved = solve_from(nullptr, formulated.qp, Smo{.stop = options.stop}, Threads(1));
  }

  Known known() const {
    return {solved.solution.a, solved.f, solved.error, solved.solution.lambda};
  }

  /// Every fifth variable closed, and the nearest feasible point.
  std::pair<DualQp, std::vector<double>> without_some() const {
    DualQp qp = formulated.qp;
    std::vector<double> a = solved.solution.a;
    for (std::size_t v = 0; v < a.size(); v += 5) a[v] = qp.block[v].upper = qp.block[v].lower = 0;
    return {qp, *nearest_feasible(qp, a)};
  }
};

std::vector<std::pair<Dataset, TrainOptions>> cases() {
  const Stop stop{.kkt = 1e-4, .relative_gap = 1e-4};
  std::vector<std::pair<Dataset, TrainOptions>> list;
  list.emplace_back(made::classification(400, 6, Storage::dense_doubles, 1),
                    TrainOptions{.task = Svc{.cost = 300}, .kernel = Rbf{0.3}, .stop = stop});
  list.emplace_back(made::regression(400, 6, Storage::sparse, 2),
                    TrainOptions{.task = Svr{.cost = 300, .loss = EpsilonInsensitive{0.4}},
                                 .kernel = Rbf{0.3},
                                 .stop = stop});
  list.emplace_back(
      made::regression(400, 6, Storage::dense_doubles, 3),
      TrainOptions{.task = NuSvr{.cost = 300, .nu = 0.1}, .kernel = Rbf{0.3}, .stop = stop});
  return list;
}

TEST(Restart, ComesCloserToTheSolutionOfTheChangedProblem) {
  for (auto& [data, options] : cases()) {
    SCOPED_TRACE(std::string(name_of(options.task)));
    const Whole whole(std::move(data), options);
    const Restart part(whole.formulated.qp, whole.solved, bytes, Threads(1));
    ASSERT_TRUE(part.pays());
    const auto [qp, a] = whole.without_some();
    const Known start = known_at(qp, a, whole.known(), Threads(1));
    const Restart::Improved solved = part.improve(qp, a, whole.known(), 1e-5, Threads(1));
    const Restart::Improved same = part.improve(qp, a, start, 1e-5, Threads(1));
    for (std::size_t v = 0; v < qp.size(); ++v)
      EXPECT_NEAR(same.at.a[v], solved.at.a[v], 1e-2) << v;
    EXPECT_GT(solved.steps, 0u);
    EXPECT_LE(equality_defect(qp, solved.at.a), 1e-12);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      EXPECT_GE(solved.at.a[v], qp.block[v].lower);
      EXPECT_LE(solved.at.a[v], qp.block[v].upper);
    }
    std::vector<double> f(qp.K->size());
    qp.K->multiply(qp.coefficients(solved.at.a), f, Precision::exact, Threads(1));
    const double rounding = expected_rounding(qp, solved.at.a);
    for (std::size_t p = 0; p < f.size(); ++p) EXPECT_NEAR(solved.at.f[p], f[p], 2 * rounding);
    const Evaluation before = evaluate(qp, start.a, start.f, {}),
                     after = evaluate(qp, solved.at.a, solved.at.f, {});
    EXPECT_GT(after.dual, before.dual);
    EXPECT_LT(after.kkt, 0.5 * before.kkt);
  }
}

TEST(Restart, IsNoneWhereMostVariablesStandAtABound) {
  const TrainOptions options{.task = Svc{.cost = 0.01}, .kernel = Rbf{0.3}};
  const Whole whole(made::classification(400, 6, Storage::dense_doubles, 1), options);
  EXPECT_FALSE(Restart(whole.formulated.qp, whole.solved, bytes, Threads(1)).pays());
  EXPECT_FALSE(Restart().pays());
}

TEST(Restart, IsNoneWhereItsKernelValuesHaveNoRoom) {
  const TrainOptions options{.task = Svc{.cost = 300}, .kernel = Rbf{0.3}};
  const Whole whole(made::classification(400, 6, Storage::dense_doubles, 1), options);
  EXPECT_TRUE(Restart(whole.formulated.qp, whole.solved, bytes, Threads(1)).pays());
  EXPECT_FALSE(Restart(whole.formulated.qp, whole.solved, 1000, Threads(1)).pays());
}

TEST(Restart, IsNoneWhereItWouldBeAlmostTheWhole) {
  const TrainOptions options{.task = Svc{.cost = 100}, .kernel = Rbf{0.3}};
  const Whole whole(made::classification(60, 6, Storage::dense_doubles, 1), options);
  EXPECT_FALSE(Restart(whole.formulated.qp, whole.solved, bytes, Threads(1)).pays());
}

}  // namespace
}  // namespace maxmargin::restart_test
