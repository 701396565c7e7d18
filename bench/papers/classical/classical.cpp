// What bench/papers/classical/run cannot ask the program for: `classical count FILE ...` trains a
// machine of two classes with a bias and counts the kernel values that it takes, `classical lru
// FILE ...` what a cache of rows would have found in Platt's solver, by its size, `classical path
// ...` prints the variables of a small problem after every step. One JSON object each.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace {

using namespace maxmargin;
using Counter = std::shared_ptr<std::atomic<std::size_t>>;

/// The same matrix, counting the values that are asked for, zeros of truncated rows included.
class Counted final : public ForwardingQuadratic {
 public:
  Counted(std::shared_ptr<const Quadratic> K, Counter count, std::vector<Index>* asked = nullptr)
      : ForwardingQuadratic(std::move(K)), count_(std::move(count)), asked_(asked) {}

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    if (asked_ != nullptr) asked_->insert(asked_->end(), which.begin(), which.end());
    *count_ += which.size() * count;
    ForwardingQuadratic::rows(which, begin, count, out, threads);
  }
  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    *count_ += which.size() * count;
    ForwardingQuadratic::exact_block(which, begin, count, out, stride);
  }
  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    for (const double each : x) *count_ += each != 0 ? size() : 0;
    ForwardingQuadratic::multiply(x, y, precision, threads);
  }
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return std::make_shared<const Counted>(inner().restrict_to(points), count_);
  }

 private:
  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    *count_ += which.size() * points.size();
    ForwardingQuadratic::among(points, which, out, threads);
  }
  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const override {
    *count_ += which.size() * columns.size();
    ForwardingQuadratic::block(which, columns, out, threads);
  }
  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    *count_ += which.size() * size();
    ForwardingQuadratic::add_product(which, coefficients, y, threads);
  }
  void code_rows(std::span<const Index> which, std::size_t begin, std::size_t count,
                 std::span<std::uint8_t* const> out, const Threads& threads) const override {
    *count_ += which.size() * count;
    ForwardingQuadratic::code_rows(which, begin, count, out, threads);
  }
  void nonzero_values(std::span<const Index> which, std::size_t begin, std::size_t count,
                      double least, const NonzeroValues& body) const override {
    *count_ += which.size() * count;
    ForwardingQuadratic::nonzero_values(which, begin, count, least, body);
  }

  Counter count_;
  std::vector<Index>* asked_;  // rows, in turn
};

struct Settings {
  std::string file, solver = "smo", loss = "hinge";
  double cost = 1, gamma = 0.05, kkt = 1e-3;
  double epsilon = 0;  ///< of a tube; 0: two classes
  double seconds = infinity;
  bool bias = false;
  std::size_t steps = 40, megabytes = 4096;
};

Stop stop_of(const Settings& s) {
  Stop stop;
  stop.kkt = s.kkt;
  stop.relative_gap = infinity;
  stop.seconds = s.seconds;
  return stop;
}

/// The first class against the others, or a tube around the targets, scaled to [0, 1].
DualQp problem_of(const Settings& s, const Counter& counter, const Threads& threads,
                  std::vector<Index>* asked = nullptr) {
  Dataset data = read(s.file, {}, threads);
  DualQp qp;
  qp.A.emplace_back();
  qp.d = {0};
  const auto add = [&](std::size_t i, double sign, double linear) {
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({sign, linear, 0, s.cost, 0});
    qp.A[0].push_back(sign);
  };
  const auto [least, most] = std::ranges::minmax(data.y);
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const double target = s.epsilon > 0 ? (data.y[i] - least) / (most - least) : 0;
    if (s.epsilon > 0)
      for (const double sign : {1.0, -1.0}) add(i, sign, s.epsilon - sign * target);
    else
      add(i, data.y[i] == data.y[0] ? 1 : -1, -1);
  }
  if (s.epsilon > 0) apply(learn_scaling(data.x, ScalingKind::unit, std::size_t{1} << 30), data.x);
  qp.K = std::make_shared<const Counted>(
      make_kernel_quadratic(Rbf{s.gamma}, std::make_shared<const Features>(std::move(data.x))),
      counter, asked);
  return qp;
}

void count(const Settings& s) {
  const Threads threads(1);
  const auto counter = std::make_shared<std::atomic<std::size_t>>(0);
  const DualQp qp = problem_of(s, counter, threads);
  const Solver solver = named_solver(s.solver, qp, stop_of(s), s.megabytes << 20);
  const std::clock_t before = std::clock();
  const Certified found = solve(qp, solver, threads);
  fmt::print(
      "{{\"rows\": {}, \"solver\": \"{}\", \"ended\": \"{}\", \"steps\": {}, \"values\": {}, "
      "\"cpu_seconds\": {:.4f}, \"primal\": {:.10g}, \"dual\": {:.10g}}}\n",
      qp.size(), s.solver, to_string(found.solution.ended), found.solution.iterations,
      counter->load(), static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC,
      found.certificate.primal, found.certificate.dual);
}

/// With room for three rows every other use of a row is seen. What a larger cache of those used
/// last would have found follows from how many others were used in between (Mattson's stack
/// distances).
void lru(const Settings& s) {
  const Threads threads(1);
  const auto counter = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<Index> asked;
  const DualQp qp = problem_of(s, counter, threads, &asked);
  Platt options;
  options.stop = stop_of(s);
  options.cache_bytes = 0;
  const Run context{threads};
  const Solution found = run(qp, options, context);
  const std::size_t m = qp.K->size(), n = asked.size();
  std::vector<std::size_t> last(m, n), tree(n + 1, 0), at_distance(m + 1, 0);
  const auto add = [&](std::size_t at, std::size_t by) {
    for (++at; at <= n; at += at & (~at + 1)) tree[at] += by;
  };
  const auto before = [&](std::size_t at) {
    std::size_t sum = 0;
    for (; at > 0; at &= at - 1) sum += tree[at];
    return sum;
  };
  for (std::size_t t = 0; t < n; ++t) {
    const Index point = asked[t];
    if (last[point] < n) {
      ++at_distance[before(t) - before(last[point])];
      add(last[point], ~std::size_t{0});
    }
    last[point] = t;
    add(t, 1);
  }
  // Values found by the three rows, and by larger caches.
  const double uses = static_cast<double>(found.values_asked) / static_cast<double>(m);
  const double near = static_cast<double>(found.values_found) / static_cast<double>(m);
  std::vector<std::string> hits;
  for (const double percent : {1, 2, 5, 10, 20, 50, 100}) {
    const double room = percent / 100 * static_cast<double>(m);
    double held = near;
    for (std::size_t distance = 0; static_cast<double>(distance) <= room && distance <= m;
         ++distance)
      held += static_cast<double>(at_distance[distance]);
    hits.push_back(fmt::format("[{}, {:.2f}]", percent, 100 * held / uses));
  }
  fmt::print("{{\"rows\": {}, \"ended\": \"{}\", \"steps\": {}, \"hits\": [{}]}}\n", m,
             to_string(found.ended), found.iterations, fmt::join(hits, ", "));
}

/// Two points without a bias, or three with one: two variables are free to move either way.
DualQp small_problem(const Settings& s) {
  const std::vector<double> x = s.bias ? std::vector<double>{2.0, 1.6, 0.4, 0.3, 0.7, -0.5}
                                       : std::vector<double>{1.1, 0.9, -0.2, -1.1};
  const std::vector<double> y =
      s.bias ? std::vector<double>{1, -1, -1} : std::vector<double>{1, -1};
  DualQp qp;
  if (s.bias) {
    qp.A = {y};
    qp.d = {0};
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back(
        {y[i], -1, 0, s.loss == "hinge" ? s.cost : infinity, s.loss == "hinge" ? 0 : 1 / s.cost});
  }
  qp.K = make_kernel_quadratic(Linear{}, std::make_shared<const Features>(Features::dense(2, x)));
  return qp;
}

void path(const Settings& s) {
  const Threads threads(1);
  const DualQp qp = small_problem(s);
  std::vector<std::string> points;
  std::string ended;
  for (std::size_t steps = 0; steps <= s.steps; ++steps) {
    Stop stop = stop_of(s);
    stop.iterations = steps;
    Solver solver = named_solver(s.solver, qp, stop, s.megabytes << 20);
    if (auto* sets = std::get_if<Decomposition>(&solver)) sets->working_set = 2;
    if (auto* sets = std::get_if<Chunking>(&solver)) sets->chunk = 2;
    if (auto* draws = std::get_if<Stochastic>(&solver)) draws->batch = 1;
    const Run context{threads, {}, Precision::exact};
    const Solution found =
        std::visit([&](const auto& chosen) { return run(qp, chosen, context); }, solver);
    points.push_back(fmt::format("[{:.6g}]", fmt::join(found.a, ", ")));
    ended = to_string(found.ended);
    if (found.ended != Ended::iteration_limit) break;
  }
  const std::vector<double> zeros(qp.K->size(), 0.0);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < qp.K->size(); ++i) {
    std::vector<double> unit = zeros, row(zeros);
    unit[i] = 1;
    qp.K->multiply(unit, row, Precision::exact, threads);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] *= qp.block[i].sign * qp.block[j].sign;
    row[i] += qp.block[i].curvature;
    rows.push_back(fmt::format("[{:.10g}]", fmt::join(row, ", ")));
  }
  fmt::print("{{\"solver\": \"{}\", \"ended\": \"{}\", \"Q\": [{}], \"path\": [{}]}}\n", s.solver,
             ended, fmt::join(rows, ", "), fmt::join(points, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The classical solvers, counted and followed");
  app.require_subcommand(1);
  Settings s;
  for (auto* verb : {app.add_subcommand("count", "kernel values of a training run"),
                     app.add_subcommand("lru", "hits of caches of rows"),
                     app.add_subcommand("path", "variables after every step")}) {
    verb->add_option("--solver", s.solver);
    verb->add_option("--cost", s.cost);
    verb->add_option("--kkt", s.kkt);
    verb->add_option("--megabytes", s.megabytes);
    if (verb->get_name() != "path") {
      verb->add_option("file", s.file)->required();
      verb->add_option("--gamma", s.gamma);
      verb->add_option("--epsilon", s.epsilon, "regression by a tube of this width");
      verb->add_option("--seconds", s.seconds);
    } else {
      verb->add_option("--loss", s.loss, "hinge or squared-hinge");
      verb->add_option("--steps", s.steps);
      verb->add_flag("--bias", s.bias);
    }
  }
  CLI11_PARSE(app, argc, argv);
  try {
    app.got_subcommand("count") ? count(s) : app.got_subcommand("lru") ? lru(s) : path(s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
