// One run of the experiments of Kienzle and Schoelkopf, "Training support vector machines with
// multiple equality constraints" (2005): `mpd fit --rows M ...` prints one JSON object, `mpd data`
// the x and y of its rows, `mpd toy` the course of figure 1's run as CSV. bench/papers/mpd/run
// calls it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace {

using namespace maxmargin;

struct Settings {
  std::size_t rows = 1000;
  double cost = 1;
  bool cost_of_each = false;  ///< the bound of a variable is C, not C / m
  double epsilon = 0.05;
  double width = 1;  ///< sigma of exp(-|x - z|^2 / 2 sigma^2)
  bool bias = false;
  bool plain = false;  ///< the bias alone
  std::uint64_t seed = 1;
  int threads = 0;
  std::string solver = "primal-dual";
  double threshold = 0.01;
  std::size_t cache_megabytes = 2048;
  std::string safeguard = "augmented";
  double penalty = 3;
  bool hessian = false, wait = false, no_newton = false;
  int working_set = 0;
  double seconds = infinity;
};

double sinc(double z) { return z == 0 ? 1 : std::sin(z) / z; }

double seconds_of_all_threads() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Section 6: y = sin x + sinc(2 pi (x - 5)) + noise of standard deviation 0.2.
struct Sample {
  std::vector<double> x, y;
};

/// The unpenalised functions of the model: the two terms of y, and perhaps the bias.
std::array<double, 3> functions(double x) {
  return {std::sin(x), sinc(2 * std::numbers::pi * (x - 5)), 1};
}

Sample draw(const Settings& s) {
  Rng rng(s.seed);
  const double half_width = 0.2 * std::numbers::sqrt3;
  Sample sample;
  for (std::size_t i = 0; i < s.rows; ++i) {
    sample.x.push_back(rng.uniform(0, 10));
    const auto phi = functions(sample.x.back());
    sample.y.push_back(phi[0] + phi[1] + rng.uniform(-half_width, half_width));
  }
  return sample;
}

DualQp regression(const Settings& s) {
  const Sample sample = draw(s);
  const double bound = s.cost_of_each ? s.cost : s.cost / static_cast<double>(s.rows);
  const std::vector<std::size_t> used = s.plain  ? std::vector<std::size_t>{2}
                                        : s.bias ? std::vector<std::size_t>{0, 1, 2}
                                                 : std::vector<std::size_t>{0, 1};
  DualQp qp;
  qp.A.resize(used.size());
  qp.d.assign(qp.A.size(), 0.0);
  for (std::size_t i = 0; i < s.rows; ++i)
    for (const double sign : {1.0, -1.0}) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back({sign, s.epsilon - sign * sample.y[i], 0, bound, 0});
      for (std::size_t r = 0; r < qp.A.size(); ++r)
        qp.A[r].push_back(sign * functions(sample.x[i])[used[r]]);
    }
  qp.K = make_kernel_quadratic(Rbf{1 / (2 * s.width * s.width)},
                               std::make_shared<const Features>(Features::dense(1, sample.x)));
  return qp;
}

Solver solver_of(const Settings& s, const DualQp& qp) {
  Stop stop;
  // Two variables that violate by eps_p each differ by twice as much; the gap is not asked for.
  stop.kkt = 2 * s.threshold;
  stop.relative_gap = infinity;
  stop.seconds = s.seconds;
  Solver solver = named_solver(s.solver, qp, stop, s.cache_megabytes << 20);
  if (auto* options = std::get_if<PrimalDual>(&solver)) {
    options->primal_tolerance = options->dual_tolerance = s.threshold;
    options->safeguard = value_named<Safeguard>(s.safeguard).value();
    options->penalty = s.penalty;
    options->hessian = s.hessian || s.wait;
    options->wait = s.wait;
    options->newton = !s.no_newton;
    if (s.working_set > 0) options->working_set = s.working_set;
  }
  return solver;
}

void fit(const Settings& s) {
  const Threads threads(s.threads);
  const DualQp qp = regression(s);
  std::size_t dual_steps = 0;
  const std::function<void(const PrimalDualState&)> count = [&](const PrimalDualState& state) {
    dual_steps += state.dual_step;
  };
  Solver solver = solver_of(s, qp);
  if (auto* options = std::get_if<PrimalDual>(&solver)) options->watch = &count;
  const Stopwatch clock;
  const double cpu_before = seconds_of_all_threads();
  const Certified found = solve(qp, solver, threads);
  const double seconds = clock.seconds(), cpu_seconds = seconds_of_all_threads() - cpu_before;
  const Certificate& c = found.certificate;
  std::size_t support = 0;
  for (const double beta : qp.coefficients(found.solution.a)) support += beta != 0;
  fmt::print(
      "{{\"rows\": {}, \"cost\": {}, \"bound\": \"{}\", \"solver\": \"{}\", \"threads\": {}, "
      "\"ended\": \"{}\", \"seconds\": {:.4f}, \"certifying\": {:.4f}, \"cpu_seconds\": {:.4f}, "
      "\"iterations\": {}, "
      "\"dual_steps\": {}, \"coefficients\": [{:.8g}], \"primal\": {:.10g}, \"dual\": {:.10g}, "
      "\"relative_gap\": {:.3g}, \"kkt\": {:.3g}, \"equality_residual\": {:.3g}, "
      "\"support_vectors\": {}, \"peak_memory_bytes\": {}}}\n",
      s.rows, s.cost, s.cost_of_each ? "C" : "C/m", s.solver, threads.count(),
      to_string(found.solution.ended), seconds - found.seconds, found.seconds, cpu_seconds,
      found.solution.iterations, dual_steps, fmt::join(found.solution.lambda, ", "), c.primal,
      c.dual, c.relative_gap, c.kkt, c.equality_residual, support, peak_memory_bytes());
}

void data(const Settings& s) {
  const Sample sample = draw(s);
  for (std::size_t i = 0; i < s.rows; ++i) fmt::print("{},{}\n", sample.x[i], sample.y[i]);
}

/// Figure 1: two Gaussians of 20 points in the plane, their means sqrt 2 apart, one row.
DualQp two_gaussians(const Settings& s) {
  Rng rng(s.seed);
  std::vector<double> values;
  DualQp qp;
  qp.A.resize(1);
  qp.d = {0};
  for (int i = 0; i < 40; ++i) {
    const double y = i < 20 ? 1 : -1;
    for (int j = 0; j < 2; ++j) values.push_back(y / 2 + rng.normal());
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({y, -1, 0, s.cost_of_each ? s.cost : s.cost / 40, 0});
    qp.A[0].push_back(y);
  }
  qp.K = make_kernel_quadratic(Rbf{1 / (2 * s.width * s.width)},
                               std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

void toy(const Settings& s) {
  const Threads threads(1);
  const DualQp qp = two_gaussians(s);
  Solver solver = solver_of(s, qp);
  fmt::print("iteration,violation,residual,eta,dual_step\n");
  const std::function<void(const PrimalDualState&)> print = [](const PrimalDualState& state) {
    fmt::print("{},{:.6g},{:.6g},{:.8g},{}\n", state.iteration, state.violation, state.residual,
               state.lambda[0], state.dual_step ? 1 : 0);
  };
  std::get<PrimalDual>(solver).watch = &print;
  const Certified found = solve(qp, solver, threads);
  if (found.solution.ended != Ended::converged)
    fmt::print(stderr, "mpd: {}\n", to_string(found.solution.ended));
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app("the experiments of the minimal primal-dual method");
  app.require_subcommand(1);
  for (const auto& [name, action] :
       {std::pair{"fit", &fit}, std::pair{"data", &data}, std::pair{"toy", &toy}}) {
    CLI::App* verb = app.add_subcommand(name);
    verb->add_option("--rows", s.rows);
    verb->add_option("--cost", s.cost);
    verb->add_flag("--cost-of-each", s.cost_of_each);
    verb->add_option("--epsilon", s.epsilon);
    verb->add_option("--width", s.width);
    verb->add_flag("--bias", s.bias);
    verb->add_flag("--plain", s.plain);
    verb->add_option("--seed", s.seed);
    verb->add_option("--threads", s.threads);
    verb->add_option("--solver", s.solver);
    verb->add_option("--threshold", s.threshold);
    verb->add_option("--cache", s.cache_megabytes);
    verb->add_option("--safeguard", s.safeguard);
    verb->add_option("--penalty", s.penalty);
    verb->add_flag("--hessian", s.hessian);
    verb->add_flag("--wait", s.wait);
    verb->add_flag("--no-newton", s.no_newton);
    verb->add_option("--working-set", s.working_set);
    verb->add_option("--seconds", s.seconds);
    verb->callback([&s, action = action] { action(s); });
  }
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mpd: {}\n", error.what());
    return 3;
  }
}
