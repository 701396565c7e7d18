#include "maxmargin/train/stream/finish.hpp"

#include <algorithm>
#include <charconv>

#include "maxmargin/kernel/given.hpp"
#include "maxmargin/online/expansion/row_sums.hpp"

namespace maxmargin {
namespace {

/// The task of each rule that has one, at the price C = 1 / (lambda n) of a row.
struct BatchTask {
  double price;
  Bias bias;

  using Found = std::optional<Task>;
  Svc svc(MarginLoss loss, double cost) const {
    Svc task;
    task.cost = cost;
    task.loss = loss;
    task.bias = bias;
    task.multiclass = Multiclass::one_vs_rest;
    return task;
  }
  Svr svr(ErrorLoss loss) const {
    Svr task;
    task.cost = price;
    task.loss = loss;
    task.bias = bias;
    return task;
  }
  Found operator()(const SoftMarginRule&) const { return svc(Hinge{}, price); }
  Found operator()(const PegasosRule&) const { return svc(Hinge{}, price); }
  /// The rule's loss has a factor 1/2.
  Found operator()(const SquaredHingeRule&) const { return svc(SquaredHinge{}, price / 2); }
  Found operator()(const NuClassificationRule& rule) const {
    if (bias == Bias::none) return std::nullopt;
    NuSvc task;
    task.nu = rule.nu;
    task.multiclass = Multiclass::one_vs_rest;
    return task;
  }
  Found operator()(const NoveltyRule& rule) const { return OneClass{rule.nu}; }
  Found operator()(const SquaredRule&) const { return svr(Squared{}); }
  Found operator()(const HuberRule& rule) const { return svr(Huber{rule.sigma}); }
  Found operator()(const NuTubeRule& rule) const {
    if (bias == Bias::none) return std::nullopt;
    return NuSvr{price, rule.nu};
  }
  template <class Rule>
  Found operator()(const Rule&) const {
    return std::nullopt;
  }
};

Bias bias_of(const LearnerOptions& options) {
  const bool never = std::holds_alternative<PegasosRule>(options.rule);
  return options.bias && !never ? Bias::unpenalised : Bias::none;
}

/// Bounds of nu machines do not have the price of a row in them.
bool is_without_price(const Task& task) {
  return std::holds_alternative<NuSvc>(task) || std::holds_alternative<OneClass>(task);
}

/// A row of a learner, and its label or the number of its class.
struct LearnedRow {
  StreamRow x;
  double target;
};
std::vector<LearnedRow> rows_of(const Learner& learner) {
  std::vector<LearnedRow> rows;
  const OnlineTerms& terms = learner.expansion();
  if (!learner.options().keep) {
    for (std::size_t i = 0; i < terms.expansion.slots(); ++i)
      if (terms.expansion.used(i)) rows.push_back({terms.expansion.row(i), terms.target[i]});
    return rows;
  }
  for (std::size_t i = 0; i < learner.learned_rows().size(); ++i) {
    const Expansion::Slot& row = learner.learned_rows()[i];
    rows.push_back({{row.features, row.values, row.number}, learner.learned_targets()[i]});
  }
  return rows;
}

Dataset data_of(const Learner& learner, const std::vector<LearnedRow>& rows) {
  const std::vector<std::string>& classes = learner.classes();
  Dataset data;
  data.x = Features::sparse(learner.columns());
  std::vector<double> label(classes.size());
  const bool words = !std::ranges::all_of(classes, [&](const std::string& name) {
    double& value = label[static_cast<std::size_t>(&name - classes.data())];
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), value);
    return fault == std::errc{} && end == name.data() + name.size();
  });
  if (words) {
    data.words = classes;
    std::ranges::sort(data.words);
    for (std::size_t c = 0; c < classes.size(); ++c)
      label[c] =
          static_cast<double>(std::ranges::find(data.words, classes[c]) - data.words.begin());
  }
  for (const LearnedRow& row : rows) {
    data.x.append(row.x.features, row.x.values);
    if (learner.outcome() == Outcome::classes)
      data.y.push_back(label[static_cast<std::size_t>(row.target)]);
    else if (learner.outcome() == Outcome::number)
      data.y.push_back(row.target);
  }
  return data;
}

double slope_of(const Rule& chosen, double y, double g, double width) {
  return visit_list(
      [&](const auto& rule) {
        if constexpr (HasSlope<std::remove_cvref_t<decltype(rule)>>)
          return rule.slope(y, g, width);
        else
          return 0.0;
      },
      chosen);
}

/// A linear machine has weights and no coefficients of rows; these follow from the optimality
/// conditions at its f: -c'(y, g) / (lambda n).
void expand_weights(const Learner& learner, const std::vector<LearnedRow>& rows, Model& model) {
  model.support = Features::sparse(learner.columns());
  model.support_row.clear();
  for (const LearnedRow& row : rows) {
    model.support.append(row.x.features, row.x.values);
    model.support_row.push_back(row.x.number);
  }
  const double strength = learner.lambda() * static_cast<double>(rows.size());
  const auto target = [&](std::size_t machine, const LearnedRow& row) {
    if (learner.outcome() != Outcome::classes) return row.target;
    return row.target == static_cast<double>(machine) ? 1.0 : -1.0;
  };
  for (std::size_t m = 0; m < model.machines.size(); ++m) {
    const OnlineMachine& from = learner.machines()[m];
    Machine& machine = model.machines[m];
    machine.support.clear();
    machine.coefficient.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double g = from.scale * weighted_sum(from.coefficient, rows[i].x) + from.bias;
      const double slope = slope_of(learner.options().rule, target(m, rows[i]), g, from.width);
      if (slope == 0) continue;
      machine.support.push_back(static_cast<Index>(i));
      machine.coefficient.push_back(-slope / strength);
    }
  }
}

/// The model of the stream, with classes in the order of training.
Model start_of(const Learner& learner, const std::vector<LearnedRow>& rows, const Task& task,
               const std::vector<std::string>& names, double factor) {
  Model start = learner.model(learner.steps());
  if (std::holds_alternative<Linear>(learner.options().kernel))
    expand_weights(learner, rows, start);
  start.options = {{"task", std::string(name_of(task))}};
  for (Machine& machine : start.machines)
    for (double& each : machine.coefficient) each *= factor;
  if (learner.outcome() != Outcome::classes) return start;
  const auto position_of = [&](int number) {
    const std::string& name = start.classes[static_cast<std::size_t>(number)];
    return static_cast<int>(std::ranges::find(names, name) - names.begin());
  };
  for (Machine& machine : start.machines) {
    machine.positive = position_of(machine.positive);
    if (machine.negative == Machine::nobody) continue;
    machine.negative = position_of(machine.negative);
    if (machine.positive > machine.negative) continue;
    std::swap(machine.positive, machine.negative);
    for (double& each : machine.coefficient) each = -each;
  }
  start.classes = names;
  return start;
}

}  // namespace

void require_finishable(const LearnerOptions& options) {
  const Learner learner(options);
  const auto task = visit_list(BatchTask{1, bias_of(options)}, options.rule);
  const auto refuse = [](const std::string& why, const char* mend) {
    throw Error(Fault::usage, "there is no optimum to finish at: " + why, mend);
  };
  if (!task)
    refuse("the rule " + std::string(name_of(options.rule)) + " descends on no risk of all rows",
           "take soft-margin, squared-hinge, nu, novelty, squared, huber or epsilon-nu");
  if (learner.lambda() == 0) refuse("lambda is 0", "give a larger one");
  if (std::holds_alternative<Linear>(options.kernel) && !options.keep)
    refuse("a linear machine keeps no rows", "add --keep, or take another kernel");
  const auto* budget = std::get_if<Budget>(&options.truncation);
  if (budget != nullptr && budget->removal == Removal::merge)
    refuse("merged rows are none of the data", "choose --removal drop or project");
  if (is_given(options.kernel))
    refuse("a precomputed kernel numbers all rows of the stream, not those kept",
           "choose another kernel");
}

Trained finish(const Learner& learner, std::uint64_t rows, const Threads& threads) {
  require_finishable(learner.options());
  const std::vector<LearnedRow> learned = rows_of(learner);
  if (learned.empty()) throw Error(Fault::data, "no row was kept", "give rows to learn from");
  Dataset data = data_of(learner, learned);
  const double strength = learner.lambda() * static_cast<double>(learned.size());
  TrainOptions options;
  options.task =
      *visit_list(BatchTask{1 / strength, bias_of(learner.options())}, learner.options().rule);
  options.kernel = learner.options().kernel;
  std::vector<std::string> names;
  if (learner.outcome() == Outcome::classes) names = classes_of(data).names;
  if (learner.outcome() == Outcome::classes && names.size() < learner.classes().size())
    throw Error(Fault::data, "of one class no row was kept", "keep more rows");
  options.start = std::make_shared<const Model>(start_of(
      learner, learned, options.task, names, is_without_price(options.task) ? strength : 1));
  Trained trained = train(std::move(data), options, threads);
  // The rows of the stream are its data: where only some are known, verify cannot tell.
  if (!learner.options().keep) trained.model.data_hash.clear();
  trained.model.rows = std::max<std::uint64_t>(rows, learner.steps());
  for (std::uint64_t& row : trained.model.support_row) row = learned[row].x.number;
  return trained;
}

}  // namespace maxmargin
