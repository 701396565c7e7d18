#include "maxmargin/model/verify/verify.hpp"

#include <gtest/gtest.h>

#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "tests/sample_model.hpp"

namespace maxmargin::verify_test {
namespace {

/// A dual variable of the tiny solver: min 1/2 b'Kb + p'a, b = sum of sign a over the row's
/// variables, 0 <= a <= upper, sum of sign a kept as it starts.
struct Variable {
  std::size_t row;
  double sign, linear, upper, a;
};

/// Moves the most violating pair until nothing is violated by more than 1e-10.
void solve(std::vector<Variable>& variables, const std::vector<std::vector<double>>& K) {
  std::vector<double> g(K.size(), 0.0);
  for (const Variable& v : variables)
    for (std::size_t i = 0; i < K.size(); ++i) g[i] += v.sign * v.a * K[v.row][i];
  for (int iteration = 0; iteration < 200000; ++iteration) {
    Variable *rise = nullptr, *fall = nullptr;
    double most = -infinity, least = infinity;
    for (Variable& v : variables) {
      const double gain = -v.sign * v.linear - g[v.row];
      const bool can_rise = v.sign > 0 ? v.a < v.upper : v.a > 0;
      const bool can_fall = v.sign > 0 ? v.a > 0 : v.a < v.upper;
      if (can_rise && gain > most) most = gain, rise = &v;
      if (can_fall && gain < least) least = gain, fall = &v;
    }
    if (most - least < 1e-10) return;
    const std::size_t i = rise->row, j = fall->row;
    const double curvature = std::max(1e-12, K[i][i] + K[j][j] - 2 * K[i][j]);
    const double room_i = rise->sign > 0 ? rise->upper - rise->a : rise->a;
    const double room_j = fall->sign > 0 ? fall->a : fall->upper - fall->a;
    const double step = std::min({(most - least) / curvature, room_i, room_j});
    rise->a = step == room_i ? (rise->sign > 0 ? rise->upper : 0) : rise->a + rise->sign * step;
    fall->a = step == room_j ? (fall->sign > 0 ? 0 : fall->upper) : fall->a - fall->sign * step;
    for (std::size_t k = 0; k < K.size(); ++k) g[k] += step * (K[i][k] - K[j][k]);
  }
}

/// Data in two noisy groups (or three); some rows repeat, some with another label.
Dataset groups(std::size_t rows, int classes, std::uint64_t seed) {
  Rng rng(seed);
  Dataset data;
  data.x = Features::dense(2);
  std::vector<std::array<double, 2>> points;
  for (std::size_t i = 0; i < rows; ++i) {
    const int label = static_cast<int>(i) % classes;
    std::array<double, 2> x{rng.normal() + 1.2 * label, rng.normal() - 0.7 * label};
    if (i % 5 == 4) x = points[rng.below(i)];
    points.push_back(x);
    data.x.append(x);
    data.y.push_back(label);
  }
  return data;
}

std::vector<std::vector<double>> gram(const Kernel& kernel, const Rows& rows) {
  std::vector<std::vector<double>> K(rows.count, std::vector<double>(rows.count));
  for (std::size_t i = 0; i < rows.count; ++i)
    for (std::size_t j = 0; j < rows.count; ++j)
      K[i][j] = std::holds_alternative<Precomputed>(kernel) ? rows.value(i * rows.columns + j)
                                                            : naive_value(kernel, rows, i, rows, j);
  return K;
}

/// What the solution says, turned into a machine over all rows as support vectors. The bias is the
/// middle of what the free variables ask for.
Machine machine_from(const std::vector<Variable>& variables,
                     const std::vector<std::vector<double>>& K) {
  Machine machine;
  std::vector<double> beta(K.size(), 0.0), g(K.size(), 0.0);
  for (const Variable& v : variables) beta[v.row] += v.sign * v.a;
  for (std::size_t i = 0; i < K.size(); ++i)
    for (std::size_t j = 0; j < K.size(); ++j) g[i] += beta[j] * K[i][j];
  double most = -infinity, least = infinity;
  for (const Variable& v : variables) {
    const double gain = -v.sign * v.linear - g[v.row];
    if (v.sign > 0 ? v.a < v.upper : v.a > 0) most = std::max(most, gain);
    if (v.sign > 0 ? v.a > 0 : v.a < v.upper) least = std::min(least, gain);
  }
  machine.lambda = {(most + least) / 2};
  Certificate& c = machine.certificate;
  c.kkt = std::max(0.0, most - least);
  double norm = 0, linear = 0, loss = 0, start = 0;
  for (std::size_t i = 0; i < K.size(); ++i) norm += beta[i] * g[i];
  for (const Variable& v : variables) {
    const double gain = -v.sign * v.linear - g[v.row] - machine.lambda[0];
    linear += v.linear * v.a;
    start += v.sign * v.a;
    if (v.sign * gain > 0) loss += v.upper * v.sign * gain;
  }
  c.primal = norm / 2 + loss + machine.lambda[0] * start;
  c.dual = -norm / 2 - linear;
  // Bounds hold what the rounding of these plain sums may be.
  const double blur = 1e-12 * (std::abs(c.primal) + std::abs(c.dual) + norm);
  c.best_primal = c.primal += blur;
  c.best_dual = c.dual -= blur;
  c.kkt += 1e-12;
  c.equality_residual = 1e-12;
  c.gap = c.primal - c.dual;
  c.relative_gap = 2 * c.gap / (std::abs(c.primal) + std::abs(c.dual));
  for (std::size_t i = 0; i < K.size(); ++i) {
    if (beta[i] == 0) continue;
    machine.support.push_back(static_cast<Index>(i));
    machine.coefficient.push_back(beta[i]);
  }
  return machine;
}

Model model_of(const Kernel& kernel, const Dataset& data) {
  Model model;
  model.kernel = kernel;
  model.features = data.x.columns();
  model.rows = data.rows();
  model.data_hash = content_hash(data);
  model.support = none_like(data.x, model.features);
  model.support.append(data.x.view());
  for (std::size_t i = 0; i < data.rows(); ++i) model.support_row.push_back(i);
  return model;
}

double weight_of(const Dataset& data, std::size_t row) {
  return data.weight.empty() ? 1 : data.weight[row];
}

/// C-SVC with cost 2 and weight 3 for class 1, by the tiny solver.
Model trained_svc(const Kernel& kernel, const Dataset& data, Multiclass multiclass) {
  Model model = model_of(kernel, data);
  const Classes classes = classes_of(data);
  model.classes = classes.names;
  model.multiclass = multiclass;
  model.task = Svc{.cost = 2, .multiclass = multiclass, .class_weights = {{"1", 3}}};
  const auto K = gram(kernel, data.x);
  const auto add = [&](int positive, int negative) {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < data.rows(); ++i) {
      const int own = static_cast<int>(classes.of_row[i]);
      const bool other = negative == Machine::nobody || own == negative;
      const double cost = 2 * (own == 1 ? 3 : 1) * weight_of(data, i);
      if (cost > 0 && (own == positive || other))
        variables.push_back({i, own == positive ? 1.0 : -1.0, -1, cost, 0});
    }
    solve(variables, K);
    model.machines.push_back(machine_from(variables, K));
    model.machines.back().positive = positive;
    model.machines.back().negative = negative;
  };
  const int many = static_cast<int>(classes.names.size());
  for (int c = 0; c < many; ++c) {
    if (multiclass == Multiclass::one_vs_rest) add(c, Machine::nobody);
    for (int d = c + 1; multiclass == Multiclass::one_vs_one && d < many; ++d) add(c, d);
  }
  return model;
}

Model trained_svr(const Kernel& kernel, const Dataset& data) {
  Model model = model_of(kernel, data);
  model.outcome = Outcome::number;
  model.task = Svr{.cost = 2, .loss = EpsilonInsensitive{0.1, 0.5, 3}};
  const auto K = gram(kernel, data.x);
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double cost = 2 * weight_of(data, i);
    if (cost == 0) continue;
    variables.push_back({i, 1, 0.1 - data.y[i], 3 * cost, 0});
    variables.push_back({i, -1, 0.1 + data.y[i], 0.5 * cost, 0});
  }
  solve(variables, K);
  model.machines.push_back(machine_from(variables, K));
  return model;
}

Model trained_one_class(const Kernel& kernel, const Dataset& data) {
  Model model = model_of(kernel, data);
  model.outcome = Outcome::novelty;
  model.task = OneClass{.nu = 0.3};
  const auto K = gram(kernel, data.x);
  std::vector<Variable> variables;
  double total = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) total += weight_of(data, i);
  double left = 0.3 * total;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = weight_of(data, i);
    if (weight == 0) continue;
    variables.push_back({i, 1, 0, weight, std::min(weight, left)});
    left -= variables.back().a;
  }
  solve(variables, K);
  model.machines.push_back(machine_from(variables, K));
  return model;
}

void expect_holds(const Model& model, const Dataset& data) {
  for (const Verified& each : verify(model, data, Threads(2))) {
    EXPECT_TRUE(each.holds) << each.reason;
    EXPECT_LT(each.recomputed.kkt, 1e-8);
    EXPECT_LT(each.recomputed.relative_gap, 1e-7);
    EXPECT_GT(each.recomputed.relative_gap, -1e-9);
  }
}

TEST(Verify, OptimaOfEveryFormulationHold) {
  const Dataset data = groups(40, 3, 1);
  expect_holds(trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one), data);
  expect_holds(trained_svc(Rbf{0.5}, data, Multiclass::one_vs_rest), data);
  expect_holds(trained_svc(Laplacian{0.5}, groups(30, 2, 2), Multiclass::one_vs_one),
               groups(30, 2, 2));
  expect_holds(trained_svr(Rbf{0.5}, data), data);
  expect_holds(trained_one_class(Rbf{0.5}, data), data);
}

TEST(Verify, WeightsOfRowsCountAndZeroMeansAbsent) {
  Dataset data = groups(40, 2, 3);
  Rng rng(4);
  for (std::size_t i = 0; i < data.rows(); ++i)
    data.weight.push_back(i % 7 == 3 ? 0 : rng.uniform(0.5, 2));
  expect_holds(trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one), data);
  expect_holds(trained_svr(Rbf{0.5}, data), data);
  expect_holds(trained_one_class(Rbf{0.5}, data), data);
}

TEST(Verify, PrecomputedKernelReadsTheMatrix) {
  const Dataset points = groups(30, 2, 5);
  const auto K = gram(Rbf{0.5}, points.x);
  Dataset data;
  data.x = Features::dense(30);
  for (const auto& row : K) data.x.append(row);
  data.y = points.y;
  expect_holds(trained_svc(Precomputed{}, data, Multiclass::one_vs_one), data);
}

// So many features that sparse support vectors are not spread out.
TEST(Verify, WideSparseRows) {
  const Dataset narrow = groups(60, 2, 13);
  Model model = trained_svc(Laplacian{0.5}, narrow, Multiclass::one_vs_one);
  Dataset wide;
  model.features = 50000;
  wide.x = Features::sparse(model.features);
  wide.y = narrow.y;
  for (std::size_t i = 0; i < narrow.rows(); ++i)
    wide.x.append(std::array<Index, 2>{7, 40000},
                  std::array{narrow.x.view().value(2 * i), narrow.x.view().value(2 * i + 1)});
  model.support = Features::sparse(model.features);
  model.support.append(wide.x.view());
  model.data_hash = content_hash(wide);
  expect_holds(model, wide);
}

// Rows that are equal share one support vector, whose coefficient may exceed the bound of each.
TEST(Verify, MergedRowsHold) {
  Dataset data;
  data.x = Features::dense(1, std::array{0.0, 0.0, 0.0, 1.0, 1.0, 1.0});
  data.y = {-1, -1, 1, 1, 1, -1};
  const Model apart = trained_svc(Rbf{1}, data, Multiclass::one_vs_one);
  Model merged = trained_svc(Rbf{1}, data, Multiclass::one_vs_one);
  std::array<double, 2> sum{};
  for (std::size_t k = 0; k < apart.machines[0].support.size(); ++k)
    sum[apart.machines[0].support[k] / 3] += apart.machines[0].coefficient[k];
  merged.machines[0].support = {0, 3};
  merged.machines[0].coefficient = {sum[0], sum[1]};
  expect_holds(merged, data);
}

TEST(Verify, ScalingIsApplied) {
  const Dataset raw = groups(30, 2, 6);
  Dataset scaled = groups(30, 2, 6);
  const Scaling scaling = learn_scaling(raw.x, ScalingKind::range, 1 << 20);
  apply(scaling, scaled.x);
  Model model = trained_svc(Rbf{0.5}, scaled, Multiclass::one_vs_one);
  model.scaling = scaling;
  model.data_hash = content_hash(raw);
  expect_holds(model, raw);
}

/// The slope of an entropy is infinite at 0: nothing of it is moved, and nothing is charged.
TEST(Verify, AnEntropyWithoutSupportVectorsHolds) {
  const Dataset data = groups(40, 2, 3);
  for (const auto& loss : {decltype(Svc::loss)(Exponential{}), decltype(Svc::loss)(Logistic{})}) {
    Model model = model_of(Rbf{0.5}, data);
    model.classes = {"0", "1"};
    model.task = Svc{.cost = 1e6, .loss = loss};
    Machine machine;
    machine.positive = 1;
    machine.negative = 0;
    machine.lambda = {0.3};
    machine.certificate.primal = machine.certificate.best_primal = 1e9;
    machine.certificate.dual = machine.certificate.best_dual = 0;
    machine.certificate.gap = 1e9;
    machine.certificate.relative_gap = 2;
    machine.certificate.kkt = infinity;
    machine.ended = Ended::stalled;
    model.machines = {machine};
    const Verified found = verify(model, data, Threads(1))[0];
    EXPECT_TRUE(found.holds) << found.reason;
    EXPECT_EQ(found.recomputed.kkt, infinity);
  }
}

/// A machine that has not converged and claims nothing but its primal.
Machine unfinished(double primal) {
  Machine machine;
  machine.positive = 1;
  machine.negative = 0;
  Certificate& c = machine.certificate;
  c.primal = c.best_primal = primal;
  c.dual = c.best_dual = -infinity;
  c.gap = c.relative_gap = c.kkt = infinity;
  machine.ended = Ended::stalled;
  return machine;
}

// Equal rows share a coefficient: of 1 - 1e20 nothing is left of the 1, whose logarithm is 0.
TEST(Verify, ASmallVariableBesideALargeOneOfAnEqualRowIsNotTakenForZero) {
  Dataset data;
  data.x = Features::dense(1, std::array{0.0, 0.0, 1.0});
  data.y = {0, 1, 1};
  Model model = model_of(Rbf{1}, data);
  model.classes = {"0", "1"};
  model.task = Svc{.loss = Exponential{}, .bias = Bias::none};
  Machine machine = unfinished(infinity);
  machine.support = {0, 2};
  machine.coefficient = {1 - 1e20, 1e20};
  const double f = 1e20 * (std::exp(-1) - 1);  // at the first two rows, and -f at the third
  machine.certificate.kkt = -f + std::log(1e20);
  model.machines = {machine};
  const Verified honest = verify(model, data, Threads(1))[0];
  EXPECT_TRUE(honest.holds) << honest.reason;
  model.machines[0].certificate.kkt *= 0.99;
  const Verified forged = verify(model, data, Threads(1))[0];
  EXPECT_FALSE(forged.holds);
  EXPECT_EQ(forged.field, "kkt");
}

// Coefficients that miss the equality row by more than any of them has room for: no dual is known.
TEST(Verify, AModelThatClaimsNoDualHoldsWhereNoneIsKnown) {
  const Dataset data = groups(40, 2, 3);
  Model model = model_of(Rbf{0.5}, data);
  model.classes = {"0", "1"};
  model.task = Svc{.cost = 1, .loss = Logistic{}};
  Machine machine = unfinished(1e9);
  for (Index i = 0; i < 40; ++i) {
    machine.support.push_back(i);
    machine.coefficient.push_back(i % 2 == 0 ? -0.1 : 0.9);
  }
  machine.lambda = {0};
  machine.certificate.equality_residual = 40;
  model.machines = {machine};
  const Verified found = verify(model, data, Threads(1))[0];
  EXPECT_TRUE(found.holds) << found.reason;
  EXPECT_EQ(found.recomputed.dual, -infinity);
}

// Below the normal numbers a rounding is a step of the smallest one, however small the number.
TEST(Verify, AGapOfAFewOfTheSmallestNumbersHolds) {
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  const Dataset data = groups(4, 2, 3);
  Model model = model_of(Rbf{0.5}, data);
  model.classes = {"0", "1"};
  model.task = Svc{.cost = smallest};
  Machine machine = unfinished(4 * smallest);
  machine.lambda = {0};
  Certificate& c = machine.certificate;
  c.dual = c.best_dual = 0;
  const auto judged = [&](double steps, double relative) {
    c.gap = steps * smallest;
    c.relative_gap = relative;
    model.machines = {machine};
    return verify(model, data, Threads(1))[0];
  };
  EXPECT_TRUE(judged(4, 2).holds) << judged(4, 2).reason;
  EXPECT_TRUE(judged(5, 2.5).holds) << judged(5, 2.5).reason;
  EXPECT_EQ(judged(20, 10).field, "gap");
  EXPECT_EQ(judged(4, 20).field, "relative_gap");
}

/// y f >= 1 everywhere and a >= 0: the hard margin between two pairs of points.
TEST(Verify, HardMargin) {
  Dataset data;
  data.x = Features::dense(1, std::array{-3.0, -1.0, 1.0, 4.0});
  data.y = {-1, -1, 1, 1};
  Model model = model_of(Linear{}, data);
  model.classes = {"-1", "1"};
  model.task = Svc{.hard_margin = true};
  Machine machine;
  machine.positive = 1;
  machine.negative = 0;
  machine.support = {1, 2};
  machine.coefficient = {-0.5, 0.5};  // w = 1, b = 0
  machine.lambda = {0};
  machine.certificate.primal = machine.certificate.dual = 0.5;
  machine.certificate.best_primal = machine.certificate.best_dual = 0.5;
  machine.certificate.gap = machine.certificate.relative_gap = machine.certificate.kkt = 0;
  model.machines = {machine};
  EXPECT_TRUE(verify(model, data, Threads(1))[0].holds);
  // 10 % short of the margin: the separating plane exists, w must grow by 1/0.9.
  model.machines[0].coefficient = {-0.45, 0.45};
  const Verified close = verify(model, data, Threads(1))[0];
  EXPECT_FALSE(close.holds);
  EXPECT_EQ(close.field, "dual");
  EXPECT_NEAR(close.recomputed.primal, 0.5, 1e-12);
  EXPECT_NEAR(close.recomputed.dual, 0.9 - 0.405, 1e-12);
  // A bias that misclassifies leaves no margin.
  model.machines[0].lambda = {1.5};
  EXPECT_EQ(verify(model, data, Threads(1))[0].recomputed.primal, infinity);
}

TEST(Verify, EveryForgeryIsFound) {
  const Dataset data = groups(40, 2, 7);
  const auto fails = [&](const char* what, auto&& forge) {
    Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
    forge(model, model.machines[0]);
    const Verified result = verify(model, data, Threads(1))[0];
    EXPECT_FALSE(result.holds) << what;
    EXPECT_EQ(result.reason.empty(), result.holds);
  };
  fails("smaller", [](Model&, Machine& m) { m.coefficient[0] *= 0.9; });
  fails("turned", [](Model&, Machine& m) { m.coefficient[0] = -m.coefficient[0]; });
  fails("outside its bounds", [](Model&, Machine& m) { m.coefficient[0] = 100; });
  fails("bias", [](Model&, Machine& m) { m.lambda[0] += 0.01; });
  fails("primal", [](Model&, Machine& m) { m.certificate.primal *= 0.9999; });
  fails("dual", [](Model&, Machine& m) { m.certificate.dual *= 1.0001; });
  fails("cost", [](Model& model, Machine&) { std::get<Svc>(*model.task).cost = 1; });
  fails("kernel", [](Model& model, Machine&) { model.kernel = Rbf{0.51}; });
  fails("rows", [](Model& model, Machine& m) {
    std::swap(model.support_row[m.support[0]], model.support_row[m.support[1]]);
  });
  fails("classes", [](Model&, Machine& m) { std::swap(m.positive, m.negative); });
}

TEST(Verify, AnUnfinishedSolutionHoldsWithItsHonestGapOnly) {
  const Dataset data = groups(40, 2, 8);
  Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
  Machine& machine = model.machines[0];
  for (double& coefficient : machine.coefficient) coefficient *= 0.5;
  const Certificate honest = verify(model, data, Threads(1))[0].recomputed;
  EXPECT_GT(honest.gap, 0);
  EXPECT_GT(honest.kkt, 0.1);
  machine.certificate = honest;
  EXPECT_TRUE(verify(model, data, Threads(1))[0].holds);
  machine.certificate.kkt /= 2;
  EXPECT_FALSE(verify(model, data, Threads(1))[0].holds);
  machine.certificate = honest;
  machine.certificate.relative_gap /= 2;
  EXPECT_FALSE(verify(model, data, Threads(1))[0].holds);
  // That K is not positive semi-definite would excuse a gap; but it is.
  machine.certificate = honest;
  machine.certificate.mercer = false;
  EXPECT_EQ(verify(model, data, Threads(1))[0].field, "mercer");
}

TEST(Verify, OtherDataIsRefused) {
  Dataset data = groups(20, 2, 9);
  const Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
  data.y[3] = 1 - data.y[3];
  try {
    verify(model, data, Threads(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
  }
}

TEST(Verify, OptionsThatStateNoFormulationAreRefused) {
  const Dataset data = groups(20, 2, 10);
  Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
  for (const auto& options : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {}, {{"task", "svc"}}, {{"task", "svc"}, {"cost", "x"}}, {{"task", "svd"}}}) {
    StatedTask stated = task_stated_in(options);
    model.task = stated.task;
    model.options = stated.rest;
    EXPECT_THROW(verify(model, data, Threads(1)), Error);
  }
}

TEST(Verify, AKernelWithoutItsFunctionIsRefused) {
  const Dataset data = groups(20, 2, 11);
  Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
  model.kernel = Custom{};
  EXPECT_THROW(verify(model, data, Threads(1)), Error);
}

TEST(Verify, SameBitsForAnyNumberOfThreads) {
  const Dataset data = groups(60, 3, 12);
  const Model model = trained_svc(Rbf{0.5}, data, Multiclass::one_vs_one);
  const auto one = verify(model, data, Threads(1));
  const auto three = verify(model, data, Threads(3));
  for (std::size_t m = 0; m < one.size(); ++m) {
    EXPECT_EQ(one[m].recomputed.primal, three[m].recomputed.primal);
    EXPECT_EQ(one[m].recomputed.dual, three[m].recomputed.dual);
    EXPECT_EQ(one[m].recomputed.kkt, three[m].recomputed.kkt);
  }
}

}  // namespace
}  // namespace maxmargin::verify_test
