#include "maxmargin/model/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/kernel/mercer.hpp"
#include "maxmargin/model/verify/comparison.hpp"
#include "maxmargin/model/verify/examine.hpp"
#include "maxmargin/model/verify/kernel_sums.hpp"
#include "maxmargin/model/verify/one_problem.hpp"
#include "maxmargin/model/verify/statements.hpp"

namespace maxmargin {
namespace {

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
  Rows visible;   ///< the rows that the kernel is told, before scaling
  Features visible_made;
  Rows rows;
  std::vector<double> functions;  ///< their values, row by row
  std::vector<int> class_of;      ///< class number in the model, of each row
  std::vector<double> target;
  std::vector<double> price;       ///< of each row; 0: it takes no part
  std::vector<double> price_over;  ///< of predicting too much, where that has one of its own
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
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    // In this order, so that it is rounded as when the problem was made.
    training.price[i] = weight == 0 ? 0 : stated.price * factor[classes.of_row[i]] * weight;
  }
}

Training take_training(const Model& model, const Dataset& data, const Formulation& stated,
                       const Threads& threads) {
  Training training;
  training.visible = data.x;
  const ParametricFunctions functions(model.functions, model.feature_names, model.features);
  training.functions = functions.values(data.x, threads);
  if (functions.hides()) {
    training.visible_made = functions.visible(data.x, data.x.columns());
    training.visible = training.visible_made;
  }
  training.rows = training.visible;
  if (!model.scaling.factor.empty()) {
    Features scaled = none_like(data.x, model.features);
    scaled.append(training.visible);
    apply(model.scaling, scaled);
    training.made = std::move(scaled);
    training.rows = training.made;
  }
  training.class_of.assign(data.rows(), no_class);
  training.price.resize(data.rows());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    training.price[i] = weight == 0 ? 0 : stated.price * weight;
  }
  for (const double weight : data.weight_over)
    training.price_over.push_back(weight == 0 ? 0 : stated.price * weight);
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
  if (training.price[row] == 0 && (training.price_over.empty() || training.price_over[row] == 0))
    return {false, 0};
  if (machine.positive == Machine::nobody)
    return {true, training.target.empty() ? 1 : training.target[row]};
  const int number = training.class_of[row];
  if (number == machine.positive) return {true, 1};
  return {machine.negative == Machine::nobody || number == machine.negative, -1};
}

/// The machines that may see rows of each class, in increasing order: of thousands of classes, a
/// row does not ask all machines. One list where there are no classes.
std::vector<std::vector<Index>> machines_of_classes(const Model& model) {
  std::vector<std::vector<Index>> of(std::max<std::size_t>(1, model.classes.size()));
  for (std::size_t m = 0; m < model.machines.size(); ++m) {
    const Machine& machine = model.machines[m];
    if (machine.positive == Machine::nobody || machine.negative == Machine::nobody) {
      for (auto& list : of) list.push_back(static_cast<Index>(m));
      continue;
    }
    of[static_cast<std::size_t>(machine.positive)].push_back(static_cast<Index>(m));
    of[static_cast<std::size_t>(machine.negative)].push_back(static_cast<Index>(m));
  }
  return of;
}

/// The rows of every machine, with g.
std::vector<std::vector<SeenRow>> rows_of_machines(const Model& model, const Training& training,
                                                   const Formulation& stated,
                                                   const KernelSums& sums, const Threads& threads) {
  const std::size_t machines = model.machines.size(), functions = model.functions.size();
  std::vector<std::vector<SeenRow>> seen(machines);
  // position[row * machines + m] would be large for many classes: each row keeps only its own.
  std::vector<std::vector<std::pair<Index, Index>>> positions(training.rows.count);
  const std::vector<std::vector<Index>> of_class = machines_of_classes(model);
  for (std::size_t row = 0; row < training.rows.count; ++row) {
    const int number = training.class_of[row];
    for (const Index m : of_class[number == no_class ? 0 : static_cast<std::size_t>(number)]) {
      const auto [is_seen, target] = view_of(model.machines[m], training, row);
      if (!is_seen) continue;
      positions[row].emplace_back(m, static_cast<Index>(seen[m].size()));
      SeenRow& mine = seen[m].emplace_back();
      mine.row = static_cast<Index>(row);
      mine.point = training.point[row];
      mine.target = target;
      mine.price = training.price[row];
      if (functions > 0) mine.functions = &training.functions[row * functions];
      if (!training.price_over.empty()) mine.price_over = training.price_over[row];
      for (std::size_t r = 0; r < functions; ++r)
        mine.offset += Enclosed(model.machines[m].lambda[r + 1]) *
                       Enclosed(training.functions[row * functions + r]);
    }
  }
  // Machines of several classes share their basis functions.
  for (std::size_t m = 0; stated.approximated && !stated.only_weights && m < machines; ++m)
    for (const Index vector : model.machines[m].support) {
      const std::uint64_t row = model.support_row[vector];
      if (view_of(model.machines[m], training, row).seen) continue;
      positions[row].emplace_back(static_cast<Index>(m), static_cast<Index>(seen[m].size()));
      SeenRow& mine = seen[m].emplace_back();
      mine.row = static_cast<Index>(row);
      mine.point = training.point[row];
      mine.is_basis = true;
    }
  sums.compute(threads, [&](std::size_t row, std::span<const KernelSum> all) {
    for (const auto& [m, position] : positions[row]) seen[m][position].sum = all[m];
  });
  return seen;
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

/// 1/2 |w|^2 of a machine whose one support vector is w.
Enclosed half_square_of_weights(const Model& model, const Machine& machine) {
  const Rows support = model.support;
  Enclosed sum = 0;
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    support.for_each(machine.support[k], [&](Index, double value) {
      const Enclosed w = Enclosed(machine.coefficient[k]) * Enclosed(value);
      sum += w * w;
    });
  return sum * Enclosed(0.5L);
}

Claimed claims_of(const Model& model, const Machine& machine, const Training& training,
                  const Formulation& stated) {
  Claimed claimed;
  if (!machine.lambda.empty()) claimed.bias = machine.lambda.data();
  claimed.width = machine.width;
  const std::size_t functions = model.functions.size();
  claimed.function_sum.assign(functions, Enclosed(0));
  claimed.function_size.assign(functions, 0);
  for (std::size_t r = 0; r < functions; ++r)
    claimed.function_coefficient.push_back(machine.lambda[r + 1]);
  for (std::size_t k = 0; !stated.only_weights && k < machine.support.size(); ++k) {
    const std::size_t row = model.support_row[machine.support[k]];
    auto& beta = claimed.beta[training.point[row]];
    beta.value += Enclosed(machine.coefficient[k]);
    ++beta.parts;
    beta.size += std::abs(machine.coefficient[k]);
    for (std::size_t r = 0; r < functions; ++r) {
      const Enclosed part =
          Enclosed(machine.coefficient[k]) * Enclosed(training.functions[row * functions + r]);
      claimed.function_sum[r] += part;
      claimed.function_size[r] += part.size();
    }
  }
  return claimed;
}

Certificate recomputed_from(const Examined& found, const Certificate& stored, bool primal_only) {
  Certificate now = primal_only ? stored : Certificate{};
  now.primal = now.best_primal = double_above(found.primal.high());
  now.mercer = stored.mercer;
  if (primal_only) return now;
  now.dual = double_below(found.dual.low());
  if (std::isnan(now.dual))
    now.dual = -infinity;  // a variable may be outside of its entropy's domain
  now.best_dual = now.dual;
  now.gap = std::max(0.0, double_above(static_cast<Extended>(now.primal) - now.dual));
  const double sizes = std::abs(now.primal) + std::abs(now.dual);
  now.relative_gap = now.gap == 0 ? 0 : std::isfinite(sizes) ? 2 * now.gap / sizes : infinity;
  now.kkt = double_above(found.kkt_high);
  now.equality_residual = double_above(std::max<Extended>(0, found.equality));
  now.bound_residual = double_above(found.bound);
  return now;
}

/// An objection where K is not as the certificates say: positive semi-definite, or not.
std::optional<Objection> wrong_mercer(const Model& model, const Training& training,
                                      const Formulation& stated, const Threads& threads,
                                      bool& sampled) {
  if (stated.approximated) return {};
  Definite definite =
      visit_list([](const auto& kernel) { return kernel.definite(); }, model.kernel);
  if (is_given(model.kernel)) {
    if (const Asymmetry found = asymmetry_of(training.rows, threads); found.is_serious())
      return Objection{"mercer", "the kernel matrix is not symmetric"};
    const bool whole = training.rows.count <= mercer_rows ||
                       std::ranges::none_of(model.machines, [](const Machine& machine) {
                         return machine.certificate.sampled;
                       });
    const Mercer mercer =
        mercer_holds(model.kernel, training.rows, whole ? training.rows.count : eigenvalue_rows,
                     model.seed, threads);
    definite = mercer.holds ? Definite::yes : Definite::no;
    sampled = mercer.is_sampled();
  }
  for (const Machine& machine : model.machines)
    if (machine.certificate.mercer != (definite != Definite::no))
      return Objection{"mercer", definite == Definite::no
                                     ? "the kernel is not positive semi-definite"
                                     : "the kernel is positive semi-definite"};
  return {};
}

void conclude(Verdict verdict, const Objection& why, Verified& machine) {
  machine.verdict = verdict;
  machine.holds = verdict == Verdict::is_true;
  machine.field = why.field;
  machine.reason = why.reason;
}

/// The coefficients of each machine by row of the data.
std::vector<std::vector<double>> coefficients_by_row(const Model& model) {
  std::vector<std::vector<double>> a(model.machines.size(), std::vector<double>(model.rows, 0.0));
  for (std::size_t m = 0; m < a.size(); ++m)
    for (std::size_t k = 0; k < model.machines[m].support.size(); ++k)
      a[m][model.support_row[model.machines[m].support[k]]] = model.machines[m].coefficient[k];
  return a;
}

std::vector<Examined> examined_in(Arithmetic arithmetic, const Model& model,
                                  const Training& training, const Formulation& stated,
                                  const Threads& threads) {
  const KernelSums sums(model, training.rows, arithmetic);
  std::vector<std::vector<SeenRow>> seen = rows_of_machines(model, training, stated, sums, threads);
  const std::function<Extended(std::size_t)> diagonal = [&](std::size_t row) {
    return sums.diagonal(row);
  };
  std::vector<Claimed> claimed;
  for (const Machine& machine : model.machines)
    claimed.push_back(claims_of(model, machine, training, stated));
  if (stated.together)
    return examine_together(stated, seen, coefficients_by_row(model), claimed, diagonal);
  std::vector<Examined> found(claimed.size());
  threads.split(found.size(), 1, [&](std::size_t m, std::size_t) {
    found[m] = stated.expansion ? examine_expansion(stated, seen[m], claimed[m])
                                : examine(stated, std::move(seen[m]), claimed[m], diagonal);
    if (stated.only_weights) found[m].primal += half_square_of_weights(model, model.machines[m]);
  });
  return found;
}

/// What machines that are one problem claim, and what is found of them, together.
struct Whole {
  Certificate stored;
  Examined found;

  void add(const Certificate& certificate, const Examined& part) {
    stored.primal += certificate.primal;
    stored.dual += certificate.dual;
    stored.gap = stored.primal - stored.dual;
    found.primal += part.primal;
    found.dual += part.dual;
    found.primal_slack += part.primal_slack;
    found.dual_slack += part.dual_slack;
  }
};

/// Every machine's verdict, with kernel values in one arithmetic.
struct Verdicts {
  std::vector<Verified> machines;
  bool is_vague = false;  ///< more digits might tell more
};
Verdicts judged_in(Arithmetic arithmetic, const Model& model, const Training& training,
                   const Formulation& stated, const std::vector<bool>& strange,
                   const Threads& threads) {
  const std::vector<Examined> found = examined_in(arithmetic, model, training, stated, threads);
  Whole all{{.primal = 0, .dual = 0}, {}};
  if (stated.together)
    for (std::size_t m = 0; m < found.size(); ++m) all.add(model.machines[m].certificate, found[m]);
  Verdicts verdicts;
  verdicts.machines.resize(found.size());
  for (std::size_t m = 0; m < found.size(); ++m) {
    const Machine& machine = model.machines[m];
    const Whole own = stated.together ? all : Whole{machine.certificate, found[m]};
    Verified& result = verdicts.machines[m];
    result.primal_only = stated.primal_only();
    result.recomputed = recomputed_from(found[m], machine.certificate, stated.primal_only());
    std::optional<Objection> wrong;
    for (const Index vector : machine.support)
      if (!wrong && strange[vector])
        wrong = Objection{"support", "a support vector is not the training row it is said to be"};
    if (!wrong) wrong = refutation(stated, machine, found[m], own.stored);
    verdicts.is_vague |= vagueness(stated, own.stored, own.found, 0.01L).has_value();
    if (wrong)
      conclude(Verdict::is_false, *wrong, result);
    else if (const auto unclear = vagueness(stated, own.stored, own.found, 1))
      conclude(Verdict::cannot_tell, *unclear, result);
    else
      conclude(Verdict::is_true, {}, result);
  }
  return verdicts;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::is_true:
      return "true";
    case Verdict::is_false:
      return "false";
    case Verdict::cannot_tell:
      return "cannot tell";
  }
  return "cannot tell";
}

Judgement judge(const Model& model, const Dataset& data, const Threads& threads) {
  const Formulation stated = formulation_of(model);
  check_identity(model, data);
  const Training training = take_training(model, data, stated, threads);
  const bool has_vectors = !is_given(model.kernel) && !stated.only_weights;
  std::vector<bool> strange(model.support.count(), false);
  for (std::size_t k = 0; has_vectors && k < strange.size(); ++k)
    strange[k] = !same_row(model.support, k, training.rows, model.support_row[k]);

  Judgement result;
  result.primal_only = stated.primal_only();
  result.calibrated = !model.calibration.none();
  for (const Arithmetic arithmetic : {Arithmetic::doubles, Arithmetic::extended}) {
    Verdicts found = judged_in(arithmetic, model, training, stated, strange, threads);
    result.precision = to_string(arithmetic);
    result.machines = std::move(found.machines);
    if (!found.is_vague && std::ranges::all_of(result.machines, &Verified::holds)) break;
  }
  result.verdict = Verdict::is_true;
  for (const Verified& machine : result.machines)
    if (result.verdict != Verdict::is_false && !machine.holds) result.verdict = machine.verdict;
  auto wrong = objection_to_statements(model, data, stated, training.visible);
  if (!wrong) wrong = wrong_mercer(model, training, stated, threads, result.sampled);
  if (wrong) {
    result.verdict = Verdict::is_false;
    result.field = wrong->field;
    result.reason = wrong->reason;
  }
  return result;
}

std::vector<Verified> verify(const Model& model, const Dataset& data, const Threads& threads) {
  Judgement judgement = judge(model, data, threads);
  if (!judgement.field.empty())
    for (Verified& machine : judgement.machines)
      if (machine.verdict != Verdict::is_false)
        conclude(Verdict::is_false, {judgement.field, judgement.reason}, machine);
  return std::move(judgement.machines);
}

}  // namespace maxmargin
