#include <algorithm>

#include "maxmargin/door/inside.hpp"

namespace maxmargin {
inline namespace v0 {
namespace {

struct General {
  std::string_view name, preset, help;
};

// The options that belong to no component. What belongs to one comes from its declaration.
constexpr General generals[] = {
    {"task", "svc", "what is to be learned"},
    {"kernel", "rbf", "how rows are compared"},
    {"solver", "auto", "how the problem is solved"},
    {"class-weight", "", "LABEL=FACTOR of the cost of a class, or balanced; adds up"},
    {"parametric", "", "an unpenalised function of the features, as text; adds up"},
    {"parametric-column", "", "an unpenalised column, which the kernel does not see; adds up"},
    {"scale", "", "auto, range, unit, deviation or maximum; kept in the model"},
    {"probability", "", "folds of the cross-validation that probabilities are learned from"},
    {"tolerance", "0.001", "largest violation of the optimality conditions"},
    {"gap", "0.001", "relative gap between primal and dual"},
    {"time-limit", "", "end after 60s, 500ms, 2m, 1h with the best model so far"},
    {"max-iterations", "", "end after so many iterations of one machine"},
    {"memory", "", "for kernel values: 8G, 500M"},
    {"threads", "0", "0: one a core"},
    {"seed", "0", "of whatever is random"},
};

/// Texts by their names, each asked for once.
class Given {
 public:
  explicit Given(const std::vector<std::pair<std::string, std::string>>& given) : given_(given) {}

  std::string last(std::string_view name, std::string preset = "") const {
    for (const auto& [each, text] : given_)
      if (each == name) preset = text;
    return preset;
  }
  bool has(std::string_view name) const {
    return std::any_of(given_.begin(), given_.end(),
                       [&](const auto& each) { return each.first == name; });
  }
  std::vector<std::string> every(std::string_view name) const {
    std::vector<std::string> texts;
    for (const auto& [each, text] : given_)
      if (each == name) texts.push_back(text);
    return texts;
  }

 private:
  const std::vector<std::pair<std::string, std::string>>& given_;
};

/// All settings there are.
struct AllSettings {
  FieldSettings task = settings_of<Task>("task");
  FieldSettings kernel = kernel_settings();
  FieldSettings solver = settings_of<Solver>("solver");

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const General& each : generals) all.emplace_back(each.name);
    for (const FieldSettings* each : {&task, &kernel, &solver})
      for (const Setting& setting : each->list()) all.push_back(setting.name);
    return all;
  }

  void take(const std::vector<std::pair<std::string, std::string>>& given) {
    for (const auto& [asked, text] : given) {
      const std::string& name = asked;  // a lambda cannot hold what a binding names
      bool known = std::any_of(std::begin(generals), std::end(generals),
                               [&](const General& each) { return each.name == name; });
      for (FieldSettings* each : {&task, &kernel, &solver})
        if (each->has("", name)) {
          each->give(name, text);
          known = true;
        }
      if (!known)
        throw Error(Fault::usage, "unknown option '" + name + "'", suggestion(name, names()));
    }
  }
};

constexpr std::uint64_t most_folds = 1'000'000'000;

Stop stop_of(const Given& given) {
  Stop stop;
  if (given.has("tolerance"))
    stop.kkt = parse_number("tolerance", given.last("tolerance"), positive);
  if (given.has("gap")) stop.relative_gap = parse_number("gap", given.last("gap"), positive);
  if (given.has("time-limit")) stop.seconds = parse_seconds("time-limit", given.last("time-limit"));
  if (given.has("max-iterations"))
    stop.iterations = parse_count("max-iterations", given.last("max-iterations"), 1, UINT64_MAX);
  return stop;
}

void set_class_weights(Task& task, const Given& given, const inside::Dataset& data) {
  const std::vector<std::string> weights = given.every("class-weight");
  if (weights.empty()) return;
  if (outcome_of(task) != Outcome::classes)
    throw Error(Fault::usage, "class-weight has no effect with task " + std::string(name_of(task)),
                "leave it out, or use task svc");
  visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.class_weights; })
          chosen.class_weights = class_factors("class-weight", weights, data);
      },
      task);
}

void set_own_cost(Task& task, const OwnCost& cost, const Given& given) {
  if (given.has("loss"))
    throw Error(Fault::usage, "a cost of one's own leaves no loss to choose", "leave out loss");
  visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.own; })
          chosen.own =
              checked({cost.label, cost.value, cost.slope, cost.conjugate, cost.conjugate_slope,
                       cost.conjugate_bend, cost.least_slope, cost.most_slope});
        else
          throw Error(Fault::usage,
                      "a cost of one's own has no effect with task " + std::string(name_of(task)),
                      "use task svc or svr");
      },
      task);
}

Row row_of(const Rows& rows, std::size_t row) {
  const std::uint64_t first = rows.first(row);
  return Row(rows.doubles != nullptr ? rows.doubles + first : nullptr,
             rows.floats != nullptr ? rows.floats + first : nullptr,
             rows.sparse() ? rows.index + first : nullptr, rows.stored(row), rows.columns);
}

}  // namespace

Custom custom_kernel(std::string label, KernelFunction kernel, bool mercer) {
  Custom custom;
  custom.label = std::move(label);
  custom.mercer = mercer;
  custom.function = [kernel = std::move(kernel)](const Rows& left, std::span<const Index> left_rows,
                                                 const Rows& right, std::size_t right_begin,
                                                 std::size_t right_count, double* out) {
    for (const Index l : left_rows) {
      const Row x = row_of(left, l);
      for (std::size_t c = 0; c < right_count; ++c)
        *out++ = kernel(x, row_of(right, right_begin + c));
    }
  };
  return custom;
}

Options::Value::Value(double number) : text(shortest(number)) {}

Options::Options(std::initializer_list<std::pair<std::string_view, Value>> given) {
  for (const auto& [name, value] : given) set(name, value);
}

Options& Options::set(std::string_view name, const Value& value) {
  given_.emplace_back(name, value.text);
  return *this;
}

Options& Options::own_kernel(std::string label, KernelFunction kernel, bool mercer) {
  kernel_label_ = std::move(label);
  kernel_ = std::move(kernel);
  mercer_ = mercer;
  return *this;
}

Options& Options::own_function(std::string label,
                               std::function<double(std::span<const double>)> function) {
  functions_.emplace_back(std::move(label), std::move(function));
  return *this;
}

Options& Options::own_cost(OwnCost cost) {
  cost_ = std::make_shared<const OwnCost>(std::move(cost));
  return *this;
}

Options& Options::watch(std::function<bool(const TrainingProgress&)> watcher) {
  watcher_ = std::move(watcher);
  return *this;
}

std::vector<Options::Help> Options::all() {
  std::vector<Help> all;
  for (const General& each : generals)
    all.push_back({std::string(each.name), std::string(each.preset), std::string(each.help)});
  const AllSettings settings;
  for (const FieldSettings* list : {&settings.task, &settings.kernel, &settings.solver})
    for (const Setting& each : list->list())
      all.push_back({each.name, each.preset, each.help_text()});
  return all;
}

Inside::Asked Inside::asked(const Options& options, const inside::Dataset& data) {
  const Given given(options.given_);
  AllSettings settings;
  settings.take(options.given_);
  Asked asked;
  TrainOptions& train = asked.options;
  train.task = task_for(settings.task, given.last("task", "svc"));
  set_class_weights(train.task, given, data);
  if (options.cost_) set_own_cost(train.task, *options.cost_, given);
  train.stop = stop_of(given);
  train.solver = given.last("solver", "auto");
  if (train.solver != "auto")
    train.settings = component_named<Solver>(settings.solver, train.solver);
  else if (settings.solver.given("regulariser") == "l1")
    train.l1 = true;  // exactly, by a linear program
  else if (const std::string idle = settings.solver.first_given(); !idle.empty())
    throw Error(Fault::usage, idle + " has no effect with solver auto",
                "name the solver that it is for");
  if (given.has("memory")) train.memory_bytes = parse_bytes("memory", given.last("memory"));
  if (given.has("seed")) train.seed = parse_count("seed", given.last("seed"), 0, UINT64_MAX);
  if (given.has("probability"))
    train.probability_folds =
        static_cast<int>(parse_count("probability", given.last("probability"), 2, most_folds));
  if (given.has("threads"))
    asked.threads = static_cast<int>(parse_count("threads", given.last("threads"), 0, 1024));
  const std::string scale = given.last("scale");
  train.scaling = scaling_for(scale, data.x);
  if (!scale.empty() && !train.scaling)
    refuse_choice("scale", scale, {"auto", "range", "unit", "deviation", "maximum"});
  for (const std::string& text : given.every("parametric"))
    train.functions.push_back({ParametricFunction::Kind::expression, text, {}});
  for (const std::string& text : given.every("parametric-column"))
    train.functions.push_back({ParametricFunction::Kind::column, text, {}});
  for (const auto& [label, function] : options.functions_)
    train.functions.push_back({ParametricFunction::Kind::own, label, function});
  if (options.kernel_) {
    if (given.has("kernel") || !settings.kernel.first_given().empty())
      throw Error(Fault::usage, "a kernel of one's own leaves no other kernel to choose",
                  "leave out kernel and its options");
    train.kernel = custom_kernel(options.kernel_label_, options.kernel_, options.mercer_);
  } else {
    const ParametricFunctions functions(train.functions, data.feature_names, data.x.columns());
    const std::string kernel = given.last("kernel", "rbf");
    train.kernel = functions.hides()
                       ? kernel_for(settings.kernel, kernel,
                                    functions.visible(data.x, data.x.columns()), train.scaling)
                       : kernel_for(settings.kernel, kernel, data.x, train.scaling);
  }
  if (options.watcher_)
    asked.observer = [watcher = options.watcher_](const Progress& progress) {
      return watcher({progress.iteration, progress.primal, progress.dual, progress.relative_gap,
                      progress.done, progress.seconds})
                 ? Control::proceed
                 : Control::cancel;
    };
  return asked;
}

}  // namespace v0
}  // namespace maxmargin
