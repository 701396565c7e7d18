#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/options/components.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/train/acceptance.hpp"

namespace maxmargin::cli {
namespace {

struct SolversArguments {
  std::string name;  ///< empty: all
  bool json = false;
};

/// Losses of each task, in the order of the lists.
using Losses = std::vector<std::pair<std::string, std::vector<std::string>>>;

Losses losses_with(const std::vector<AcceptedForm>& formulations, Bias bias) {
  Losses tasks;
  for (const AcceptedForm& each : formulations) {
    if (each.bias != bias) continue;
    const std::string task(name_of(each.task));
    if (tasks.empty() || tasks.back().first != task) tasks.push_back({task, {}});
    if (!each.loss.empty()) tasks.back().second.push_back(each.loss);
  }
  return tasks;
}

/// "svc (hinge, squared-hinge), nu-svc, svr": losses are named where not all of the task's are
/// taken.
std::string show_losses(const std::vector<AcceptedForm>& taken, Bias bias) {
  const Losses all = losses_with(formulations(), bias);
  std::vector<std::string> shown;
  for (const auto& [task, losses] : losses_with(taken, bias)) {
    const bool complete = std::ranges::count(all, std::pair{task, losses}) > 0;
    shown.push_back(complete ? task : fmt::format("{} ({})", task, fmt::join(losses, ", ")));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

bool has_bias(const std::vector<AcceptedForm>& list, Bias bias) {
  return std::ranges::any_of(list, [&](const AcceptedForm& each) { return each.bias == bias; });
}

std::string show_kernels(const Acceptance& acceptance) {
  if (acceptance.indefinite.size() == acceptance.formulations.size()) return "any";
  std::vector<std::string> biases;
  for (const auto& [bias, name] : Named<Bias>::values)
    if (has_bias(acceptance.indefinite, bias)) biases.push_back(fmt::format("bias {}", name));
  if (biases.empty()) return "positive semi-definite";
  return fmt::format("any with {}, otherwise positive semi-definite", fmt::join(biases, " or "));
}

std::string_view show_rows(const Acceptance& acceptance) {
  if (acceptance.any_rows) return "any";
  return has_bias(acceptance.formulations, Bias::unpenalised) ? "that of the bias" : "none";
}

Json formulations_json(const std::vector<AcceptedForm>& list) {
  Json array = Json::array();
  for (const AcceptedForm& each : list) {
    Json one{{"task", name_of(each.task)}};
    if (!each.loss.empty()) one["loss"] = each.loss;
    one["bias"] = to_string(each.bias);
    array.push_back(std::move(one));
  }
  return array;
}

template <class Options>
Json solver_json(const Options& solver) {
  const Acceptance acceptance = acceptance_of(solver);
  Json options = Json::array();
  for (const ShownOption& each : shown_options(solver))
    options.push_back({{"option", each.option}, {"default", each.preset}, {"help", each.help}});
  return {{"name", solver.name},
          {"summary", solver.summary},
          {"accepts", formulations_json(acceptance.formulations)},
          {"accepts_indefinite_kernels", formulations_json(acceptance.indefinite)},
          {"any_equality_rows", acceptance.any_rows},
          {"options", std::move(options)}};
}

template <class Options>
std::string show_solver(const Options& solver) {
  const Acceptance acceptance = acceptance_of(solver);
  std::string text = fmt::format("{}: {}\n", solver.name, solver.summary);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<17} {}\n", name, value);
  };
  for (const auto& [bias, name] : Named<Bias>::values)
    add(fmt::format("bias {}", name), show_losses(acceptance.formulations, bias));
  add("kernels", show_kernels(acceptance));
  add("equality rows", show_rows(acceptance));
  std::vector<std::string> options;
  for (const ShownOption& each : shown_options(solver)) options.push_back(each.text());
  add("options", fmt::format("{}", fmt::join(options, ", ")));
  return text;
}

int run_solvers(const SolversArguments& arguments) {
  const std::vector<std::string> known = names<Solver>();
  if (!arguments.name.empty() && std::ranges::count(known, arguments.name) == 0)
    throw Error(Fault::usage, fmt::format("unknown solver '{}'", arguments.name),
                suggestion(arguments.name, known));
  Json list = Json::array();
  std::string text;
  for_each_nameable<Solver>([&](const auto& solver) {
    if (!arguments.name.empty() && arguments.name != solver.name) return;
    if (arguments.json)
      list.push_back(solver_json(solver));
    else
      text += (text.empty() ? "" : "\n") + show_solver(solver);
  });
  if (arguments.json)
    print_json({{"solvers", std::move(list)}});
  else
    print(text);
  return exit_ok;
}

}  // namespace

Verb add_solvers(CLI::App& program) {
  CLI::App* app = program.add_subcommand("solvers", "list the solvers and what each accepts");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<SolversArguments>();
  app->add_option("NAME", arguments->name, "only this one");
  app->add_flag("--json", arguments->json, "print one JSON object");
  app->footer(examples({"maxmargin solvers", "maxmargin solvers interior-point",
                        "maxmargin solvers --json | jq '.solvers[].name'"}) +
              "\n'maxmargin train --solver auto' chooses; 'maxmargin race DATA' compares them.\n");
  return {app, [arguments] { return run_solvers(*arguments); }};
}

}  // namespace maxmargin::cli
