#include "maxmargin/model/verify/one_problem.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/model/verify/dual_pieces.hpp"
#include "maxmargin/model/verify/formulation.hpp"

namespace maxmargin {
namespace {

// As good as sums over thousands of float kernel values are.
constexpr double objective_tolerance = 1e-5;
constexpr double constraint_tolerance = 1e-9;

using Row = std::vector<std::pair<Index, double>>;

Row row_of(const Rows& rows, std::size_t i) {
  Row row;
  rows.for_each(i, [&](Index feature, double value) {
    if (value != 0) row.emplace_back(feature, value);
  });
  return row;
}

double pairing_sum(Pairing pairing, const Row& x, const Row& z) {
  double sum = 0;
  std::size_t i = 0, j = 0;
  while (i < x.size() || j < z.size()) {
    const bool first = j == z.size() || (i < x.size() && x[i].first <= z[j].first);
    const bool second = i == x.size() || (j < z.size() && z[j].first <= x[i].first);
    sum += pair_term(pairing, first ? x[i].second : 0, second ? z[j].second : 0);
    i += first;
    j += second;
  }
  return sum;
}

/// f of every machine at every row, f[row * machines + m], without the bias.
std::vector<double> values_at(const Model& model, const Rows& rows, const Threads& threads) {
  const std::size_t machines = model.machines.size();
  const Rows vectors = model.support;
  std::vector<Row> support;
  for (std::size_t k = 0; k < vectors.count; ++k) support.push_back(row_of(vectors, k));
  std::vector<double> f(rows.count * machines, 0.0);
  threads.split(rows.count, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> K(support.size());
    for (std::size_t i = begin; i < end; ++i) {
      const Row x = row_of(rows, i);
      std::visit(
          [&](const auto& kernel) {
            if constexpr (requires { kernel.form(); }) {
              const Form form = kernel.form();
              for (std::size_t k = 0; k < K.size(); ++k)
                K[k] = std::visit(
                    [&](const auto& map) { return map(pairing_sum(form.pairing, x, support[k])); },
                    form.map);
            } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(kernel)>,
                                                Precomputed>) {
              for (std::size_t k = 0; k < K.size(); ++k) {
                const auto at = std::ranges::lower_bound(
                    x, static_cast<Index>(model.support_row[k]), {}, &Row::value_type::first);
                const bool there = at != x.end() && at->first == model.support_row[k];
                K[k] = there ? at->second : 0;
              }
            } else {
              throw Error(Fault::usage, "verify has no values of the user's own kernel here",
                          "choose another --multiclass, and no --regulariser");
            }
          },
          model.kernel);
      for (std::size_t m = 0; m < machines; ++m)
        for (std::size_t k = 0; k < model.machines[m].support.size(); ++k)
          f[i * machines + m] += model.machines[m].coefficient[k] * K[model.machines[m].support[k]];
    }
  });
  return f;
}

/// The rows as trained on: scaled, with the number of their class and their cost.
struct Trained {
  Features made;
  Rows rows;
  std::vector<int> class_of;
  std::vector<double> cost;
};

Trained rows_of(const Model& model, const Dataset& data, const Formulation& stated) {
  Trained result;
  result.rows = data.x;
  if (!model.scaling.factor.empty()) {
    result.made = none_like(data.x, model.features);
    result.made.append(data.x.view());
    apply(model.scaling, result.made);
    result.rows = result.made;
  }
  result.cost.assign(data.rows(), stated.price);
  result.class_of.assign(data.rows(), -1);
  const bool has_classes = model.outcome == Outcome::classes;
  const Classes classes = has_classes ? classes_of(data) : Classes{};
  for (std::size_t i = 0; i < data.rows(); ++i) {
    if (!data.weight.empty()) result.cost[i] *= data.weight[i];
    if (!has_classes) continue;
    const std::string& name = classes.names[classes.of_row[i]];
    if (const auto factor = stated.class_weight.find(name); factor != stated.class_weight.end())
      result.cost[i] *= factor->second;
    const auto at = std::ranges::find(model.classes, name);
    if (at != model.classes.end())
      result.class_of[i] = static_cast<int>(at - model.classes.begin());
  }
  return result;
}

bool near(double x, double y, double size) {
  return std::abs(x - y) <= objective_tolerance * std::max(1.0, size);
}

std::vector<Verified> verify_together(const Model& model, const Trained& rows,
                                      const std::vector<double>& f) {
  const std::size_t machines = model.machines.size(), count = rows.rows.count;
  std::vector<double> a(count * machines, 0.0);
  std::vector<Verified> results(machines);
  std::vector<double> half(machines, 0.0), primal(machines, 0.0), dual(machines, 0.0);
  for (std::size_t m = 0; m < machines; ++m) {
    const Machine& machine = model.machines[m];
    double sum = 0;
    for (std::size_t k = 0; k < machine.support.size(); ++k) {
      const std::size_t row = model.support_row[machine.support[k]];
      a[row * machines + m] += machine.coefficient[k];
      half[m] += machine.coefficient[k] * f[row * machines + m] / 2;
      sum += machine.coefficient[k];
    }
    // A penalised bias is K + 1.
    if (!machine.lambda.empty()) half[m] += sum * sum / 2;
  }
  std::string infeasible;
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(rows.cost[i] > 0)) continue;
    double largest = -infinity, lowest = infinity, sum = 0, own = 0;
    std::size_t label = machines;
    for (std::size_t m = 0; m < machines; ++m) {
      const Machine& machine = model.machines[m];
      const bool is_label = machine.positive == rows.class_of[i];
      const double g = f[i * machines + m] + machine.bias() + (is_label ? 0 : 1);
      const double t = (is_label ? rows.cost[i] : 0) - a[i * machines + m];
      largest = std::max(largest, g);
      if (t > constraint_tolerance * rows.cost[i]) lowest = std::min(lowest, g);
      if (t < -constraint_tolerance * rows.cost[i])
        infeasible = "a dual variable is outside its bounds";
      sum += a[i * machines + m];
      if (is_label) {
        label = m;
        own = g;
      } else {
        dual[m] -= a[i * machines + m];
      }
    }
    if (label == machines) continue;
    if (std::abs(sum) > constraint_tolerance * rows.cost[i])
      infeasible = "the dual variables of a row do not add up to 0";
    primal[label] += rows.cost[i] * (largest - own);
    worst = std::max(worst, largest - lowest);
  }
  double whole_primal = 0, whole_dual = 0;
  for (std::size_t m = 0; m < machines; ++m) {
    whole_primal += primal[m] + half[m];
    whole_dual += dual[m] - half[m];
  }
  double claimed_primal = 0, claimed_dual = 0, claimed_kkt = 0;
  for (const Machine& machine : model.machines) {
    claimed_primal += machine.certificate.primal;
    claimed_dual += machine.certificate.dual;
    claimed_kkt = std::max(claimed_kkt, machine.certificate.kkt);
  }
  std::string reason = infeasible;
  const double size = std::abs(whole_primal);
  if (reason.empty() && !near(whole_primal, claimed_primal, size))
    reason = "the primal is " + shortest(whole_primal) + ", not " + shortest(claimed_primal);
  if (reason.empty() && !near(whole_dual, claimed_dual, size))
    reason = "the dual is " + shortest(whole_dual) + ", not " + shortest(claimed_dual);
  if (reason.empty() && worst > claimed_kkt + objective_tolerance * std::max(1.0, claimed_kkt))
    reason = "the KKT violation is " + shortest(worst) + ", not " + shortest(claimed_kkt);
  for (std::size_t m = 0; m < machines; ++m) {
    Certificate& found = results[m].recomputed;
    found = model.machines[m].certificate;
    found.primal = primal[m] + half[m];
    found.dual = dual[m] - half[m];
    found.kkt = worst;
    found.relative_gap =
        size > 0 ? 2 * (whole_primal - whole_dual) / (size + std::abs(whole_dual)) : 0;
    results[m].reason = reason;
    results[m].holds = reason.empty();
  }
  return results;
}

std::vector<Verified> verify_expansion(const Model& model, const Dataset& data,
                                       const Formulation& stated, const Trained& rows,
                                       const std::vector<double>& f) {
  const std::size_t machines = model.machines.size();
  const TextbookLoss loss(stated.loss);
  std::vector<Verified> results(machines);
  for (std::size_t m = 0; m < machines; ++m) {
    const Machine& machine = model.machines[m];
    double primal = 0;
    for (const double beta : machine.coefficient) primal += std::abs(beta);
    for (std::size_t i = 0; i < rows.rows.count; ++i) {
      if (!(rows.cost[i] > 0)) continue;
      double y = 0;
      if (model.outcome == Outcome::classes) {
        const bool positive = rows.class_of[i] == machine.positive;
        if (!positive && machine.negative != Machine::nobody &&
            rows.class_of[i] != machine.negative)
          continue;
        y = positive ? 1 : -1;
      } else {
        y = data.y[i];
      }
      primal +=
          static_cast<double>(loss.value(y, f[i * machines + m] + machine.bias(), rows.cost[i], 0));
    }
    Verified& result = results[m];
    result.recomputed = machine.certificate;
    result.recomputed.primal = primal;
    result.primal_only = true;
    result.holds = near(primal, machine.certificate.primal, std::abs(primal));
    if (!result.holds)
      result.reason =
          "the primal is " + shortest(primal) + ", not " + shortest(machine.certificate.primal);
  }
  return results;
}

}  // namespace

std::optional<std::vector<Verified>> verify_one_problem(const Model& model, const Dataset& data,
                                                        const Threads& threads) {
  const bool together = is_one_problem(model.multiclass);
  if (!together && std::ranges::count(model.options, Texts::value_type{"regulariser", "l1"}) == 0)
    return std::nullopt;
  const Formulation stated = formulation_of(model);
  if (data.rows() != model.rows || content_hash(data) != model.data_hash)
    throw Error(Fault::data, "this is not the data the model was trained on",
                "give the file it was trained on");
  const Trained rows = rows_of(model, data, stated);
  for (std::size_t k = 0; k < model.support_row.size(); ++k)
    if (model.support_row[k] >= data.rows() ||
        (!is_given(model.kernel) &&
         row_of(model.support, k) != row_of(rows.rows, model.support_row[k]))) {
      std::vector<Verified> strange(model.machines.size());
      for (std::size_t m = 0; m < strange.size(); ++m) {
        strange[m].recomputed = model.machines[m].certificate;
        strange[m].reason = "a support vector is not the training row it is said to be";
      }
      return strange;
    }
  const std::vector<double> f = values_at(model, rows.rows, threads);
  return together ? verify_together(model, rows, f)
                  : verify_expansion(model, data, stated, rows, f);
}

}  // namespace maxmargin
