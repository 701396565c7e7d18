#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/options/kernel_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"

namespace maxmargin::cli {
namespace {

struct InspectArguments {
  std::string model;
  bool json = false;
};

Json inspect_json(const Model& model, const std::string& path, std::uintmax_t bytes) {
  Json object{{"model", path},
              {"bytes", bytes},
              {"program", model.program},
              {"digest", digest(model)},
              {"predicts", to_string(model.outcome)},
              {"kernel", kernel_json(model.kernel)},
              {"features", model.features},
              {"feature_names", model.feature_names},
              {"classes", model.classes.size()},
              {"class_names", model.classes},
              {"multiclass", full_name(model.multiclass)},
              {"support_vectors", model.support.count()},
              {"rows", model.rows},
              {"data_hash", model.data_hash},
              {"seed", model.seed}};
  object["scaling"] = nullptr;
  if (!model.scaling.factor.empty())
    object["scaling"] = {{"kind", to_string(model.scaling.kind)},
                         {"offset", model.scaling.offset},
                         {"factor", model.scaling.factor}};
  if (model.scaling.lists_features()) object["scaling"]["feature"] = model.scaling.feature;
  object["calibration"] = calibration_json(model);
  object["options"] = Json::object();
  for (const auto& [name, value] : recorded_options(model)) object["options"][name] = value;
  if (!model.untrained.none()) object["untrained"] = untrained_json(model);
  return object;
}

/// A machine that was learned from a stream has no certificate.
std::string shown_if_finite(fmt::string_view format, double value) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

std::string show_machines(const Model& model) {
  std::vector<std::vector<std::string>> table{
      {"machine", "support", "bias", "primal", "relative gap", "KKT", "iterations", "ended"}};
  const bool has_width =
      std::ranges::any_of(model.machines, [](const Machine& each) { return each.width != 0; });
  if (has_width) table[0].push_back(model.outcome == Outcome::number ? "epsilon" : "margin");
  const std::vector<PlattSigmoid>& sigmoids = model.calibration.sigmoid;
  if (!sigmoids.empty()) table[0].insert(table[0].end(), {"slope", "offset"});
  for (std::size_t m = 0; m < model.machines.size(); ++m) {
    const Machine& machine = model.machines[m];
    table.push_back({machine_name(model, machine), show_count(machine.support.size()),
                     fmt::format("{:.6g}", machine.bias()),
                     shown_if_finite("{:.8g}", machine.certificate.primal),
                     shown_if_finite("{:.3e}", machine.certificate.relative_gap),
                     shown_if_finite("{:.3e}", machine.certificate.kkt),
                     show_count(machine.iterations), std::string(to_string(machine.ended))});
    if (has_width) table.back().push_back(fmt::format("{:.6g}", machine.width));
    if (!sigmoids.empty())
      for (const double part : {sigmoids[m].slope, sigmoids[m].offset})
        table.back().push_back(fmt::format("{:.4g}", part));
  }
  return show_table(table);
}

std::string show_model(const Model& model, const std::string& path, std::uintmax_t bytes) {
  std::string text = show_line("model", fmt::format("{}, {}", path, show_bytes(bytes)));
  text += show_line("program", model.program);
  text += show_line("digest", digest(model));
  text += show_line("task", show_outcome(model.outcome));
  text += show_line("kernel", show_kernel(model.kernel));
  text += show_line(
      "features", show_count(model.features) +
                      (model.feature_names.empty() ? "" : ": " + show_names(model.feature_names)));
  if (!model.classes.empty())
    text += show_line("classes",
                      fmt::format("{}: {}", model.classes.size(), show_names(model.classes)));
  text += show_line("support", show_counted(model.support.count(), "vector") +
                                   (model.support.is_sparse() ? ", sparse" : ", dense"));
  text +=
      show_line("scaling", model.scaling.factor.empty() ? "none" : to_string(model.scaling.kind));
  if (!model.calibration.none()) text += show_calibration(model);
  text += show_line("trained on", show_counted(model.rows, "row") +
                                      (model.data_hash.empty() ? "" : ", hash " + model.data_hash));
  text += show_line("seed", std::to_string(model.seed));
  std::string options, solver, reason;
  for (const auto& [name, value] : recorded_options(model))
    if (name == "solver")
      solver = value;
    else if (name == "reason")
      reason = value;
    else
      options += fmt::format("{}{} {}", options.empty() ? "" : ", ", name, value);
  if (!solver.empty()) text += show_line("solver", fmt::format("{}: {}", solver, reason));
  text += show_line("options", options);
  for (const Machine& machine : model.machines)
    if (!machine.certificate.mercer) {
      text += show_line("", "the kernel is not positive semi-definite: the gap is no bound");
      break;
    }
  if (std::ranges::any_of(model.machines, [](const Machine& m) { return m.certificate.sampled; }))
    text += show_line("", "sampled: K is positive semi-definite on a sample of rows");
  text += show_untrained(model);
  text += show_machines(model);
  for (std::size_t m = 0; m < model.machines.size() && !model.functions.empty(); ++m) {
    if (model.machines.size() > 1)
      text += fmt::format("  {}\n", machine_name(model, model.machines[m]));
    text += show_functions(model, model.machines[m]);
  }
  return text;
}

int run_inspect(const InspectArguments& arguments) {
  const Model model = load_any(arguments.model);
  std::error_code code;
  const std::uintmax_t bytes = std::filesystem::file_size(arguments.model, code);
  const std::uintmax_t size = code ? 0 : bytes;
  if (arguments.json)
    print_json(inspect_json(model, arguments.model, size), "machines", model.machines.size(),
               [&](std::size_t k) { return machine_json(model, model.machines[k]); });
  else
    print(show_model(model, arguments.model, size));
  return exit_ok;
}

}  // namespace

Verb add_inspect(CLI::App& program) {
  CLI::App* app = program.add_subcommand("inspect", "show what is inside a model");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<InspectArguments>();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' wrote")->required();
  app->add_flag("--json", arguments->json, "print one JSON object");
  app->footer(examples({"maxmargin inspect a9a.model",
                        "maxmargin inspect a9a.model --json | jq '.machines[].relative_gap'"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_inspect(*arguments); }};
}

}  // namespace maxmargin::cli
