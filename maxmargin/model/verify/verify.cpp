#include "maxmargin/model/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/model/verify/one_problem.hpp"
#include "maxmargin/model/verify/plain_kernel.hpp"
#include "maxmargin/model/verify/textbook.hpp"

namespace maxmargin {
namespace {

// Training may have used float kernel values. What that may change in primal and dual is estimated
// for each machine (see Examined); besides, objectives and the relative gap agree to 1e-6, and f,
// whose worst rather than usual error counts in the KKT violation, to 1e-5 of its size. Bounds and
// equality involve no kernel value, only sums of coefficients in double.
constexpr double objective_tolerance = 1e-6;
constexpr double gap_tolerance = 1e-6;
constexpr double function_tolerance = 1e-5;
constexpr double constraint_tolerance = 1e-6;

constexpr int no_class = -1;

/// Numbers rows such that exactly the equal ones share a number.
std::vector<Index> points_of(const Rows& rows) {
  using Content = std::vector<std::pair<Index, double>>;
  const auto content = [&](std::size_t row) {
    Content nonzeros;
    rows.for_each(row, [&](Index feature, double value) {
      if (value != 0) nonzeros.emplace_back(feature, value);
    });
    return nonzeros;
  };
  std::vector<std::pair<std::uint64_t, Index>> hashes(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::uint64_t hash = 0;
    for (const auto& [feature, value] : content(i))
      hash = (hash ^ feature ^ std::hash<double>{}(value)) * 0x9e3779b97f4a7c15u + (hash >> 29);
    hashes[i] = {hash, static_cast<Index>(i)};
  }
  std::ranges::sort(hashes);
  std::vector<Index> point(rows.count);
  for (std::size_t begin = 0; begin < hashes.size();) {
    std::size_t end = begin;
    std::vector<std::pair<Content, Index>> seen;  // of this hash: hardly ever more than one
    for (; end < hashes.size() && hashes[end].first == hashes[begin].first; ++end) {
      const Index row = hashes[end].second;
      Content mine = content(row);
      const auto same = std::ranges::find(seen, mine, &std::pair<Content, Index>::first);
      point[row] = same == seen.end() ? row : same->second;
      if (same == seen.end()) seen.emplace_back(std::move(mine), row);
    }
    begin = end;
  }
  return point;
}

/// The training data as the model's machines see it.
struct Training {
  Features made;  ///< where the model scales its rows, or has functions that are columns
  Rows rows;
  std::vector<double> functions;  ///< their values, row by row
  std::vector<int> class_of;      ///< class number in the model, of each row
  std::vector<double> target;
  std::vector<double> weight;
  std::vector<Index> point;
};

void check_identity(const Model& model, const Dataset& data) {
  if (data.rows() == model.rows && data.x.columns() <= model.features &&
      content_hash(data) == model.data_hash)
    return;
  throw Error(Fault::data, "this is not the data the model was trained on",
              "give the file it was trained on");
}

void take_classes(const Model& model, const Dataset& data, const Formulation& stated,
                  Training& training) {
  const Classes classes = classes_of(data);
  std::vector<int> number(classes.names.size(), no_class);
  std::vector<double> factor(classes.names.size(), 1.0);
  for (std::size_t c = 0; c < classes.names.size(); ++c) {
    const auto found = std::ranges::find(model.classes, classes.names[c]);
    if (found != model.classes.end()) number[c] = static_cast<int>(found - model.classes.begin());
    const auto weight = stated.class_weight.find(classes.names[c]);
    if (weight != stated.class_weight.end()) factor[c] = weight->second;
  }
  for (std::size_t i = 0; i < data.rows(); ++i) {
    training.class_of[i] = number[classes.of_row[i]];
    training.weight[i] *= factor[classes.of_row[i]];
  }
}

Training take_training(const Model& model, const Dataset& data, const Formulation& stated,
                       const Threads& threads) {
  Training training;
  training.rows = data.x;
  const ParametricFunctions functions(model.functions, model.feature_names, model.features);
  training.functions = functions.values(data.x, threads);
  if (functions.hides()) {
    training.made = functions.visible(data.x, data.x.columns());
    training.rows = training.made;
  }
  if (!model.scaling.factor.empty()) {
    Features scaled =
        data.x.is_sparse() ? Features::sparse(model.features) : Features::dense(model.features);
    scaled.append(training.rows);
    apply(model.scaling, scaled);
    training.made = std::move(scaled);
    training.rows = training.made;
  }
  training.class_of.assign(data.rows(), no_class);
  training.weight = data.weight.empty() ? std::vector<double>(data.rows(), 1.0) : data.weight;
  if (model.outcome == Outcome::classes) take_classes(model, data, stated, training);
  if (model.outcome == Outcome::number) training.target = data.y;
  // With the same features as given, rows have the same values of every function too.
  training.point = points_of(model.functions.empty() ? training.rows : data.x.view());
  return training;
}

/// Whether a machine saw a row in training, and as what.
struct View {
  bool seen;
  double target;
};
View view_of(const Machine& machine, const Training& training, std::size_t row) {
  if (training.weight[row] == 0) return {false, 0};
  if (machine.positive == Machine::nobody)
    return {true, training.target.empty() ? 1 : training.target[row]};
  const int number = training.class_of[row];
  if (number == machine.positive) return {true, 1};
  return {machine.negative == Machine::nobody || number == machine.negative, -1};
}

/// The rows of every machine, with g, and the largest |K| that g is made of.
struct Seen {
  std::vector<std::vector<SeenRow>> rows;
  double largest_kernel = 0;
};
Seen rows_of_machines(const Model& model, const Training& training, const Threads& threads) {
  const std::size_t machines = model.machines.size(), functions = model.functions.size();
  std::vector<std::vector<SeenRow>> seen(machines);
  // place[row * machines + m] would be large for many classes: each row keeps only its own.
  std::vector<std::vector<std::pair<Index, Index>>> places(training.rows.count);
  for (std::size_t row = 0; row < training.rows.count; ++row) {
    for (std::size_t m = 0; m < machines; ++m) {
      const auto [is_seen, target] = view_of(model.machines[m], training, row);
      if (!is_seen) continue;
      places[row].emplace_back(static_cast<Index>(m), static_cast<Index>(seen[m].size()));
      SeenRow& mine = seen[m].emplace_back();
      mine.point = training.point[row];
      mine.target = target;
      mine.weight = training.weight[row];
      for (std::size_t r = 0; r < functions; ++r)
        mine.offset += model.machines[m].lambda[r + 1] * training.functions[row * functions + r];
    }
  }
  std::vector<std::vector<std::pair<Index, double>>> uses(model.support.count());
  for (std::size_t m = 0; m < machines; ++m)
    for (std::size_t k = 0; k < model.machines[m].support.size(); ++k)
      uses[model.machines[m].support[k]].emplace_back(static_cast<Index>(m),
                                                      model.machines[m].coefficient[k]);
  std::vector<double> largest(training.rows.count, 0.0);
  const PlainKernel kernel(model, training.rows);
  threads.split(training.rows.count, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> values(model.support.count());
    std::vector<double> sums(machines);
    for (std::size_t row = begin; row < end; ++row) {
      kernel.row(row, values);
      for (const double value : values) largest[row] = std::max(largest[row], std::abs(value));
      std::ranges::fill(sums, 0.0);
      for (std::size_t k = 0; k < values.size(); ++k)
        for (const auto& [m, coefficient] : uses[k]) sums[m] += coefficient * values[k];
      for (const auto& [m, place] : places[row]) seen[m][place].g = sums[m];
    }
  });
  const auto most = std::ranges::max_element(largest);
  return {std::move(seen), most == largest.end() ? 0 : *most};
}

bool same_row(const Rows& left, std::size_t i, const Rows& right, std::size_t j) {
  std::vector<std::pair<Index, double>> one, other;
  left.for_each(i, [&](Index feature, double x) {
    if (x != 0) one.emplace_back(feature, x);
  });
  right.for_each(j, [&](Index feature, double x) {
    if (x != 0) other.emplace_back(feature, x);
  });
  return one == other;
}

bool near(double recomputed, double stored, double blur) {
  return recomputed == stored || std::abs(recomputed - stored) <=
                                     objective_tolerance * std::max(1.0, std::abs(stored)) + blur;
}

/// The same where only the primal can be known.
std::string objection_to_primal(const Examined& found, const Certificate& stored) {
  if (found.foreign) return "a coefficient stands on a row that was not there in training";
  // A primal within the stored bounds is as good as promised, and basis functions that are nearly
  // dependent cost digits.
  const double slack =
      found.primal_blur + 1e-3 * objective_tolerance * std::abs(stored.primal) + stored.gap;
  if (near(found.certificate.primal, stored.primal, slack)) return {};
  return "the primal is " + shortest(found.certificate.primal) + ", not " + shortest(stored.primal);
}

/// 1/2 |w|^2 of a machine whose one support vector is w.
double half_square_of_weights(const Model& model, const Machine& machine) {
  const Rows support = model.support;
  double sum = 0;
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    support.for_each(machine.support[k], [&](Index, double value) {
      sum += machine.coefficient[k] * value * machine.coefficient[k] * value;
    });
  return sum / 2;
}

/// Why the stored certificate does not hold; empty if it does.
std::string objection(const Examined& found, const Certificate& stored) {
  const Certificate& now = found.certificate;
  const auto differs = [](const std::string& name, double recomputed, double claimed) {
    return "the " + name + " is " + shortest(recomputed) + ", not " + shortest(claimed);
  };
  if (found.foreign) return "a coefficient stands on a row that was not there in training";
  if (!(now.bound_residual <= constraint_tolerance * found.bound_scale))
    return "a dual variable is outside its bounds by " + shortest(now.bound_residual);
  if (!(now.equality_residual <= constraint_tolerance * found.equality_scale))
    return "the equality constraint is missed by " + shortest(now.equality_residual);
  // Stored objectives are bounds: they may be on their safe side by what their gap tells.
  const double width = std::max(0.0, stored.primal - stored.dual);
  if (!near(now.primal, stored.primal,
            found.primal_blur + (stored.primal > now.primal ? width : 0)))
    return differs("primal", now.primal, stored.primal);
  // Where the coefficients leave a choice of dual variables, the best may beat the solver's.
  if (!near(now.dual, stored.dual, found.dual_blur + (stored.dual < now.dual ? width : 0)) &&
      !(found.shared && now.dual > stored.dual))
    return differs("dual", now.dual, stored.dual);
  if (!(now.kkt <= std::max(0.0, stored.kkt) + std::max(0.0, stored.rounding) +
                       function_tolerance * std::max(1.0, found.largest_f)))
    return differs("KKT violation", now.kkt, stored.kkt);
  if (!stored.mercer) return {};
  const double gap_blur = 2 * (found.primal_blur + found.dual_blur) /
                          std::max(1.0, std::abs(now.primal) + std::abs(now.dual));
  // Where the optimum is zero, any other number is infinitely far from it.
  const bool is_rounding = now.primal - now.dual <= found.rounding;
  if (!is_rounding && !(now.relative_gap <= stored.relative_gap + gap_tolerance + gap_blur))
    return differs("relative gap", now.relative_gap, stored.relative_gap);
  if (stored.best_dual > now.primal && !near(stored.best_dual, now.primal, found.primal_blur))
    return "the best dual of the run, " + shortest(stored.best_dual) + ", is above the primal";
  if (stored.best_primal < now.dual && !near(stored.best_primal, now.dual, found.dual_blur))
    return "the best primal of the run, " + shortest(stored.best_primal) + ", is below the dual";
  return {};
}

}  // namespace

std::vector<Verified> verify(const Model& model, const Dataset& data, const Threads& threads) {
  if (auto found = verify_one_problem(model, data, threads)) return *std::move(found);
  const Formulation stated = formulation_of(model);
  check_identity(model, data);
  const Training training = take_training(model, data, stated, threads);
  Seen seen = rows_of_machines(model, training, threads);
  const bool has_vectors = !std::holds_alternative<Precomputed>(model.kernel);
  std::vector<bool> strange(model.support.count(), false);
  for (std::size_t k = 0; has_vectors && k < strange.size(); ++k)
    strange[k] = !same_row(model.support, k, training.rows, model.support_row[k]);

  std::vector<Verified> results(model.machines.size());
  threads.split(results.size(), 1, [&](std::size_t m, std::size_t) {
    const Machine& machine = model.machines[m];
    Verified& result = results[m];
    Claimed claimed;
    if (!machine.lambda.empty()) claimed.bias = machine.lambda.data();
    claimed.width = machine.width;
    const std::size_t functions = model.functions.size();
    claimed.function_sum.assign(functions, 0.0);
    claimed.function_size.assign(functions, 0.0);
    bool has_strange = false;
    for (std::size_t k = 0; !stated.only_weights && k < machine.support.size(); ++k) {
      const Index vector = machine.support[k];
      claimed.beta[training.point[model.support_row[vector]]] += machine.coefficient[k];
      has_strange = has_strange || strange[vector];
      for (std::size_t r = 0; r < functions; ++r) {
        const double term =
            machine.coefficient[k] * training.functions[model.support_row[vector] * functions + r];
        claimed.function_sum[r] += term;
        claimed.function_size[r] += std::abs(term);
      }
    }
    Examined found = examine(stated, std::move(seen.rows[m]), claimed, seen.largest_kernel);
    if (stated.only_weights) found.certificate.primal += half_square_of_weights(model, machine);
    result.primal_only = stated.approximated;
    result.recomputed = found.certificate;
    result.recomputed.mercer = machine.certificate.mercer;
    result.reason = has_strange ? "a support vector is not the training row it is said to be"
                    : stated.approximated ? objection_to_primal(found, machine.certificate)
                                          : objection(found, machine.certificate);
    if (stated.approximated) {
      result.recomputed = machine.certificate;
      result.recomputed.primal = found.certificate.primal;
    }
    result.holds = result.reason.empty();
  });
  return results;
}

}  // namespace maxmargin
