#include "maxmargin/model/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>

#include "cli/options/reading.hpp"
#include "cli/options/running_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/verbs/repeat.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli {
namespace {

struct VerifyArguments {
  std::string model, data, report;
  bool json = false, strict = false, calibration = false;
  int threads = 0;
  ReadingOptions reading;
};

Json verify_json(const Model& model, const Judgement& found, double seconds) {
  Json object{{"holds", found.verdict == Verdict::is_true},
              {"verdict", to_string(found.verdict)},
              {"field", found.field},
              {"reason", found.reason},
              {"precision", found.precision},
              {"primal_only", found.primal_only},
              {"mercer_sampled", found.sampled},
              {"seconds", seconds}};
  if (!model.untrained.none()) object["untrained"] = untrained_json(model);
  return object;
}

Json verified_json(const Model& model, const Judgement& found, std::size_t m) {
  const Verified& machine = found.machines[m];
  Json stored = machine_json(model, model.machines[m]);
  Json recomputed = Json::object();
  put(recomputed, machine.recomputed);
  return {{"holds", machine.holds},
          {"verdict", to_string(machine.verdict)},
          {"field", machine.field},
          {"primal_only", machine.primal_only},
          {"reason", machine.reason},
          {"stored", std::move(stored)},
          {"recomputed", std::move(recomputed)}};
}

std::string now_as_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The checksum that ends a model file.
std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(32, ' ');
  file.seekg(-33, std::ios::end);
  file.read(line.data(), 32);
  return line;
}

/// A report with which a third party can repeat the judgement: examples/check_certificate.py does.
void write_report(const std::string& path, const std::string& model_path, const Model& model,
                  const Judgement& found, double seconds) {
  Json object{{"report", "maxmargin certificate 1"},
              {"program", model.program},
              {"time", now_as_text()},
              {"data_hash", model.data_hash},
              {"rows", model.rows},
              {"model_digest", digest(model)},
              {"model_checksum", last_line(model_path)},
              {"verdict", to_string(found.verdict)},
              {"field", found.field},
              {"precision", found.precision},
              {"primal_only", found.primal_only},
              {"mercer_sampled", found.sampled},
              {"seconds", seconds}};
  object["machines"] = Json::array();
  for (std::size_t m = 0; m < found.machines.size(); ++m) {
    const Verified& machine = found.machines[m];
    object["machines"].push_back({{"machine", machine_name(model, model.machines[m])},
                                  {"verdict", to_string(machine.verdict)},
                                  {"dual", machine.recomputed.dual},
                                  {"primal", machine.recomputed.primal},
                                  {"relative_gap", machine.recomputed.relative_gap},
                                  {"kkt", machine.recomputed.kkt}});
  }
  WholeFile file(path);
  const std::string text = object.dump(1) + "\n";
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string verify_table(const Model& model, const std::vector<Verified>& found) {
  std::vector<std::vector<std::string>> table{
      {"machine", "", "primal", "dual", "relative gap", "KKT", "true"}};
  const auto row = [&](std::string name, std::string_view which, const Certificate& certificate,
                       std::string_view verdict) {
    table.push_back({std::move(name), std::string(which), fmt::format("{:.8g}", certificate.primal),
                     fmt::format("{:.8g}", certificate.dual),
                     fmt::format("{:.3e}", certificate.relative_gap),
                     fmt::format("{:.3e}", certificate.kkt), std::string(verdict)});
  };
  for (std::size_t m = 0; m < found.size(); ++m) {
    row(machine_name(model, model.machines[m]), "stored", model.machines[m].certificate, "");
    row("", "recomputed", found[m].recomputed,
        found[m].holds                          ? "yes"
        : found[m].verdict == Verdict::is_false ? "NO"
                                                : "?");
  }
  return show_table(table);
}

std::string_view sentence(Verdict verdict) {
  switch (verdict) {
    case Verdict::is_true:
      return "true: the certificate holds, recomputed";
    case Verdict::is_false:
      return "FALSE: the certificate does NOT hold, recomputed";
    case Verdict::cannot_tell:
      return "CANNOT TELL whether the certificate holds, recomputed";
  }
  return "";
}

std::string show_judgement(const Model& model, const Judgement& found, bool looked,
                           double seconds) {
  std::string text = verify_table(model, found.machines) + show_untrained(model);
  if (!found.field.empty()) text += fmt::format("{}: {}\n", found.field, found.reason);
  for (std::size_t m = 0; m < found.machines.size(); ++m)
    if (const Verified& machine = found.machines[m]; !machine.holds)
      text += fmt::format("{}: {}: {}\n", machine_name(model, model.machines[m]), machine.field,
                          machine.reason);
  if (found.primal_only)
    text += "primal-only: the model keeps no dual variables, only the primal is recomputed\n";
  if (found.sampled) text += "sampled: K is positive semi-definite on a sample of its rows\n";
  if (found.calibrated && !looked)
    text += "the probabilities have not been looked at: --calibration trains their folds again\n";
  return text + fmt::format("{} in {}, kernel values in {}\n", sentence(found.verdict),
                            show_seconds(seconds), found.precision);
}

int run_verify(VerifyArguments& arguments) {
  arguments.reading.make();
  refuse_model(arguments.data, "maxmargin verify MODEL DATA");
  if (!arguments.report.empty())
    require_writable(arguments.report, {arguments.data, arguments.model});
  const Model model = load_any(arguments.model);
  const ReadOptions options = arguments.reading.make_for(model, ReadingOptions::File::trained_on);
  const StartedThreads threads(arguments.threads);
  Dataset data = read(arguments.data, options, threads);

  const Stopwatch watch;
  Judgement found = naming(arguments.data, [&] { return judge(model, data, threads); });
  const bool looks = arguments.calibration && found.calibrated;
  if (looks) {
    const std::string differs = differing_calibration(model, std::move(data), threads);
    if (!differs.empty() && found.field.empty()) {
      found.verdict = Verdict::is_false;
      found.field = "calibration";
      found.reason = differs;
    }
  }
  const double seconds = watch.seconds();
  if (!arguments.report.empty())
    write_report(arguments.report, arguments.model, model, found, seconds);
  if (arguments.json)
    print_json(verify_json(model, found, seconds), "machines", found.machines.size(),
               [&](std::size_t m) { return verified_json(model, found, m); });
  else
    print(show_judgement(model, found, looks, seconds));
  const bool partial = found.primal_only || found.sampled || (found.calibrated && !looks);
  return found.verdict == Verdict::is_true && !(arguments.strict && partial) ? exit_ok
                                                                             : exit_not_converged;
}

}  // namespace

Verb add_verify(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "verify", "recompute a model's certificate from its training data, by other code");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<VerifyArguments>();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' wrote")->required();
  app->add_option("DATA", arguments->data, "the data it was trained on")->required();
  app->add_flag("--strict", arguments->strict,
                "exit code 4 also where only a part can be recomputed: primal-only models, sampled "
                "matrices, probabilities without --calibration");
  app->add_flag("--calibration", arguments->calibration,
                "also train the folds of the probabilities again, with the seed of the model");
  app->add_option("--report", arguments->report,
                  "write what was found, for others to repeat, as JSON")
      ->type_name("FILE")
      ->take_last();
  app->add_flag("--json", arguments->json, "print one JSON object");
  add_threads(*app, arguments->threads);
  arguments->reading.add_to(*app, ReadingOptions::Weights::yes);
  app->footer(examples({"maxmargin verify a9a.model a9a.svm",
                        "maxmargin verify a9a.model a9a.svm --strict --report a9a.certificate",
                        "maxmargin verify houses.model houses.csv --json | jq .holds"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_verify(*arguments); }};
}

}  // namespace maxmargin::cli
