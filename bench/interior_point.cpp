// Times the interior point method against the linear algebra that it cannot do without:
// `interior_point svc|svr POINTS [threads]`. Prints one JSON object. The data are made: POINTS rows
// of 8 features, a smooth target with noise, for classification its sign. Times are of the
// processor, so that other work on the machine does not count; they add up over threads.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <vector>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/loss/epsilon_insensitive.hpp"
#include "maxmargin/loss/hinge.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace {

using namespace maxmargin;

constexpr std::size_t features = 8;
constexpr double cost = 1, gamma = 0.25, epsilon = 0.1;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

DualQp made_problem(bool regression, std::size_t points) {
  Rng rng(1);
  Features x = Features::dense(features);
  DualQp qp;
  qp.A.emplace_back();
  qp.d = {0};
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(features);
    for (double& value : row) value = rng.uniform(-1, 1);
    const double y = std::sin(3 * row[0]) + row[1] * row[2] + 0.3 * rng.normal();
    x.append(row);
    const auto add = [&](const auto& blocks) {
      for (const Block& block : blocks) {
        qp.block.push_back(block);
        qp.row.push_back(static_cast<Index>(i));
        qp.A[0].push_back(block.sign);
      }
    };
    if (regression)
      add(EpsilonInsensitive{.epsilon = epsilon}.blocks(y, cost));
    else
      add(Hinge{}.blocks(y > 0 ? 1 : -1, cost));
  }
  qp.K = make_kernel_quadratic(Rbf{.gamma = gamma}, std::make_shared<const Features>(std::move(x)));
  return qp;
}

struct Algebra {
  double cholesky, product;
};

/// Processor seconds of one Cholesky factorisation and one symmetric product in OpenBLAS: the
/// shorter of two runs.
Algebra openblas(const DualQp& qp, int threads) {
  const std::size_t m = qp.K->size();
  const auto n = static_cast<int>(m);
  std::vector<Index> all(m);
  for (std::size_t i = 0; i < m; ++i) all[i] = static_cast<Index>(i);
  std::vector<double> K(m * m), M, x(m, 1.0), y(m);
  qp.K->exact_block(all, 0, m, K.data(), m);
  for (std::size_t i = 0; i < m; ++i) K[i * m + i] += 1;
  blas().openblas_set_num_threads(threads);
  Algebra best{infinity, infinity};
  for (int run = 0; run < 2; ++run) {
    M = K;
    double start = processor_seconds();
    if (potrf('U', n, M.data(), n) != 0) std::exit(3);
    best.cholesky = std::min(best.cholesky, processor_seconds() - start);
    start = processor_seconds();
    blas().cblas_dsymv(CblasColMajor, CblasUpper, n, 1, K.data(), n, x.data(), 1, 0, y.data(), 1);
    best.product = std::min(best.product, processor_seconds() - start);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: interior_point svc|svr POINTS [threads]\n");
    return 2;
  }
  try {
    const Threads threads(argc > 3 ? std::atoi(argv[3]) : 1);
    const DualQp qp = made_problem(std::strcmp(argv[1], "svr") == 0,
                                   static_cast<std::size_t>(std::atol(argv[2])));
    const Algebra algebra = openblas(qp, threads.count());
    InteriorPoint options;
    options.stop.kkt = 1e-8;
    options.stop.relative_gap = 1e-10;
    options.memory_bytes = std::size_t{1} << 40;
    const Stopwatch wall;
    const double start = processor_seconds();
    Solution solution = run(qp, options, {threads});
    const double seconds = processor_seconds() - start, wall_seconds = wall.seconds();
    const Ended ended = solution.ended;
    const Certified certified = certify(qp, std::move(solution), Precision::exact, threads);
    std::printf(
        "{\"points\": %zu, \"variables\": %zu, \"threads\": %d, \"ended\": \"%s\", "
        "\"iterations\": %zu, \"relative_gap\": %.3g, \"kkt\": %.3g, \"seconds\": %.3f, "
        "\"wall_seconds\": %.3f, \"cholesky_seconds\": %.4f, \"product_seconds\": %.4f}\n",
        qp.K->size(), qp.size(), threads.count(), std::string(to_string(ended)).c_str(),
        certified.solution.iterations, certified.certificate.relative_gap,
        certified.certificate.kkt, seconds, wall_seconds, algebra.cholesky, algebra.product);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "interior_point: %s\n", error.what());
    return 3;
  }
}
