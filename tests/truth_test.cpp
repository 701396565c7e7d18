// Machines over a few rows, ordinary and extreme, judged in long double (truth.hpp) from their
// model files alone: dual and primal enclose the optimum, what converged is as good as was asked
// for, and verify refuses none.
#include "tests/truth.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/recorded.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin::truth_test {
namespace {

using truth::Problem;
using truth::Real;
using truth::Variable;

struct Drawn {
  Dataset data;
  TrainOptions options;
  std::string told;  ///< what is special about it
};

template <class... Choices>
auto one_of(Rng& rng, const Choices&... choices) {
  const std::array list{choices...};
  return list[rng.below(list.size())];
}
double decades(Rng& rng, double low, double high) { return std::pow(10.0, rng.uniform(low, high)); }

Dataset draw_data(Rng& rng, bool classes, bool non_negative, std::string& told) {
  const std::size_t rows = 4 + rng.below(27), columns = 1 + rng.below(4);
  const int look = static_cast<int>(rng.below(10));
  const double scale = look == 1 ? decades(rng, -3, 3) : 1;
  const double offset = look == 2 ? one_of(rng, 1e3, 1e6, 1e8) : 0;
  const double noise = rng.uniform(0, 1.5);
  Dataset data;
  data.x = Features::dense(columns);
  std::vector<std::vector<double>> points;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> x(columns);
    const int label = i % 2 == 0 ? 1 : -1;
    for (double& value : x) {
      value = label * 0.7 + noise * rng.normal();
      if (look == 3) value = std::round(2 * value);
      value = value * scale + offset;
      if (non_negative) value = std::abs(value);
    }
    if (look == 4 && i % 3 == 2) x = points[rng.below(i)];
    if (look == 5 && i + 1 == rows) x[0] = one_of(rng, 1e5, 1e9);
    points.push_back(x);
    data.x.append(x);
    const double y = std::sin(x[0]) + 0.1 * rng.normal();
    data.y.push_back(classes ? label : look == 6 ? 1e4 * y + 1e6 : y);
  }
  if (look == 7)
    for (std::size_t i = 0; i < rows; ++i) data.weight.push_back(decades(rng, -9, 9));
  if (look == 8)
    for (std::size_t i = 0; i < rows; ++i) data.weight.push_back(one_of(rng, 0.0, 1.0, 2.0, 0.5));
  if (look == 8) data.weight[0] = data.weight[1] = 1;
  told += " rows " + std::to_string(rows) + "x" + std::to_string(columns) + " look " +
          std::to_string(look);
  return data;
}

Kernel draw_kernel(Rng& rng) {
  const double gamma = rng.below(3) == 0 ? decades(rng, -6, 6) : decades(rng, -1.5, 1);
  switch (rng.below(8)) {
    case 0:
      return Linear{};
    case 1:
      return Polynomial{std::min(gamma, 10.0), 1 + static_cast<int>(rng.below(6)),
                        one_of(rng, 0.0, 1.0)};
    case 2:
      return Laplacian{gamma};
    case 3:
      return ChiSquared{gamma};
    case 4:
      return DistanceRbf{gamma, one_of(rng, Distance::euclidean, Distance::manhattan,
                                       Distance::squared_euclidean, Distance::hellinger)};
    default:
      return Rbf{gamma};
  }
}

Task draw_task(Rng& rng, std::string& told) {
  const double cost = rng.below(2) == 0 ? decades(rng, -10, 10) : decades(rng, -1, 3);
  told += " cost " + shortest(cost);
  const Bias bias = one_of(rng, Bias::unpenalised, Bias::unpenalised, Bias::penalised, Bias::none);
  switch (rng.below(7)) {
    case 0: {
      Svr task;
      task.cost = cost;
      const double epsilon = one_of(rng, 0.0, 0.1, 0.5);
      const double over = one_of(rng, 1.0, 1.0, 3.0);
      const ErrorLoss tube = EpsilonInsensitive{epsilon, over};
      task.loss = one_of(rng, tube, tube, ErrorLoss(SquaredEpsilonInsensitive{epsilon, over}),
                         ErrorLoss(Huber{}), ErrorLoss(Squared{}), ErrorLoss(Pinball{}));
      const double tau = one_of(rng, 0.5, 0.9);
      if (auto* pinball = std::get_if<Pinball>(&task.loss)) pinball->tau = tau;
      task.bias = bias;
      return task;
    }
    case 1:
      return NuSvr{cost, one_of(rng, 0.01, 0.2, 0.5, 1.0)};
    case 2:
      return NuSvc{one_of(rng, 0.01, 0.1, 0.3)};
    case 3:
      return OneClass{one_of(rng, 1e-6, 0.05, 0.5, 1.0)};
    default: {
      Svc task;
      task.cost = cost;
      const MarginLoss hinge = Hinge{};
      task.loss =
          one_of(rng, hinge, hinge, hinge, MarginLoss(SquaredHinge{}), MarginLoss(HuberisedHinge{}),
                 MarginLoss(Logistic{}), MarginLoss(Exponential{}));
      task.bias = bias;
      return task;
    }
  }
}

Drawn draw(std::uint64_t seed) {
  Rng rng(seed * 7919 + 13);
  Drawn drawn;
  drawn.told = "seed " + std::to_string(seed);
  drawn.options.task = draw_task(rng, drawn.told);
  drawn.options.kernel = draw_kernel(rng);
  const Outcome outcome = outcome_of(drawn.options.task);
  const auto* distance = std::get_if<DistanceRbf>(&drawn.options.kernel);
  const bool non_negative = std::holds_alternative<ChiSquared>(drawn.options.kernel) ||
                            (distance != nullptr && distance->distance == Distance::hellinger);
  drawn.data = draw_data(rng, outcome == Outcome::classes, non_negative, drawn.told);
  drawn.options.stop.seconds = 2;
  const int stop = static_cast<int>(rng.below(6));
  if (stop == 0) drawn.options.stop.iterations = 1 + rng.below(5);
  if (stop == 1) drawn.options.stop.kkt = drawn.options.stop.relative_gap = 1e-6;
  drawn.told += " stop " + std::to_string(stop);
  for (const Texts& texts : {texts_of(drawn.options.task), recorded(drawn.options)})
    for (const auto& [name, value] : texts) drawn.told += " " + name + "=" + value;
  return drawn;
}

Real naive_kernel(const Kernel& kernel, const std::vector<Real>& x, const std::vector<Real>& z) {
  Real dot = 0, squares = 0, sizes = 0, chi = 0, roots = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Real difference = x[j] - z[j];
    dot += x[j] * z[j];
    squares += difference * difference;
    sizes += std::abs(difference);
    if (x[j] + z[j] > 0) chi += difference * difference / (x[j] + z[j]);
    if (x[j] >= 0 && z[j] >= 0)
      roots += (std::sqrt(x[j]) - std::sqrt(z[j])) * (std::sqrt(x[j]) - std::sqrt(z[j]));
  }
  if (std::holds_alternative<Linear>(kernel)) return dot;
  if (const auto* p = std::get_if<Polynomial>(&kernel)) {
    Real power = 1;
    for (int n = 0; n < p->degree; ++n) power *= p->gamma * dot + p->coef0;
    return power;
  }
  if (const auto* p = std::get_if<Rbf>(&kernel)) return std::exp(-p->gamma * squares);
  if (const auto* p = std::get_if<Laplacian>(&kernel)) return std::exp(-p->gamma * sizes);
  if (const auto* p = std::get_if<ChiSquared>(&kernel)) return std::exp(-p->gamma * chi);
  const auto& p = std::get<DistanceRbf>(kernel);
  const Real distance = p.distance == Distance::squared_euclidean ? squares
                        : p.distance == Distance::euclidean       ? std::sqrt(squares)
                        : p.distance == Distance::manhattan       ? sizes
                        : p.distance == Distance::chi_squared     ? chi
                                                                  : roots;
  return std::exp(-p.gamma * distance);
}

/// The problem as the task defines it, over the rows that have a weight.
struct Stated {
  Problem problem;
  std::vector<std::size_t> rows;  ///< of the data
};

void add_row(const Task& task, double y, Real weight, std::size_t row, Problem& problem) {
  Variable v;
  v.row = row;
  const auto sided = [&](Real length, Real curvature) {
    v.slope = y;
    (y > 0 ? v.high : v.low) = y * length;
    v.above = v.below = curvature;
  };
  if (const auto* svc = std::get_if<Svc>(&task)) {
    const Real price = svc->cost * weight;
    v.label = y, v.price = price;
    if (std::holds_alternative<Hinge>(svc->loss)) sided(price, 0);
    if (std::holds_alternative<SquaredHinge>(svc->loss)) sided(truth::endless, 1 / (2 * price));
    if (const auto* huberised = std::get_if<HuberisedHinge>(&svc->loss))
      sided(price, huberised->sigma / price);
    if (std::holds_alternative<Logistic>(svc->loss)) {
      v.kind = Variable::Kind::logistic;
      (y > 0 ? v.high : v.low) = y * price;
    }
    if (std::holds_alternative<Exponential>(svc->loss)) {
      v.kind = Variable::Kind::exponential;
      (y > 0 ? v.high : v.low) = y * truth::endless;
    }
  } else if (std::holds_alternative<NuSvc>(task)) {
    (y > 0 ? v.high : v.low) = y * weight;
    v.group = y > 0 ? 0 : 1;
  } else if (std::holds_alternative<OneClass>(task)) {
    v.high = weight;
  } else if (const auto* nu = std::get_if<NuSvr>(&task)) {
    v.slope = y;
    v.high = nu->cost * weight;
    problem.variables.push_back(v);
    v.high = 0, v.low = -nu->cost * weight, v.group = 1;
  } else {
    const Svr& svr = std::get<Svr>(task);
    const Real price = svr.cost * weight;
    v.slope = y;
    v.low = -price, v.high = price;
    if (const auto* tube = std::get_if<EpsilonInsensitive>(&svr.loss)) {
      v.corner = tube->epsilon;
      v.low *= tube->over, v.high *= tube->under;
    }
    if (const auto* tube = std::get_if<SquaredEpsilonInsensitive>(&svr.loss)) {
      v.corner = tube->epsilon;
      v.below = 1 / (2 * price * tube->over), v.above = 1 / (2 * price * tube->under);
      v.low = -truth::endless, v.high = truth::endless;
    }
    if (const auto* huber = std::get_if<Huber>(&svr.loss)) v.below = v.above = huber->sigma / price;
    if (std::holds_alternative<Squared>(svr.loss)) {
      v.below = v.above = 1 / price;
      v.low = -truth::endless, v.high = truth::endless;
    }
    if (const auto* pinball = std::get_if<Pinball>(&svr.loss))
      v.low *= 1 - static_cast<Real>(pinball->tau), v.high *= pinball->tau;
  }
  problem.variables.push_back(v);
}

Stated state(const Drawn& drawn) {
  Stated stated;
  std::vector<std::vector<Real>> x;
  Real all = 0;
  for (std::size_t i = 0; i < drawn.data.rows(); ++i) {
    const Real weight = drawn.data.weight.empty() ? 1 : drawn.data.weight[i];
    if (weight == 0) continue;
    add_row(drawn.options.task, drawn.data.y[i], weight, stated.rows.size(), stated.problem);
    stated.rows.push_back(i);
    x.emplace_back(drawn.data.x.columns(), 0);
    drawn.data.x.view().for_each(i, [&](Index j, double value) { x.back()[j] = value; });
    all += weight;
  }
  const Bias bias = bias_of(drawn.options.task);
  for (const auto& one : x) {
    auto& row = stated.problem.K.emplace_back();
    for (const auto& other : x)
      row.push_back(naive_kernel(drawn.options.kernel, one, other) +
                    (bias == Bias::penalised ? 1 : 0));
  }
  if (bias == Bias::unpenalised) stated.problem.sums = {0};
  if (const auto* task = std::get_if<OneClass>(&drawn.options.task))
    stated.problem.sums = {task->nu * all};
  if (const auto* task = std::get_if<NuSvc>(&drawn.options.task))
    stated.problem.sums = {task->nu * all / 2, -task->nu * all / 2};
  if (const auto* task = std::get_if<NuSvr>(&drawn.options.task))
    stated.problem.sums = {task->cost * task->nu * all / 2, -task->cost * task->nu * all / 2};
  return stated;
}

/// What a model says, in the variables of the problem.
struct Point {
  std::vector<Real> b, lambda;
};
Point point_of(const Model& model, const Task& task, const Stated& stated) {
  const Machine& machine = model.machines[0];
  const bool margin = std::holds_alternative<NuSvc>(task);
  const Real scale =
      margin && machine.width > std::numeric_limits<double>::min() ? machine.width : 1;
  std::vector<Real> beta(model.rows, 0);
  // Of two classes the model's machine speaks for the second: +1.
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    beta[model.support_row[machine.support[k]]] += machine.coefficient[k] * scale;
  Point point;
  for (const Variable& v : stated.problem.variables) {
    const Real whole = beta[stated.rows[v.row]];
    point.b.push_back(std::clamp(whole, v.low, v.high));
  }
  const Real bias = machine.bias() * scale, width = machine.width;
  point.lambda = {bias};
  if (margin) point.lambda = {bias - width, bias + width};
  if (std::holds_alternative<NuSvr>(task)) point.lambda = {bias + width, bias - width};
  return point;
}

/// Raises a and a* of nu-SVR together: coefficients tell their difference only.
void fill_up(const Stated& stated, std::vector<Real>& b) {
  const auto& variables = stated.problem.variables;
  Real missing = stated.problem.sums[0];
  for (std::size_t v = 0; v < b.size(); v += 2) missing -= b[v];
  for (std::size_t v = 0; v < b.size() && missing > 0; v += 2) {
    const Real more =
        std::min({missing, variables[v].high - b[v], b[v + 1] - variables[v + 1].low});
    b[v] += more, b[v + 1] -= more, missing -= more;
  }
}

struct Findings {
  std::size_t problems = 0, converged = 0, tight = 0;
  std::vector<std::string> faults;
};

std::string digits(Real value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.12Lg", value);
  return text;
}

Trained trained_from(Dataset data, const TrainOptions& options) {
  Trained trained = train(std::move(data), options, Threads(1));
  const std::string bytes = to_bytes(trained.model);
  trained.model = from_bytes(std::as_bytes(std::span(bytes)), "model");
  return trained;
}

void judge(std::uint64_t seed, Findings& findings) {
  const Drawn drawn = draw(seed);
  std::string faults;
  const auto fault = [&](const std::string& what) { faults += "\n    " + what; };
  Trained trained;
  try {
    trained = trained_from(draw(seed).data, drawn.options);
  } catch (const Error&) {
    return;  // refused before work starts: nothing is claimed
  }
  ++findings.problems;
  const Stated stated = state(drawn);
  const Problem& problem = stated.problem;
  const auto judged = [&](const Model& model, int sweeps) {
    Point point = point_of(model, drawn.options.task, stated);
    if (std::holds_alternative<NuSvr>(drawn.options.task)) fill_up(stated, point.b);
    struct {
      truth::Value own, primal, dual;
      bool feasible;
    } result;
    result.own = problem.primal(point.b, point.lambda);
    problem.make_feasible(point.b);
    result.dual = problem.dual(point.b);
    problem.ascend(point.b, sweeps);
    problem.make_feasible(point.b);
    const truth::Value raised = problem.dual(point.b);
    if (raised.value - raised.slack() > result.dual.value - result.dual.slack())
      result.dual = raised;
    result.primal = problem.primal(point.b, problem.best_lambda(point.b, point.lambda));
    if (result.own.value + result.own.slack() < result.primal.value + result.primal.slack())
      result.primal = result.own;
    Real scale = 0;
    for (const Real b : point.b) scale += std::abs(b);
    result.feasible = problem.misses(point.b) <= 1e-17L * scale;
    return result;
  };
  const auto mine = judged(trained.model, 0);
  const auto is_known = [](const auto& found) {
    return found.feasible &&
           found.primal.value - found.dual.value <=
               1e-9L * (std::abs(found.primal.value) + std::abs(found.dual.value));
  };
  const auto best = is_known(mine) ? mine : judged(trained.model, 10);
  const Machine& machine = trained.model.machines[0];
  const Certificate& c = machine.certificate;
  for (const double field : {c.primal, c.dual, c.gap, c.relative_gap, c.kkt, c.rounding,
                             c.best_primal, c.best_dual, c.equality_residual, c.bound_residual})
    if (std::isnan(field)) fault("a field is not a number");
  if (c.gap < 0) fault("the gap is negative");
  if (c.best_dual > c.best_primal) fault("best_dual above best_primal");
  const Real top = best.primal.value + best.primal.slack();
  const Real bottom = best.feasible ? best.dual.value - best.dual.slack() : -truth::endless;
  const std::string optimum = "optimum in [" + digits(bottom) + ", " + digits(top) + "]";
  if (top - bottom <= 1e-6L * (std::abs(top) + std::abs(bottom))) ++findings.tight;
  if (c.dual > top) fault("dual " + digits(c.dual) + ", " + optimum);
  if (c.best_dual > top) fault("best_dual " + digits(c.best_dual) + ", " + optimum);
  if (c.primal < bottom) fault("primal " + digits(c.primal) + ", " + optimum);
  if (c.best_primal < bottom) fault("best_primal " + digits(c.best_primal) + ", " + optimum);
  // Numbers that are divided or added up on their way into the file are rounded once more.
  const bool copied = std::holds_alternative<NuSvc>(drawn.options.task) ||
                      std::holds_alternative<NuSvr>(drawn.options.task) ||
                      drawn.told.find("look 4") != std::string::npos ||
                      drawn.told.find("look 3") != std::string::npos;
  if (!copied && c.primal < mine.own.value - mine.own.slack())
    fault("primal " + digits(c.primal) + ", that of its coefficients " + digits(mine.own.value));
  if (machine.ended == Ended::converged) {
    ++findings.converged;
    const Real gap = mine.own.value - mine.own.slack() - top;
    const Real asked = drawn.options.stop.relative_gap;
    if (2 * gap > 1.0001L * asked * (std::abs(mine.own.value) + std::abs(top)))
      fault("converged, but " + digits(gap) + " above the optimum; " + optimum);
  }
  try {
    const Verified verified = verify(trained.model, drawn.data, Threads(1))[0];
    if (!verified.holds) fault("verify refuses: " + verified.reason);
  } catch (const Error& error) {
    fault(std::string("verify throws: ") + error.what());
  }
  if (!faults.empty()) findings.faults.push_back(drawn.told + faults);
}

/// MAXMARGIN_TRUTH=first:count runs other problems than those of the tests, and tells of each.
std::pair<std::uint64_t, std::uint64_t> range_of(std::uint64_t first, std::uint64_t count) {
  if (const char* given = std::getenv("MAXMARGIN_TRUTH")) {
    first = std::strtoull(given, nullptr, 10);
    const char* colon = std::strchr(given, ':');
    count = colon == nullptr ? 1 : std::strtoull(colon + 1, nullptr, 10);
  }
  return {first, first + count};
}

Findings look_at(std::uint64_t first, std::uint64_t count) {
#ifdef MAXMARGIN_SANITIZED
  count /= 25;
#endif
  Findings findings;
  const auto [begin, end] = range_of(first, count);
  for (std::uint64_t seed = begin; seed < end; ++seed) judge(seed, findings);
  return findings;
}

class Truth : public testing::TestWithParam<int> {};

TEST_P(Truth, EnclosesTheOptimum) {
  const Findings found = look_at(static_cast<std::uint64_t>(GetParam()) * 250, 250);
  std::cerr << found.problems << " problems, " << found.converged << " converged, " << found.tight
            << " optima known\n";
  for (const std::string& fault : found.faults) ADD_FAILURE() << fault;
}

INSTANTIATE_TEST_SUITE_P(Small, Truth, testing::Range(0, 8));

}  // namespace
}  // namespace maxmargin::truth_test
