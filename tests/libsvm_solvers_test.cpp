// Every solver beside LIBSVM: the five types at the tolerance that LIBSVM's own method reaches, by
// Debian's svm-train.
#include <gtest/gtest.h>

#include <algorithm>

#include "maxmargin/base/error.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/libsvm_witness.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::libsvm_solvers_test {
namespace {

struct LibsvmCase {
  std::string name;
  Task task;
  std::string words;  ///< the same for svm-train
};
void PrintTo(const LibsvmCase& each, std::ostream* out) { *out << each.name; }

std::vector<LibsvmCase> all_types() {
  Svc svc;
  svc.cost = 2;
  NuSvc nu_svc;
  nu_svc.nu = 0.6;
  OneClass one_class;
  one_class.nu = 0.3;
  Svr svr;
  svr.cost = 2;
  svr.loss = EpsilonInsensitive{0.1};
  NuSvr nu_svr;
  nu_svr.cost = 2;
  nu_svr.nu = 0.4;
  return {{"c_svc", svc, "-s 0 -c 2"},
          {"nu_svc", nu_svc, "-s 1 -n 0.6"},
          {"one_class", one_class, "-s 2 -n 0.3"},
          {"epsilon_svr", svr, "-s 3 -c 2 -p 0.1"},
          {"nu_svr", nu_svr, "-s 4 -c 2 -n 0.4"}};
}

class SolversBesideLibsvm : public testing::TestWithParam<LibsvmCase> {};

TEST_P(SolversBesideLibsvm, TheSameOptimum) {
  const Task& task = GetParam().task;
  const Outcome outcome = outcome_of(task);
  const Dataset data = outcome == Outcome::number
                           ? made::regression(150, 4, made::Storage::sparse, 31)
                           : made::classification(150, 4, made::Storage::sparse, 32);
  const Folder folder;
  std::ofstream(folder / "train") << libsvm_lines(data);
  const Objectives theirs(
      folder.run("svm-train -e 1e-7 -g 0.5 " + GetParam().words + " train model"));
  ASSERT_EQ(theirs.value.size(), 1u);
  std::vector<std::string> accepted;
  for_each_component<Solver>([&](const auto& solver) {
    SCOPED_TRACE(std::string(solver.name));
    TrainOptions options;
    options.task = task;
    options.kernel = Rbf{.gamma = 0.5};
    options.solver = solver.name;
    options.stop.kkt = 1e-8;
    options.stop.relative_gap = 1e-8;
    Dataset given = made::copy_of(data);
    if (outcome == Outcome::novelty) given.y.clear();
    try {
      const Trained trained = train(std::move(given), options, Threads(2));
      accepted.emplace_back(solver.name);
      EXPECT_EQ(trained.ended, Ended::converged);
      // LIBSVM minimises, with kernel values in float, and prints six decimals.
      const double slack = 1e-6 * std::abs(theirs.value[0]) + theirs.rounding[0];
      EXPECT_NEAR(-trained.certificate.dual, theirs.value[0], slack);
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.fault(), Fault::usage) << refusal.what();
    }
  });
  for (const char* solver : {"smo", "interior-point", "primal-dual"})
    EXPECT_NE(std::ranges::find(accepted, solver), accepted.end()) << solver << " refused";
}

INSTANTIATE_TEST_SUITE_P(All, SolversBesideLibsvm, testing::ValuesIn(all_types()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace maxmargin::libsvm_solvers_test
