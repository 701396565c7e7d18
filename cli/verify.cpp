#include "maxmargin/model/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/exit_codes.hpp"
#include "cli/file_name.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/report.hpp"
#include "cli/running_options.hpp"
#include "cli/units.hpp"
#include "cli/verbs.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"

namespace maxmargin::cli {
namespace {

struct VerifyArguments {
  std::string model, data;
  bool json = false;
  int threads = 0;
  ReadingOptions reading;
};

Json verify_json(const Model& model, const std::vector<Verified>& found, bool holds,
                 double seconds) {
  Json object{{"holds", holds}, {"seconds", seconds}};
  object["machines"] = Json::array();
  for (std::size_t m = 0; m < found.size(); ++m) {
    Json stored = machine_json(model, model.machines[m]);
    Json recomputed = Json::object();
    put(recomputed, found[m].recomputed);
    object["machines"].push_back({{"holds", found[m].holds},
                                  {"primal_only", found[m].primal_only},
                                  {"reason", found[m].reason},
                                  {"stored", std::move(stored)},
                                  {"recomputed", std::move(recomputed)}});
  }
  return object;
}

std::string verify_table(const Model& model, const std::vector<Verified>& found) {
  std::vector<std::vector<std::string>> table{
      {"machine", "", "primal", "dual", "relative gap", "KKT", "holds"}};
  const auto row = [&](std::string name, std::string_view which, const Certificate& certificate,
                       std::string_view verdict) {
    table.push_back({std::move(name), std::string(which), fmt::format("{:.8g}", certificate.primal),
                     fmt::format("{:.8g}", certificate.dual),
                     fmt::format("{:.3e}", certificate.relative_gap),
                     fmt::format("{:.3e}", certificate.kkt), std::string(verdict)});
  };
  for (std::size_t m = 0; m < found.size(); ++m) {
    row(machine_name(model, model.machines[m]), "stored", model.machines[m].certificate, "");
    row("", "recomputed", found[m].recomputed, found[m].holds ? "yes" : "NO");
  }
  return show_table(table);
}

int run_verify(VerifyArguments& arguments) {
  arguments.reading.make();
  refuse_model(arguments.data, "maxmargin verify MODEL DATA");
  const Model model = load_any(arguments.model);
  arguments.reading.fill_in(model.options, ReadingOptions::File::trained_on);
  ReadOptions options = arguments.reading.make();
  options.columns = model.features;
  if (model.outcome == Outcome::number && options.labels == LabelKind::any)
    options.labels = LabelKind::number;
  const StartedThreads threads(arguments.threads);
  const Dataset data = read(arguments.data, options, threads);

  const Stopwatch watch;
  const std::vector<Verified> found =
      naming(arguments.data, [&] { return verify(model, data, threads); });
  const bool holds =
      std::ranges::all_of(found, [](const Verified& machine) { return machine.holds; });
  if (arguments.json) {
    print_json(verify_json(model, found, holds, watch.seconds()));
  } else {
    std::string text = verify_table(model, found);
    for (std::size_t m = 0; m < found.size(); ++m)
      if (!found[m].holds)
        text += fmt::format("{}: {}\n", machine_name(model, model.machines[m]), found[m].reason);
    if (!found.empty() && found[0].primal_only)
      text += "the model keeps no dual variables: only the primal is recomputed\n";
    text += fmt::format(
        "{} in {}\n",
        holds ? "the certificate holds, recomputed" : "the certificate does NOT hold, recomputed",
        show_seconds(watch.seconds()));
    print(text);
  }
  return holds ? exit_ok : exit_not_converged;
}

}  // namespace

Verb add_verify(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "verify", "recompute a model's certificate from its training data, by other code");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<VerifyArguments>();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' wrote")->required();
  app->add_option("DATA", arguments->data, "the data it was trained on")->required();
  app->add_flag("--json", arguments->json, "print one JSON object");
  add_threads(*app, arguments->threads);
  arguments->reading.add_to(*app, ReadingOptions::Weights::yes);
  app->footer(examples({"maxmargin verify a9a.model a9a.svm",
                        "maxmargin verify houses.model houses.csv --json | jq .holds"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_verify(*arguments); }};
}

}  // namespace maxmargin::cli
