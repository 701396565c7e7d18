// Corners that truth_test.cpp does not draw: several classes in each scheme, the linear-programming
// machine, given matrices, kernels that are no Mercer kernels, hard margins, functions beside the
// kernel, every solver by name. Both objectives of a model's own numbers, in long double from the
// definitions: a certificate may be no better than they are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/recorded.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin::truth_corners_test {
namespace {

using Real = long double;
constexpr Real eps = std::numeric_limits<Real>::epsilon();

enum class Corner { pairs, rest, together, l1, given, tanh, hard, functions, solvers };
constexpr int corners = 9;

struct Drawn {
  Corner corner{};
  Dataset data;
  TrainOptions options;
  std::string told;
  std::vector<std::vector<double>> x;  ///< before they became a matrix
};

template <class... Choices>
auto one_of(Rng& rng, const Choices&... choices) {
  const std::array<std::common_type_t<std::decay_t<const Choices&>...>, sizeof...(Choices)> list{
      choices...};
  return list[rng.below(list.size())];
}
double decades(Rng& rng, double low, double high) { return std::pow(10.0, rng.uniform(low, high)); }

void draw_rows(Rng& rng, bool numbers, int classes, Drawn& drawn) {
  const std::size_t rows = 6 + rng.below(23), columns = 1 + rng.below(3);
  const int look = static_cast<int>(rng.below(8));
  const double scale = look == 1 ? decades(rng, -4, 4) : 1;
  const double offset = look == 2 ? one_of(rng, 1e3, 1e6) : 0;
  const double noise = drawn.corner == Corner::hard ? 0.1 : rng.uniform(0.1, 1.2);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> x(columns);
    const auto label = static_cast<int>(i) % classes;
    for (std::size_t j = 0; j < columns; ++j) {
      const double center = classes == 2 ? 2 * label - 1 : std::cos(label + 2.0 * j);
      x[j] = (center + noise * rng.normal()) * scale + offset;
    }
    if (look == 3 && i % 4 == 3) x = drawn.x[rng.below(i)];
    if (look == 4 && i + 1 == rows) x[0] = one_of(rng, 1e4, 1e7);
    drawn.x.push_back(x);
    drawn.data.y.push_back(numbers ? std::sin(x[0]) + 0.1 * rng.normal() : label);
    if (look == 5) drawn.data.weight.push_back(decades(rng, -5, 5));
    if (look == 6) drawn.data.weight.push_back(i < 6 ? 1 : one_of(rng, 0.0, 1.0, 3.0));
  }
  drawn.told += " rows " + std::to_string(rows) + " look " + std::to_string(look);
}

Kernel draw_kernel(Rng& rng) {
  const double gamma = decades(rng, -2, 1);
  switch (rng.below(4)) {
    case 0:
      return Linear{};
    case 1:
      return Polynomial{gamma, 2, 1};
    case 2:
      return Laplacian{gamma};
    default:
      return Rbf{gamma};
  }
}

Drawn draw(std::uint64_t seed) {
  Rng rng(seed * 104729 + 7);
  Drawn drawn;
  drawn.corner = static_cast<Corner>(seed % corners);
  drawn.told = "seed " + std::to_string(seed);
  const Corner corner = drawn.corner;
  const bool many = corner == Corner::pairs || corner == Corner::rest || corner == Corner::together;
  const bool may_be_numbers =
      corner == Corner::l1 || corner == Corner::functions || corner == Corner::given;
  const bool numbers = may_be_numbers && rng.below(2) == 0;
  draw_rows(rng, numbers, many ? 3 : 2, drawn);
  const double cost = rng.below(3) == 0 ? decades(rng, -8, 9) : decades(rng, -1, 3);
  Bias bias = one_of(rng, Bias::unpenalised, Bias::penalised, Bias::none);
  if (corner == Corner::functions) bias = Bias::unpenalised;
  if (corner == Corner::together && bias == Bias::unpenalised) bias = Bias::none;
  if (numbers) {
    Svr svr;
    svr.cost = cost;
    svr.loss = EpsilonInsensitive{one_of(rng, 0.0, 0.1), 1};
    svr.bias = bias;
    drawn.options.task = svr;
  } else {
    Svc svc;
    svc.cost = cost;
    svc.bias = bias;
    svc.hard_margin = corner == Corner::hard;
    if (corner == Corner::rest) svc.multiclass = Multiclass::one_vs_rest;
    if (corner == Corner::together) svc.multiclass = Multiclass::crammer_singer;
    drawn.options.task = svc;
  }
  drawn.options.kernel = draw_kernel(rng);
  drawn.options.l1 = corner == Corner::l1;
  if (corner == Corner::tanh) drawn.options.kernel = Sigmoid{decades(rng, -2, 0), -0.5};
  if (corner == Corner::functions) {
    drawn.options.functions = {{ParametricFunction::Kind::expression, "x1"}};
    if (rng.below(2) == 0)
      drawn.options.functions.push_back({ParametricFunction::Kind::expression, "sin(x1)"});
  }
  if (corner == Corner::solvers)
    drawn.options.solver =
        one_of(rng, "smo", "interior-point", "primal-dual", "lagrangian", "gauss-seidel", "sor",
               "adatron", "platt", "decomposition", "chunking", "newton", "gradient-descent",
               "stochastic", "irls", "perceptron", "bayes-point");
  drawn.options.stop.seconds = 1;
  const int stop = static_cast<int>(rng.below(5));
  if (stop == 0) drawn.options.stop.iterations = 1 + rng.below(6);
  if (stop == 1) drawn.options.stop.kkt = drawn.options.stop.relative_gap = 1e-6;
  for (const Texts& texts : {texts_of(drawn.options.task), recorded(drawn.options)})
    for (const auto& [name, value] : texts) drawn.told += " " + name + "=" + value;
  return drawn;
}

Real kernel_value(const Kernel& kernel, const std::vector<double>& x,
                  const std::vector<double>& z) {
  Real dot = 0, squares = 0, sizes = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Real difference = static_cast<Real>(x[j]) - z[j];
    dot += static_cast<Real>(x[j]) * z[j];
    squares += difference * difference;
    sizes += std::abs(difference);
  }
  if (const auto* p = std::get_if<Polynomial>(&kernel)) {
    const Real base = p->gamma * dot + p->coef0;
    return base * base;
  }
  if (const auto* p = std::get_if<Rbf>(&kernel)) return std::exp(-p->gamma * squares);
  if (const auto* p = std::get_if<Laplacian>(&kernel)) return std::exp(-p->gamma * sizes);
  if (const auto* p = std::get_if<Sigmoid>(&kernel)) return std::tanh(p->gamma * dot + p->coef0);
  return dot;
}

using Matrix = std::vector<std::vector<Real>>;

/// K of all rows; a given one is what was written down of it, and spoilt in every second draw.
Matrix matrix_of(Drawn& drawn, std::uint64_t seed) {
  const std::size_t n = drawn.x.size();
  Matrix K(n, std::vector<Real>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      K[i][j] = kernel_value(drawn.options.kernel, drawn.x[i], drawn.x[j]);
  const bool is_given = drawn.corner == Corner::given;
  drawn.data.x = Features::dense(is_given ? n : drawn.x[0].size());
  if (!is_given)
    for (const auto& x : drawn.x) drawn.data.x.append(x);
  if (!is_given) return K;
  drawn.options.kernel = Precomputed{};
  for (std::size_t i = 0; i < n; ++i) {
    // One more on the diagonal keeps the rounded matrix definite; an entry may spoil it.
    for (std::size_t j = 0; j < n; ++j) {
      double value = static_cast<double>(K[i][j]) + (i == j ? 1 : 0);
      if (seed / corners % 2 == 1 && i + j == 1) value += 3 * std::abs(value) + 10;
      K[i][j] = value;
    }
    drawn.data.x.append(std::vector<double>(K[i].begin(), K[i].end()));
  }
  return K;
}

/// A sum that knows what rounding may have made of it.
struct Sum {
  Real value = 0, blur = 0;
  void add(Real term, Real own = 0) {
    value += term;
    blur += own + 64 * eps * std::abs(term);
  }
};
struct Objectives {
  Sum primal, dual;
  Real missed = 0;  ///< what equality constraints are missed by, at the model's multipliers
};

/// f_m at every row, with what rounding may have made of it.
struct Values {
  std::vector<Real> f, blur;
};

struct Judge {
  const Drawn& drawn;
  const Model& model;
  const Matrix& K;
  Bias bias = bias_of(drawn.options.task);

  std::vector<Real> by_row(const Machine& machine) const {
    std::vector<Real> b(K.size(), 0);
    for (std::size_t k = 0; k < machine.support.size(); ++k)
      b[model.support_row[machine.support[k]]] += machine.coefficient[k];
    return b;
  }
  Real function(std::size_t row, std::size_t r) const {
    const double x = drawn.x[row][0];
    return r == 0 ? x : std::sin(x);  // as the program computes it
  }
  Values values(const std::vector<Real>& b) const {
    Values v{std::vector<Real>(K.size(), 0), std::vector<Real>(K.size(), 0)};
    for (std::size_t i = 0; i < K.size(); ++i)
      for (std::size_t j = 0; j < K.size(); ++j) {
        v.f[i] += K[i][j] * b[j];
        v.blur[i] += 64 * eps * std::abs(K[i][j] * b[j]);
      }
    return v;
  }
  Real weight(std::size_t i) const { return drawn.data.weight.empty() ? 1 : drawn.data.weight[i]; }
  Real cost() const {
    if (const auto* svr = std::get_if<Svr>(&drawn.options.task)) return svr->cost;
    return std::get<Svc>(drawn.options.task).cost;
  }
  /// Of machine m: 0 where it does not see the row.
  Real target(std::size_t i, const Machine& machine) const {
    if (weight(i) == 0) return 0;
    const double y = drawn.data.y[i];
    const auto is = [&](int number) { return number >= 0 && model.classes[number] == shortest(y); };
    if (is(machine.positive)) return 1;
    return machine.negative < 0 || is(machine.negative) ? -1 : 0;
  }

  /// A penalised one is the sum of the coefficients, as real numbers go.
  Real bias_of_machine(const Machine& machine) const {
    if (bias != Bias::penalised) return machine.bias();
    Real sum = 0;
    for (const double each : machine.coefficient) sum += each;
    return sum;
  }
  /// sum over r of lambda_r phi_r, the bias among them.
  Real parametric(const Machine& machine, std::size_t i) const {
    Real sum = bias_of_machine(machine);
    for (std::size_t r = 1; r < machine.lambda.size(); ++r)
      sum += machine.lambda[r] * function(i, r - 1);
    return sum;
  }

  /// Of nearly dependent functions, as x and sin(x) near 0, large terms cancel: each product is
  /// rounded, and so is each of at most three sums.
  Real parametric_blur(const Machine& machine, std::size_t i) const {
    Real size = 0;
    for (std::size_t r = 1; r < machine.lambda.size(); ++r)
      size += std::abs(machine.lambda[r] * function(i, r - 1));
    return size > 0 ? 4 * eps * (size + std::abs(bias_of_machine(machine))) : 0;
  }

  /// One machine with a hinge or a tube, `norm` 1/2 |w|^2 or sum |beta|, and its dual variables.
  Objectives alone(const Machine& machine) const {
    const std::vector<Real> beta = by_row(machine);
    const Values at = values(beta);
    const std::vector<Real>& dual = beta;
    Objectives found;
    Real sum = 0, margin = std::numeric_limits<Real>::infinity();
    const auto* svr = std::get_if<Svr>(&drawn.options.task);
    const bool hard = drawn.corner == Corner::hard;
    for (std::size_t i = 0; i < K.size(); ++i) {
      sum += dual[i];
      if (drawn.options.l1)
        found.primal.add(std::abs(beta[i]));
      else
        for (Sum* each : {&found.primal, &found.dual})
          each->add((each == &found.primal ? 1 : -1) * beta[i] * at.f[i] / 2,
                    std::abs(beta[i]) * at.blur[i]);
      const Real y = svr ? drawn.data.y[i] : target(i, machine), C = cost() * weight(i);
      if (weight(i) == 0 || (!svr && y == 0)) continue;
      const Real f = at.f[i] + parametric(machine, i);
      const Real unsure = at.blur[i] + parametric_blur(machine, i);
      margin = std::min(margin, y * f - unsure);
      if (svr) {
        const Real epsilon = std::get<EpsilonInsensitive>(svr->loss).epsilon;
        const Real blur = unsure + 8 * eps * (std::abs(f) + std::abs(y));
        found.primal.add(C * std::max<Real>(0, std::abs(y - f) - epsilon), C * blur);
        found.dual.add(y * dual[i] - epsilon * std::abs(dual[i]));
      } else {
        const Real blur = unsure + 8 * eps * (std::abs(f) + 1);
        if (!hard)
          found.primal.add(C * std::max<Real>(0, 1 - y * f), 1 - y * f > -blur ? C * blur : 0);
        found.dual.add(y * dual[i]);
      }
    }
    if (bias == Bias::penalised && !drawn.options.l1) {
      found.primal.add(sum * sum / 2);
      found.dual.add(-sum * sum / 2);
    }
    if (bias == Bias::unpenalised) found.missed = std::abs(sum * machine.bias());
    for (std::size_t r = 1; r < machine.lambda.size(); ++r) {
      Real missed = 0;
      for (std::size_t i = 0; i < K.size(); ++i) missed += dual[i] * function(i, r - 1);
      found.missed += std::abs(missed * machine.lambda[r]);
    }
    if (hard) {
      const Real stretched = found.primal.value / (margin * margin);
      found.primal = {margin > 0 ? stretched : std::numeric_limits<Real>::infinity(),
                      16 * found.primal.blur};
    }
    return found;
  }
  /// All machines of Crammer and Singer.
  Objectives together() const {
    Objectives found;
    std::vector<std::vector<Real>> a;
    std::vector<Values> at;
    for (const Machine& machine : model.machines) {
      a.push_back(by_row(machine));
      at.push_back(values(a.back()));
      const Real b = bias_of_machine(machine);
      if (bias == Bias::penalised) found.primal.add(b * b / 2), found.dual.add(-b * b / 2);
      for (std::size_t i = 0; i < K.size(); ++i) {
        const Real half = a.back()[i] * at.back().f[i] / 2;
        found.primal.add(half, std::abs(a.back()[i]) * at.back().blur[i]);
        found.dual.add(-half, std::abs(a.back()[i]) * at.back().blur[i]);
      }
    }
    for (std::size_t i = 0; i < K.size(); ++i) {
      if (weight(i) == 0) continue;
      Real largest = 0, own = 0, blur = 0, sum = 0;
      std::size_t label = 0;
      for (std::size_t m = 0; m < a.size(); ++m)
        if (target(i, model.machines[m]) > 0) label = m;
      own = at[label].f[i] + bias_of_machine(model.machines[label]);
      for (std::size_t m = 0; m < a.size(); ++m) {
        const Real f = at[m].f[i] + bias_of_machine(model.machines[m]);
        blur = std::max(blur, at[m].blur[i] + 8 * eps * (1 + std::abs(f)));
        sum += a[m][i];
        if (m == label) continue;
        largest = std::max(largest, 1 + f - own);
        found.dual.add(-a[m][i]);
      }
      found.primal.add(cost() * weight(i) * largest, 2 * cost() * weight(i) * blur);
      found.missed += std::abs(sum) * (1 + std::abs(own) + largest);
    }
    return found;
  }
};

struct Findings {
  std::size_t problems = 0, converged = 0, indefinite = 0, refused = 0;
  std::vector<std::string> faults;
};

std::string digits(Real value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.15Lg", value);
  return text;
}

void compare(const Drawn& drawn, const Certificate& c, Ended ended, const Objectives& truth,
             std::string& faults, Findings& findings) {
  const auto fault = [&](const std::string& what) {
    faults += "\n    " + what + "; [" + digits(c.dual) + ", " + digits(c.primal) + "] for " +
              digits(truth.dual.value) + ", " + digits(truth.primal.value) + ", missed " +
              digits(truth.missed) + ", ended " + std::string(to_string(ended));
  };
  for (const double field : {c.primal, c.dual, c.gap, c.relative_gap, c.kkt, c.rounding,
                             c.best_primal, c.best_dual, c.equality_residual, c.bound_residual})
    if (std::isnan(field)) fault("a field is not a number");
  if (c.gap < c.primal - c.dual || c.gap < 0) fault("the gap is less than it is");
  if (!c.mercer) return;
  // Equal rows have shares of a variable, which are rounded when they are written down.
  const bool shares = drawn.told.find("look 3") != std::string::npos;
  const Real sizes = std::abs(truth.primal.value) + std::abs(truth.dual.value);
  const Real stored = (shares ? 1e-14L : 1e-18L) * sizes + truth.missed;
  if (!shares && c.primal < truth.primal.value - truth.primal.blur - stored) fault("primal");
  if (c.dual > truth.primal.value + truth.primal.blur) fault("dual above the primal");
  if (ended == Ended::converged) ++findings.converged;
  if (drawn.options.l1) return;  // its coefficients are no dual variables
  if (c.dual > truth.dual.value + truth.dual.blur + 4 * stored) fault("dual");
  if (c.primal < truth.dual.value - truth.dual.blur - stored) fault("primal below the dual");
  if (ended != Ended::converged) return;
  const Real gap = truth.primal.value - truth.primal.blur - truth.dual.value - truth.dual.blur;
  if (2 * (gap - 4 * stored) > 1.0001L * drawn.options.stop.relative_gap * sizes)
    fault("converged with a gap of " + digits(gap));
}

void look_at(std::uint64_t seed, Findings& findings) {
  Drawn drawn = draw(seed);
  const Matrix K = matrix_of(drawn, seed);
  Trained trained;
  try {
    Dataset copy;
    copy.x = Features::dense(drawn.data.x.columns());
    copy.x.append(drawn.data.x.view());
    copy.y = drawn.data.y;
    copy.weight = drawn.data.weight;
    trained = train(std::move(copy), drawn.options, Threads(1));
    const std::string bytes = to_bytes(trained.model);
    trained.model = from_bytes(std::as_bytes(std::span(bytes)), "model");
  } catch (const Error& error) {
    ++findings.refused;
    return;  // before work starts: nothing is claimed
  }
  ++findings.problems;
  std::string faults;
  const Judge judge{drawn, trained.model, K};
  if (drawn.corner == Corner::together) {
    Certificate whole = trained.certificate;
    compare(drawn, whole, trained.ended, judge.together(), faults, findings);
  } else {
    for (const Machine& machine : trained.model.machines)
      compare(drawn, machine.certificate, machine.ended, judge.alone(machine), faults, findings);
  }
  const bool spoilt =
      drawn.corner == Corner::tanh ||
      (drawn.corner == Corner::given && seed / corners % 2 == 1 && judge.weight(0) > 0 &&
       judge.weight(1) > 0 && K[0][1] * K[0][1] > 1.001L * K[0][0] * K[1][1]);
  if (!trained.certificate.mercer) ++findings.indefinite;
  if (spoilt && trained.certificate.mercer) faults += "\n    mercer";
  try {
    const Judgement found = maxmargin::judge(trained.model, drawn.data, Threads(1));
    // Without a Mercer kernel nothing is claimed of the optimum, and no digits need be spent on it:
    // tanh of 1e12 times a large cost may be more than verify can tell, but never false.
    const bool may_not_tell = !trained.certificate.mercer && found.verdict == Verdict::cannot_tell;
    if (found.verdict != Verdict::is_true && !may_not_tell) {
      faults += "\n    verify: " + found.field + " " + found.reason;
      for (const Verified& each : found.machines) faults += " / " + each.field + " " + each.reason;
    }
    if (found.primal_only != drawn.options.l1) faults += "\n    primal-only";
  } catch (const Error& error) {
    faults += std::string("\n    verify throws: ") + error.what();
  }
  if (!faults.empty()) findings.faults.push_back(drawn.told + faults);
}

/// MAXMARGIN_TRUTH=first:count runs other problems than those of the tests.
TEST(TruthCorners, NoCertificateIsBetterThanItsModel) {
  std::uint64_t first = 0, count = 270;
#ifdef MAXMARGIN_SANITIZED
  count = 45;
#endif
  if (const char* given = std::getenv("MAXMARGIN_TRUTH")) {
    first = std::strtoull(given, nullptr, 10);
    const char* colon = std::strchr(given, ':');
    count = colon == nullptr ? 1 : std::strtoull(colon + 1, nullptr, 10);
  }
  Findings found;
  for (std::uint64_t seed = first; seed < first + count; ++seed) look_at(seed, found);
  std::cerr << found.problems << " problems, " << found.converged << " machines converged, "
            << found.indefinite << " indefinite, " << found.refused << " refused\n";
  for (const std::string& fault : found.faults) ADD_FAILURE() << fault;
}

}  // namespace
}  // namespace maxmargin::truth_corners_test
