#include "maxmargin/solver/cached.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::cached_test {
namespace {

/// Squared hinge losses over noisy points, with the row of a bias or without.
DualQp squared_machine(bool bias) {
  Rng rng(8);
  Features x = Features::dense(2);
  DualQp qp;
  std::vector<double> signs;
  for (std::size_t i = 0; i < 40; ++i) {
    signs.push_back(i % 2 == 0 ? 1 : -1);
    x.append(std::vector<double>{rng.normal() + signs[i], rng.normal()});
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({signs[i], -1, 0, infinity, 1});
  }
  if (bias) {
    qp.A = {signs};
    qp.d = {0};
  }
  qp.K = make_kernel_quadratic(Rbf{0.5}, std::make_shared<const Features>(std::move(x)));
  return qp;
}

template <class Options>
Certified solved(const DualQp& qp, Options options, CachePolicy policy, std::size_t bytes) {
  options.cache = policy;
  options.cache_bytes = bytes;
  if constexpr (std::is_same_v<Options, Stochastic>)
    options.stop = {.kkt = 10, .relative_gap = 0.01};
  if constexpr (requires { Options::is_no_optimum; }) options.stop.iterations = 300;
  if constexpr (requires { options.working_set; }) options.working_set = 6;
  if constexpr (requires { options.chunk; }) options.chunk = 6;
  if constexpr (requires { options.dense; }) options.dense = 0;  // conjugate gradients
  return solve(qp, options, Threads(1));
}

TEST(Cached, EverySolverThatIsGivenAPolicyFindsItsValuesAndTheSameOptimum) {
  int asked = 0;
  for_each_component<Solver>([&](const auto& options) {
    if constexpr (requires { options.cache; }) {
      SCOPED_TRACE(std::string(options.name));
      const DualQp qp = squared_machine(std::is_same_v<std::decay_t<decltype(options)>, Platt>);
      const Certified plain = solved(qp, options, CachePolicy::function, 1 << 20);
      for (const CachePolicy policy : {CachePolicy::row, CachePolicy::element}) {
        SCOPED_TRACE(std::string(to_string(policy)));
        const Certified roomy = solved(qp, options, policy, 1 << 20);
        EXPECT_EQ(roomy.solution.ended, plain.solution.ended);
        EXPECT_LE(roomy.certificate.dual, plain.certificate.primal);
        EXPECT_LE(plain.certificate.dual, roomy.certificate.primal);
        EXPECT_GT(roomy.solution.values_asked, 0u);
        EXPECT_GT(roomy.solution.values_found, 0u);
        EXPECT_LE(roomy.solution.values_found, roomy.solution.values_asked);
        const Certified scarce = solved(qp, options, policy, 1);
        EXPECT_EQ(scarce.solution.ended, plain.solution.ended);
        EXPECT_LE(scarce.certificate.dual, plain.certificate.primal);
        EXPECT_LE(plain.certificate.dual, scarce.certificate.primal);
      }
      ++asked;
    }
  });
  EXPECT_EQ(asked, 9);
}

}  // namespace
}  // namespace maxmargin::cached_test
