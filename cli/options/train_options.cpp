#include "cli/options/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "cli/options/running_options.hpp"
#include "cli/terminal/units.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/train/settings.hpp"

namespace maxmargin::cli {
namespace {

constexpr std::uint64_t most_folds = 1'000'000'000;

}  // namespace

void TrainArguments::add_to(CLI::App& app) {
  app.add_option("DATA", data, "training data; - for standard input; plain, .gz or .zst")
      ->required();
  app.add_option("-o,--output", model, "where the model goes [DATA's name + .model, here]")
      ->type_name("MODEL")
      ->take_last();
  add_task(app);
  kernel_.add_to(app, "rbf");
  add_stopping(app);
  add_machine(app);
  add_approximation(app);
  reading_.add_to(app, ReadingOptions::Weights::yes);
  app.add_flag("--json", json, "print one JSON object instead of the summary");
  app.add_flag("--quiet", quiet, "print nothing but errors");
}

void TrainArguments::add_task(CLI::App& app) {
  Choices tasks;
  for_each_nameable<Task>([&](const auto& task) { tasks.add(task.name, task.summary); });
  task_option_ = app.add_option("--task", task_, "one of:" + tasks.text() + "\n[svc]")
                     ->type_name("NAME")
                     ->take_last()
                     ->group("Task");
  task_fields_.add_to(app, "Task");
  app.add_option("--lambda", lambda_,
                 "the cost stated as C = 1 / (lambda m), m the rows and their weights (tasks with "
                 "--cost)")
      ->type_name("LAMBDA")
      ->take_last()
      ->group("Task");
  app.add_option("--class-weight", class_weights_,
                 "factor of the cost of a class, repeatable; or balanced: in inverse proportion to "
                 "the class sizes (svc, nu-svc)")
      ->type_name("LABEL=FACTOR")
      ->allow_extra_args(false)
      ->group("Task");
  app.add_option("--parametric", expressions_,
                 "a function of the features beside the kernel part, whose coefficient costs "
                 "nothing, repeatable: \"sin(x1)\", \"log(age)\"")
      ->type_name("EXPRESSION")
      ->allow_extra_args(false)
      ->group("Task");
  app.add_option("--parametric-column", function_columns_,
                 "the same with a column of the data, which the kernel then does not see, "
                 "repeatable")
      ->type_name("NAME|N")
      ->allow_extra_args(false)
      ->group("Task");
  app.add_flag("--scale{auto}", scale_,
               "scale the features and keep the scaling in the model: range (to [-1,1]), unit (to "
               "[0,1]), deviation (mean 0, deviation 1) or maximum (by the largest absolute value; "
               "keeps sparse data sparse); plain --scale: range, for sparse data maximum")
      ->option_text("[=KIND]")
      ->group("Task");
  app.add_flag("--probability{5}", probability_text_,
               "learn from N-fold cross-validation what 'predict --probability' needs: class "
               "probabilities, intervals of a regression, p-values of novelty; plain "
               "--probability: 5 folds")
      ->option_text("[=N]")
      ->group("Task");
  app.add_option_function<std::string>(
         "--cross-validate",
         [this](const std::string& text) {
           cross_validation =
               static_cast<int>(parse_count("--cross-validate", text, 2, most_folds));
         },
         "train no model; tell how well N stratified folds are predicted by the others")
      ->type_name("N")
      ->take_last()
      ->group("Task");
}

void TrainArguments::add_stopping(CLI::App& app) {
  const auto add = [&](const std::string& name, const std::string& type, const std::string& help,
                       std::function<void(const std::string&)> take) {
    app.add_option_function<std::string>(name, std::move(take), help)
        ->type_name(type)
        ->take_last()
        ->group("Stopping (both --tolerance and --gap must be met)");
  };
  add("--tolerance", "KKT", "largest violation of the optimality conditions [0.001]",
      [this](const std::string& text) { stop_.kkt = parse_number("--tolerance", text, positive); });
  add("--gap", "REL", "relative gap between primal and dual objective [0.001]",
      [this](const std::string& text) {
        stop_.relative_gap = parse_number("--gap", text, positive);
      });
  add("--time-limit", "TIME", "end after 60s, 500ms, 2m, 1h with the best model so far",
      [this](const std::string& text) { stop_.seconds = parse_seconds("--time-limit", text); });
  add("--max-iterations", "N", "end after so many iterations of one machine",
      [this](const std::string& text) {
        stop_.iterations = parse_count("--max-iterations", text, 1, UINT64_MAX);
      });
}

void TrainArguments::add_approximation(CLI::App& app) {
  const auto add = [&](const std::string& name, const std::string& type, const std::string& help,
                       std::string& text) {
    app.add_option(name, text, help)->type_name(type)->take_last()->group("Approximation");
  };
  add("--approximate", "HOW",
      "train with few basis functions, which are all that the model keeps: sgma (each the best of "
      "59 "
      "candidates), random, or pivoted (each where the error is largest)",
      approximate_);
  add("--candidates", "N", "drawn for each basis function of sgma [59]", candidates_);
  add("--rank", "N", "basis functions at most", rank_);
  add("--residual", "R",
      "end when the kernel matrix's trace is approximated but for this share [0.001 without "
      "--rank]",
      residual_);
  add("--true-gap", "REL",
      "raise the rank, dropping decided rows, until the optimum with the true kernel is known to "
      "this relative gap",
      true_gap_);
  app.add_flag("--true-bound", true_bound_,
               "also bound the optimum with the kernel that was approximated; costs its values")
      ->group("Approximation");
}

std::optional<Approximate> TrainArguments::approximation() const {
  if (approximate_.empty()) {
    const std::string idle = !candidates_.empty() ? "--candidates"
                             : !rank_.empty()     ? "--rank"
                             : !residual_.empty() ? "--residual"
                             : !true_gap_.empty() ? "--true-gap"
                             : true_bound_        ? "--true-bound"
                                                  : "";
    if (!idle.empty())
      throw Error(Fault::usage, fmt::format("{} has no effect without --approximate", idle),
                  "add for example --approximate sgma");
    return std::nullopt;
  }
  Approximate result;
  const auto selection = selection_named(approximate_);
  if (!selection)
    throw Error(Fault::usage, fmt::format("--approximate: unknown choice '{}'", approximate_),
                suggestion(approximate_, {"sgma", "random", "pivoted"}));
  result.selection = *selection;
  if (!candidates_.empty()) {
    if (result.selection != Selection::sgma)
      throw Error(Fault::usage, "--candidates has no effect with this --approximate",
                  "leave it out, or use --approximate sgma");
    result.candidates = parse_count("--candidates", candidates_, 1, UINT32_MAX);
  }
  if (!rank_.empty()) result.rank = parse_count("--rank", rank_, 1, UINT32_MAX);
  if (!residual_.empty()) result.residual = parse_number("--residual", residual_, open_fraction);
  return result;
}

double TrainArguments::true_gap() const {
  return true_gap_.empty() ? 0 : parse_number("--true-gap", true_gap_, open_fraction);
}

void TrainArguments::add_machine(CLI::App& app) {
  const auto add = [&](const std::string& name, const std::string& type, const std::string& help,
                       std::function<void(const std::string&)> take) {
    app.add_option_function<std::string>(name, std::move(take), help)
        ->type_name(type)
        ->take_last()
        ->group("Running");
  };
  add("--start", "MODEL",
      "start from a model of much the same data: for another cost, width, solver or tolerance, for "
      "more or fewer rows",
      [this](const std::string& text) { start_ = text; });
  Choices solvers;
  for_each_nameable<Solver>([&](const auto& solver) { solvers.add(solver.name, solver.summary); });
  add("--solver", "NAME", "auto, or one of:" + solvers.text() + "\n[auto]",
      [this](const std::string& text) { solver_ = text; });
  solver_fields_.add_to(app, "Solver (with --solver NAME)");
  add_threads(app, threads)->group("Running");
  add("--memory", "SIZE",
      "for the whole program, e.g. 8G or 500M [half of the machine's, for kernel values]",
      [this](const std::string& text) { memory_ = parse_memory_limit(text); });
  app.add_flag("--out-of-core", out_of_core_,
               "keep the rows on disk, for the linear kernel or with --approximate: one pass an "
               "iteration, and --memory limits all memory [when the data does not fit]")
      ->group("Running");
  add("--scratch", "FOLDER", "where --out-of-core puts its scratch file [TMPDIR, or /tmp]",
      [this](const std::string& text) { scratch_ = text; });
  add_seed(app, seed_, "seed of whatever is random [0]")->group("Running");
  add_mercer(app, mercer_)->group("Running");
}

Task TrainArguments::task() const { return task_for(task_fields_.settings(), task_); }

void TrainArguments::check() {
  const Task task = this->task();
  if (!probability_text_.empty())
    probability_folds_ =
        static_cast<int>(parse_count("--probability", probability_text_, 2, most_folds));
  if (cross_validation > 0 && (probability_folds_ > 0 || !model.empty()))
    throw Error(Fault::usage,
                fmt::format("{} has no effect with --cross-validate, which writes no model",
                            model.empty() ? "--probability" : "-o"),
                "give one of them");
  if (is_given(kernel_.check()) && !scale_.empty())
    throw Error(Fault::usage, "--scale would spoil a precomputed kernel matrix", "leave it out");
  reading_.make();
  std::vector<std::string> solvers = names<Solver>();
  solvers.insert(solvers.begin(), "auto");
  if (std::ranges::count(solvers, solver_) == 0)
    throw Error(Fault::usage, fmt::format("unknown solver '{}'", solver_),
                suggestion(solver_, solvers));
  if (solver_ != "auto")
    solver_fields_.make(solver_);
  else if (const std::string given = solver_fields_.first_given(); !given.empty() && !asks_for_l1())
    throw Error(Fault::usage, fmt::format("{} has no effect with --solver auto", given),
                "name the solver that it is for");
  if (!scale_.empty() && scale_ != "auto" && !scaling_kind(scale_))
    throw Error(Fault::usage, fmt::format("--scale: unknown kind '{}'", scale_),
                suggestion(scale_, {"range", "unit", "deviation", "maximum"}));
  const Svc* svc = std::get_if<Svc>(&task);
  check_cost(task);
  if (!start_.empty()) start_model_ = std::make_shared<const Model>(load(start_));
  approximation();
  true_gap();
  check_out_of_core();
  if (svc != nullptr && svc->hard_margin && task_fields_.given("cost"))
    throw Error(Fault::usage, "--cost has no effect with --hard-margin", "give one of them");
  if (outcome_of(task) == Outcome::classes) {
    for (const std::string& text : class_weights_)
      if (text != "balanced") class_factor("--class-weight", text);
  } else if (!class_weights_.empty()) {
    throw Error(Fault::usage, fmt::format("--class-weight has no effect with task {}", task_),
                "leave it out, or use task svc");
  }
}

void TrainArguments::check_cost(const Task& task) const {
  if (!start_.empty() && cross_validation > 0)
    throw Error(Fault::usage, "--start has no effect with --cross-validate", "give one of them");
  if (lambda_.empty()) return;
  parse_number("--lambda", lambda_, positive);
  if (task_fields_.given("cost"))
    throw Error(Fault::usage, "--cost and --lambda state the same", "give one of them");
  const bool has_cost = visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.hard_margin; })
          if (chosen.hard_margin) return false;
        return requires { chosen.cost; };
      },
      task);
  if (!has_cost)
    throw Error(Fault::usage, fmt::format("--lambda has no effect with task {}", task_),
                "leave it out, or use a task with --cost");
}

double TrainArguments::total_weight(const Dataset& read) {
  const auto sum = [](const std::vector<double>& weights) {
    return std::accumulate(weights.begin(), weights.end(), 0.0);
  };
  if (read.weight.empty()) return static_cast<double>(read.rows());
  if (read.weight_over.empty()) return sum(read.weight);
  return (sum(read.weight) + sum(read.weight_over)) / 2;
}

void TrainArguments::set_cost(const Dataset& read, Task& task) const {
  if (lambda_.empty()) return;
  const double rows = total_weight(read);
  const double lambda = parse_number("--lambda", lambda_, positive);
  visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.cost; }) chosen.cost = 1 / (lambda * rows);
      },
      task);
}

void TrainArguments::name_model() {
  if (model.empty() && data == "-")
    throw Error(Fault::usage, "standard input has no name to derive the model's from",
                "add -o MODEL");
  if (!model.empty()) return;
  model = std::filesystem::path(data).filename().string() + ".model";
  if (model.starts_with('-')) model.insert(0, "./");  // no option
}

ReadOptions TrainArguments::read_options() const {
  ReadOptions options = reading_.make();
  if (outcome_of(task()) == Outcome::number && options.labels == LabelKind::any)
    options.labels = LabelKind::number;
  return options;
}

std::optional<ScalingKind> TrainArguments::scaling(const Rows& rows) const {
  return scaling_for(scale_, rows);
}

Outcome TrainArguments::outcome() const { return outcome_of(task()); }

TrainOptions TrainArguments::options_without_data() const {
  TrainOptions options;
  options.task = task();
  options.kernel = kernel_.check();
  options.stop = stop_;
  options.solver = solver_;
  if (solver_ != "auto") options.settings = solver_fields_.make(solver_);
  options.memory_bytes = memory_;
  options.approximate = approximation();
  options.true_bound = true_bound_;
  options.true_gap = true_gap();
  options.seed = seed_;
  options.mercer_full = mercer_ == "full";
  options.probability_folds = probability_folds_;
  options.functions = functions();
  options.start = start_model_;
  options.l1 = asks_for_l1();
  if (!scale_.empty()) options.scaling = ScalingKind::maximum;
  return options;
}

TrainOptions TrainArguments::options(const Dataset& read) const {
  TrainOptions options = options_without_data();
  visit_list(
      [&](auto& task) {
        if constexpr (requires { task.class_weights; })
          if (!class_weights_.empty())
            task.class_weights = class_factors("--class-weight", class_weights_, read);
      },
      options.task);
  set_cost(read, options.task);
  options.scaling = scaling(read.x);
  const ParametricFunctions made(options.functions, read.feature_names, read.x.columns());
  options.kernel = made.hides()
                       ? kernel_.make(made.visible(read.x, read.x.columns()), options.scaling)
                       : kernel_.make(read.x, options.scaling);
  return options;
}

void TrainArguments::check_out_of_core() const {
  if (!out_of_core_) return;
  const auto reason = cross_validation > 0
                          ? std::optional<std::string>("it does not cross-validate")
                          : refuses_out_of_core(options_without_data());
  if (reason)
    throw Error(Fault::usage, fmt::format("--out-of-core cannot do this: {}", *reason),
                "leave one of them out");
  if (kernel_.learns_width())
    throw Error(Fault::usage, "--out-of-core does not learn the width of a kernel from the data",
                "give --gamma");
}

std::string TrainArguments::out_of_core_reason() const {
  if (out_of_core_) return "as asked for";
  if (cross_validation > 0 || refuses_out_of_core(options_without_data()) || kernel_.learns_width())
    return {};
  std::error_code code;
  if (!std::filesystem::is_regular_file(data, code)) return {};
  // Numbers take about as much memory as their text, and packed text grows about fourfold.
  std::uint64_t bytes = std::filesystem::file_size(data, code);
  if (code) return {};
  for (const std::string_view packed : {".gz", ".zst", ".zstd"})
    if (data.ends_with(packed)) bytes *= 4;
  const std::uint64_t limit = spill_options().memory_bytes;
  if (bytes <= limit) return {};
  return fmt::format("the data would take about {} of {}", show_bytes(bytes), show_bytes(limit));
}

SpillOptions TrainArguments::spill_options() const {
  SpillOptions options;
  if (!scratch_.empty()) options.folder = scratch_;
  options.memory_bytes = memory_ > 0 ? memory_ : MemoryBudget::of_machine().bytes;
  return options;
}

std::vector<ParametricFunction> TrainArguments::functions() const {
  std::vector<ParametricFunction> list;
  for (const std::string& text : expressions_)
    list.push_back({ParametricFunction::Kind::expression, text, {}});
  for (const std::string& text : function_columns_)
    list.push_back({ParametricFunction::Kind::column, text, {}});
  return list;
}

std::vector<std::pair<std::string, std::string>> TrainArguments::remembered(
    const std::string& base) const {
  auto options = reading_.given();
  const auto is_base = [](const auto& option) { return option.first == "base"; };
  // A test file may happen to have no index 0 that would tell.
  if (!base.empty() && std::none_of(options.begin(), options.end(), is_base))
    options.emplace_back("base", base);
  return options;
}

}  // namespace maxmargin::cli
