#include "maxmargin/libsvm/model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/given.hpp"

namespace maxmargin {
namespace {

constexpr std::string_view by_convert = "models of LIBSVM have no place for it";

[[noreturn]] void throw_foreign(const std::string& what, std::string_view mend = by_convert) {
  throw Error(Fault::usage, what, mend);
}

bool counts_from_zero(const Model& model) {
  return std::ranges::any_of(model.options, [](const auto& option) {
    return option.first == "base" && option.second == "0";
  });
}

int whole_label(const std::string& name) {
  int label = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), label);
  if (fault != std::errc{} || end != name.data() + name.size())
    throw_foreign("the class '" + name + "' is not called by a whole number",
                  "models of LIBSVM number their classes");
  return label;
}

std::size_t as_size(int number) { return static_cast<std::size_t>(number); }

/// The rows with every feature numbered `by` higher (or lower).
Features renumbered(const Rows& rows, std::int64_t by) {
  if (by == 0 && rows.sparse()) {
    Features same = Features::sparse(rows.columns);
    same.append(rows);
    return same;
  }
  const auto columns = std::max<std::int64_t>(0, static_cast<std::int64_t>(rows.columns) + by);
  return placed(rows, Features::sparse(static_cast<std::size_t>(columns)),
                [&](std::size_t, Index feature, double value) {
                  return value == 0 ? std::nullopt
                                    : std::optional(static_cast<Index>(feature + by));
                });
}

/// The support vectors of a model that does not have them itself.
Features training_rows(const LibsvmModel& model) {
  const Rows rows = *model.training;
  Features copy = none_like(rows);
  const std::vector<Index> which(model.row.begin(), model.row.end());
  copy.append(rows, which);
  return copy;
}

bool uses_feature_zero(const Rows& rows) {
  for (std::size_t i = 0; i < rows.count; ++i)
    if (rows.start[i] < rows.start[i + 1] && rows.index[rows.start[i]] == 0) return true;
  return false;
}

/// Support vectors and what numbers them.
void take_support(const LibsvmModel& from, Numbering numbering, Model& to) {
  if (!from.serial.empty() || is_given(from.kernel)) {
    // Serial numbers count from 1.
    const std::uint64_t gap = numbering == Numbering::own ? 1 : 0;
    for (const std::uint64_t serial : from.serial) {
      to.support_row.push_back(serial - gap);
      to.features = std::max<std::size_t>(to.features, serial - gap + 1);
    }
    to.rows = to.features;
    if (numbering == Numbering::own) to.options.emplace_back("base", "serial");
    to.support = Features::sparse(to.features);
    for (std::size_t k = 0; k < from.serial.size(); ++k)
      to.support.append(std::span<const Index>{}, std::span<const double>{});
    return;
  }
  const Features copy = from.training ? training_rows(from) : Features();
  const Features& support = from.training ? copy : from.support;
  const bool shift = numbering == Numbering::own && !uses_feature_zero(support);
  to.support = renumbered(support, shift ? -1 : 0);
  to.features = to.support.columns();
  to.rows = to.support.count();
  to.support_row.resize(to.support.count());
  std::iota(to.support_row.begin(), to.support_row.end(), std::uint64_t{0});
  if (numbering == Numbering::own) to.options.emplace_back("base", shift ? "1" : "0");
}

/// The decision function of classes i and j; `flipped`: class j is to be the positive one. The
/// vectors of class c are start[c] up to start[c + 1].
Machine pair_machine(const LibsvmModel& model, std::span<const std::uint64_t> start, std::size_t i,
                     std::size_t j, std::size_t pair, bool flipped) {
  Machine machine;
  const double sign = flipped ? -1 : 1;
  const auto add = [&](std::size_t of_class, std::size_t column) {
    for (std::uint64_t k = start[of_class]; k < start[of_class + 1]; ++k) {
      const double coefficient = model.coefficients[k * model.columns() + column];
      if (coefficient == 0) continue;
      machine.support.push_back(static_cast<Index>(k));
      machine.coefficient.push_back(sign * coefficient);
    }
  };
  add(i, j - 1);
  add(j, i);
  machine.lambda = {-sign * model.rho[pair] + 0.0};
  return machine;
}

void take_classes(const LibsvmModel& from, Model& to) {
  const std::size_t classes = from.labels.size();
  std::vector<std::size_t> by_label(classes), rank(classes);
  std::iota(by_label.begin(), by_label.end(), std::size_t{0});
  std::ranges::sort(by_label, {}, [&](std::size_t k) { return from.labels[k]; });
  for (std::size_t k = 0; k < classes; ++k) {
    rank[by_label[k]] = k;
    to.classes.push_back(std::to_string(from.labels[by_label[k]]));
  }
  std::vector<std::uint64_t> start(classes + 1, 0);
  std::partial_sum(from.sizes.begin(), from.sizes.end(), start.begin() + 1);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j, ++pair) {
      Machine machine = pair_machine(from, start, i, j, pair, rank[i] < rank[j]);
      machine.positive = static_cast<int>(std::max(rank[i], rank[j]));
      machine.negative = static_cast<int>(std::min(rank[i], rank[j]));
      to.machines.push_back(std::move(machine));
    }
  std::ranges::sort(to.machines, {}, [](const Machine& machine) {
    return std::pair(machine.negative, machine.positive);
  });
}

/// LIBSVM learns its probabilities by cross-validation with so many folds.
constexpr int calibration_folds = 5;

/// P(i | f) of LIBSVM's classes i < j is that of the own machine's positive class, or, where that
/// is j, one minus it at -f.
PlattSigmoid oriented(double slope, double offset, bool flipped) {
  return {slope, flipped ? -offset + 0.0 : offset};
}

/// Sigmoids of the machines in their own order. The marks of one-class machines are of another
/// kind than those of maxmargin's.
void take_probabilities(const LibsvmModel& from, Model& to) {
  if (from.prob_a.empty()) return;
  to.calibration.folds = calibration_folds;
  if (to.outcome == Outcome::number) to.calibration.noise = from.prob_a[0];
  if (to.outcome != Outcome::classes) return;
  std::map<std::pair<int, int>, PlattSigmoid> of;
  std::size_t pair = 0;
  for (std::size_t i = 0; i < from.labels.size(); ++i)
    for (std::size_t j = i + 1; j < from.labels.size(); ++j, ++pair) {
      const bool flipped = from.labels[i] < from.labels[j];
      of[std::minmax(from.labels[i], from.labels[j])] =
          oriented(from.prob_a[pair], from.prob_b[pair], flipped);
    }
  for (const Machine& machine : to.machines) {
    const auto label = [&](int number) { return whole_label(to.classes[as_size(number)]); };
    to.calibration.sigmoid.push_back(of.at({label(machine.negative), label(machine.positive)}));
  }
}

void take_single(const LibsvmModel& from, Model& to) {
  Machine machine;
  for (std::size_t k = 0; k < from.coefficients.size(); ++k) {
    if (from.coefficients[k] == 0) continue;
    machine.support.push_back(static_cast<Index>(k));
    machine.coefficient.push_back(from.coefficients[k]);
  }
  machine.lambda = {-from.rho[0] + 0.0};
  to.machines.push_back(std::move(machine));
}

std::string_view own_task(LibsvmType type) {
  switch (type) {
    case LibsvmType::c_svc:
      return "svc";
    case LibsvmType::nu_svc:
      return "nu-svc";
    case LibsvmType::one_class:
      return "one-class";
    case LibsvmType::epsilon_svr:
      return "svr";
    case LibsvmType::nu_svr:
      return "nu-svr";
  }
  return "svc";
}

LibsvmType libsvm_type(const Model& model) {
  const std::string task = task_name(model);
  switch (model.outcome) {
    case Outcome::classes:
      return task == own_task(LibsvmType::nu_svc) ? LibsvmType::nu_svc : LibsvmType::c_svc;
    case Outcome::number:
      return task == own_task(LibsvmType::nu_svr) ? LibsvmType::nu_svr : LibsvmType::epsilon_svr;
    case Outcome::novelty:
      break;
  }
  return LibsvmType::one_class;
}

/// Position in `order` of each of the model's classes.
std::vector<std::size_t> positions_of_classes(const Model& model, std::vector<int>& order) {
  std::vector<int> labels;
  for (const std::string& name : model.classes) labels.push_back(whole_label(name));
  if (order.empty()) {
    order = labels;
    std::ranges::sort(order);
    if (order == std::vector{-1, 1}) order = {1, -1};
  }
  std::vector<std::size_t> class_position;
  for (const int label : labels) {
    const auto found = std::ranges::find(order, label);
    if (found == order.end()) throw_foreign("a class is missing in the order of classes");
    class_position.push_back(static_cast<std::size_t>(found - order.begin()));
  }
  return class_position;
}

/// The class of each support vector: that for which its coefficients vote.
std::vector<std::size_t> classes_of_support(const Model& model,
                                            std::span<const std::size_t> class_position) {
  constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> of(model.support_row.size(), unknown);
  for (const Machine& machine : model.machines)
    for (std::size_t k = 0; k < machine.support.size(); ++k) {
      const int side = machine.coefficient[k] > 0 ? machine.positive : machine.negative;
      std::size_t& known = of[machine.support[k]];
      const std::size_t its_class = class_position[as_size(side)];
      if (known != unknown && known != its_class)
        throw_foreign("a support vector speaks for two classes");
      known = its_class;
    }
  // Without coefficients any class will do.
  std::ranges::replace(of, unknown, std::size_t{0});
  return of;
}

/// These support vectors, in this order.
void copy_support(const Model& from, std::span<const Index> which, Numbering numbering,
                  LibsvmModel& to) {
  for (const Index vector : which) to.row.push_back(from.support_row[vector]);
  if (is_given(from.kernel)) {
    const std::uint64_t gap = numbering == Numbering::own ? 1 : 0;
    for (const std::uint64_t row : to.row) to.serial.push_back(row + gap);
    return;
  }
  const Rows rows = from.support;
  if (rows.count == 0) return;
  const bool shift = numbering == Numbering::own && !counts_from_zero(from);
  Features ordered = none_like(rows);
  ordered.append(rows, which);
  to.support = shift || !rows.sparse() ? renumbered(ordered, shift ? 1 : 0) : std::move(ordered);
}

/// Support vectors in LIBSVM's order, and where each of them went.
std::vector<std::size_t> order_support(const Model& from, std::span<const std::size_t> class_of,
                                       Numbering numbering, LibsvmModel& to) {
  std::vector<Index> which(from.support_row.size());
  std::iota(which.begin(), which.end(), Index{0});
  if (!class_of.empty())
    std::ranges::stable_sort(which, {}, [&](Index vector) { return class_of[vector]; });
  std::vector<std::size_t> position(which.size());
  for (std::size_t k = 0; k < which.size(); ++k) position[which[k]] = k;
  copy_support(from, which, numbering, to);
  return position;
}

std::size_t pair_number(std::size_t i, std::size_t j, std::size_t classes) {
  return i * (2 * classes - i - 1) / 2 + j - i - 1;
}

void put_probabilities(const Model& from, std::span<const std::size_t> class_position,
                       LibsvmModel& to) {
  const Calibration& calibration = from.calibration;
  if (calibration.none()) return;
  if (from.outcome == Outcome::number) to.prob_a = {calibration.noise};
  if (from.outcome != Outcome::classes) return;
  to.prob_a.assign(to.rho.size(), 0.0);
  to.prob_b.assign(to.rho.size(), 0.0);
  for (std::size_t m = 0; m < from.machines.size(); ++m) {
    const std::size_t positive = class_position[as_size(from.machines[m].positive)];
    const std::size_t negative = class_position[as_size(from.machines[m].negative)];
    const std::size_t pair =
        pair_number(std::min(positive, negative), std::max(positive, negative), to.labels.size());
    const PlattSigmoid& own = calibration.sigmoid[m];
    const PlattSigmoid sigmoid = oriented(own.slope, own.offset, positive > negative);
    to.prob_a[pair] = sigmoid.slope;
    to.prob_b[pair] = sigmoid.offset;
  }
}

void put_classes(const Model& from, std::span<const std::size_t> class_position,
                 std::span<const std::size_t> position, LibsvmModel& to) {
  const std::size_t classes = to.labels.size();
  const std::size_t columns = to.columns();
  const std::size_t pairs = classes * (classes - 1) / 2;
  to.coefficients.assign(from.support_row.size() * columns, 0.0);
  to.rho.assign(pairs, 0.0);
  for (const Machine& machine : from.machines) {
    const std::size_t positive = class_position[as_size(machine.positive)];
    const std::size_t negative = class_position[as_size(machine.negative)];
    const std::size_t i = std::min(positive, negative), j = std::max(positive, negative);
    const double sign = positive == i ? 1 : -1;
    to.rho[pair_number(i, j, classes)] = -sign * machine.bias() + 0.0;
    for (std::size_t k = 0; k < machine.support.size(); ++k) {
      // Seen from class i, its own vectors have positive coefficients.
      const double coefficient = sign * machine.coefficient[k];
      const std::size_t column = coefficient > 0 ? j - 1 : i;
      to.coefficients[position[machine.support[k]] * columns + column] = coefficient;
    }
  }
}

bool is_against_rest(const Model& model) {
  return model.outcome == Outcome::classes &&
         std::ranges::any_of(model.machines, [](const Machine& machine) {
           return machine.negative == Machine::nobody;
         });
}

/// One-vs-rest machines as pairs with the decision function f_i - f_j, so that the class with the
/// largest f wins all of its pairs. The support vectors of f_c are listed under c, and so a vector
/// may be listed once for each class.
void put_against_rest(const Model& from, std::span<const std::size_t> class_position,
                      Numbering numbering, LibsvmModel& to) {
  const std::size_t classes = to.labels.size(), columns = to.columns();
  std::vector<const Machine*> of(classes, nullptr);
  for (const Machine& machine : from.machines)
    of[class_position[as_size(machine.positive)]] = &machine;
  if (std::ranges::find(of, nullptr) != of.end())
    throw_foreign("not every class has a decision function");
  std::vector<Index> which;
  for (std::size_t c = 0; c < classes; ++c) {
    to.sizes.push_back(of[c]->support.size());
    which.insert(which.end(), of[c]->support.begin(), of[c]->support.end());
    for (const double coefficient : of[c]->coefficient)
      for (std::size_t column = 0; column < columns; ++column)
        to.coefficients.push_back(column < c ? -coefficient : coefficient);
  }
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j)
      to.rho.push_back(of[j]->bias() - of[i]->bias() + 0.0);
  copy_support(from, which, numbering, to);
}

void put_single(const Model& from, std::span<const std::size_t> position, LibsvmModel& to) {
  to.coefficients.assign(from.support_row.size(), 0.0);
  const Machine& machine = from.machines.at(0);
  to.rho = {-machine.bias() + 0.0};
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    to.coefficients[position[machine.support[k]]] = machine.coefficient[k];
}

void require_convertible(const Model& model) {
  if (!model.scaling.factor.empty())
    throw_foreign("the model scales its features",
                  "scale the data with svm-scale, then train on that");
  if (is_against_rest(model) && !model.calibration.none())
    throw_foreign("the model has probabilities of each class against the rest",
                  "LIBSVM has them of pairs: train with --multiclass ovo, or without them");
  for (const Machine& machine : model.machines)
    if (machine.lambda.size() > 1)
      throw_foreign("the model has unpenalised functions besides the bias");
  const bool known = std::holds_alternative<Linear>(model.kernel) ||
                     std::holds_alternative<Polynomial>(model.kernel) ||
                     std::holds_alternative<Rbf>(model.kernel) ||
                     std::holds_alternative<Sigmoid>(model.kernel) || is_given(model.kernel);
  if (!known)
    throw_foreign("LIBSVM does not know the kernel '" + std::string(name_of(model.kernel)) + "'",
                  "use linear, polynomial, rbf, sigmoid or precomputed");
}

}  // namespace

std::string_view to_string(LibsvmType type) {
  constexpr std::string_view names[] = {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};
  return names[static_cast<std::size_t>(type)];
}

Model to_model(const LibsvmModel& from, Numbering numbering) {
  Model model;
  model.outcome = predicts_classes(from.type)          ? Outcome::classes
                  : from.type == LibsvmType::one_class ? Outcome::novelty
                                                       : Outcome::number;
  model.kernel = from.kernel;
  model.options = {{"task", std::string(own_task(from.type))}};
  model.program = "LIBSVM";
  take_support(from, numbering, model);
  if (model.outcome == Outcome::classes)
    take_classes(from, model);
  else
    take_single(from, model);
  take_probabilities(from, model);
  return model;
}

LibsvmModel to_libsvm(const Model& model, Numbering numbering, std::span<const int> order) {
  require_convertible(model);
  LibsvmModel result;
  result.type = libsvm_type(model);
  result.kernel = model.kernel;
  if (model.outcome != Outcome::classes) {
    put_single(model, order_support(model, {}, numbering, result), result);
    put_probabilities(model, {}, result);
    return result;
  }
  result.labels.assign(order.begin(), order.end());
  const std::vector<std::size_t> class_position = positions_of_classes(model, result.labels);
  if (is_against_rest(model)) {
    put_against_rest(model, class_position, numbering, result);
    return result;
  }
  // LIBSVM's models have no place for machines that were not trained: svm-train writes f = 0 for
  // them and says so; others are refused.
  const std::size_t pairs = result.labels.size() * (result.labels.size() - 1) / 2;
  const bool may_lack = numbering == Numbering::libsvm && !model.untrained.none();
  if (model.machines.size() != pairs && !may_lack)
    throw_foreign("not every pair of classes has a decision function",
                  model.untrained.none() ? by_convert : "train it to the end");
  const std::vector<std::size_t> class_of = classes_of_support(model, class_position);
  result.sizes.assign(result.labels.size(), 0);
  for (const std::size_t of : class_of) ++result.sizes[of];
  const auto position = order_support(model, class_of, numbering, result);
  put_classes(model, class_position, position, result);
  put_probabilities(model, class_position, result);
  return result;
}

void put_at_bound(std::span<const double> bound_of_class, LibsvmModel& model) {
  constexpr double nearly = 1e-12;
  std::size_t k = 0;
  for (std::size_t of = 0; of < bound_of_class.size(); ++of) {
    const double bound = bound_of_class[of];
    const std::size_t vectors = model.sizes.empty() ? model.vectors() : model.sizes[of];
    for (const std::size_t end = k + vectors * model.columns(); k < end; ++k)
      if (std::abs(std::abs(model.coefficients[k]) - bound) <= nearly * bound)
        model.coefficients[k] = std::copysign(bound, model.coefficients[k]);
  }
}

void keep_classes(std::span<const int> classes, Model& model) {
  if (model.classes.size() == classes.size()) return;
  std::vector<int> number(model.classes.size(), Machine::nobody);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < number.size(); ++k)
    if (std::ranges::count(classes, std::stoi(model.classes[k])) > 0) {
      number[k] = static_cast<int>(names.size());
      names.push_back(model.classes[k]);
    }
  for (Machine& machine : model.machines) {
    machine.positive = number[static_cast<std::size_t>(machine.positive)];
    machine.negative = number[static_cast<std::size_t>(machine.negative)];
  }
  std::vector<double> loss(model.untrained.none() ? 0 : names.size());
  for (std::size_t k = 0; k < number.size() && !loss.empty(); ++k)
    if (number[k] != Machine::nobody) loss[as_size(number[k])] = model.untrained.loss[k];
  model.untrained.loss = std::move(loss);
  model.classes = std::move(names);
}

}  // namespace maxmargin
