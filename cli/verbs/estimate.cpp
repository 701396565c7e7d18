#include "maxmargin/train/estimate/estimate.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/options/reading.hpp"
#include "cli/options/running_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/terminal/watch.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/buffer.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"

namespace maxmargin::cli {
namespace {

struct EstimateArguments {
  std::string model, data;
  bool json = false;
  int threads = 0;
  EstimateOptions options;
  ReadingOptions reading;
};

Json leave_one_out_json(const LeaveOneOut& result, Outcome outcome) {
  Json object{{"error", result.error}};
  if (outcome == Outcome::number) object["absolute_error"] = result.absolute_error;
  object["trained"] = result.trained;
  object["followed"] = result.followed;
  object["ended"] = to_string(result.ended);
  object["seconds"] = result.seconds;
  return object;
}

Json estimate_json(const Estimates& found) {
  Json object{{"weight", found.weight},
              {"support_vectors", found.support},
              {"training_error", found.training_error}};
  const auto add = [&](const char* name, const std::optional<double>& value) {
    object[name] = value ? Json(*value) : Json(nullptr);
  };
  add("support_share", found.support_share);
  add("xi_alpha", found.xi_alpha);
  add("radius_margin", found.radius_margin);
  add("radius", found.radius);
  add("span", found.span);
  if (found.outcome == Outcome::number) add("span_absolute", found.span_absolute);
  object["leave_one_out"] =
      found.restarted ? leave_one_out_json(*found.restarted, found.outcome) : Json(nullptr);
  object["true_leave_one_out"] =
      found.truth ? leave_one_out_json(*found.truth, found.outcome) : Json(nullptr);
  object["missing"] = found.missing;
  object["ended"] = to_string(found.ended);
  put(object, found.certificate);
  object["seconds"] = found.seconds;
  object["peak_memory_bytes"] = peak_memory_bytes();
  return object;
}

std::string estimate_table(const Estimates& found) {
  const bool numbers = found.outcome == Outcome::number;
  const auto shown = [&](double value) {
    return numbers ? show_number(value) : fmt::format("{:.3f}%", 100 * value);
  };
  const char* const measure = numbers                             ? "squared error"
                              : found.outcome == Outcome::novelty ? "novel share"
                                                                  : "error";
  std::vector<std::vector<std::string>> table{{"estimate", measure, "what it is"}};
  table.push_back({"training rows", shown(found.training_error), "not an estimate"});
  const auto add = [&](const char* name, const std::optional<double>& value, const char* what) {
    if (value) table.push_back({name, shown(*value), what});
  };
  add("E[#SV]/m", found.support_share, "bound of leave-one-out");
  add("xi-alpha", found.xi_alpha, "bound of leave-one-out");
  add("radius/margin", found.radius_margin,
      numbers ? "bound of the mean absolute error" : "bound of leave-one-out");
  add("span rule", found.span, "exact while free vectors stay free");
  add("span rule", found.span_absolute, "the same, mean absolute error");
  const auto add_loo = [&](const char* name, const std::optional<LeaveOneOut>& result) {
    if (!result) return;
    const std::string what =
        fmt::format("{} of {} machines, {}", to_string(result->ended), show_count(result->trained),
                    show_seconds(result->seconds));
    table.push_back({name, shown(result->error), what});
    if (numbers)
      table.push_back({name, shown(result->absolute_error), "the same, mean absolute error"});
  };
  add_loo("leave-one-out", found.restarted);
  add_loo("true leave-one-out", found.truth);
  std::string text = show_table(table);
  for (const std::string& each : found.missing) text += show_line("missing", each);
  return text + show_line("time", show_seconds(found.seconds));
}

int run_estimate(EstimateArguments& arguments) {
  arguments.reading.make();
  refuse_model(arguments.data, "maxmargin estimate MODEL DATA");
  const Model model = load(arguments.model);
  const ReadOptions options = arguments.reading.make_for(model, ReadingOptions::File::trained_on);
  const Threads threads(arguments.threads);
  Dataset data = read(arguments.data, options, threads);
  const auto show = arguments.json ? ProgressLine::Show::no : ProgressLine::Show::yes;
  const StopRequest request;
  const Estimates found =
      watched(arguments.data, arguments.options.stop, request, show,
              [&](const Observer& observer, ProgressLine&) {
                return estimate(model, std::move(data), arguments.options, {threads, observer});
              });
  if (arguments.json)
    print_json(estimate_json(found));
  else
    print(estimate_table(found));
  return exit_code(found.ended);
}

}  // namespace

Verb add_estimate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "estimate", "estimate a model's error on new rows from its training data");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<EstimateArguments>();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' wrote")->required();
  app->add_option("DATA", arguments->data, "the data it was trained on")->required();
  app->add_flag("--leave-one-out", arguments->options.restarts,
                "exact leave-one-out: support vectors are left out one by one, each machine starts "
                "from that of all rows");
  app->add_flag("--true", arguments->options.truth,
                "leave-one-out by force, every row, every machine trained afresh");
  const auto add = [&](const char* name, const char* type, const char* help,
                       std::function<void(const std::string&)> take) {
    app->add_option_function<std::string>(name, std::move(take), help)
        ->type_name(type)
        ->take_last();
  };
  add("--tolerance", "KKT", "the machine is improved until it violates less [0.001]",
      [arguments](const std::string& text) {
        arguments->options.stop.kkt = parse_number("--tolerance", text, positive);
      });
  add("--gap", "REL", "and until its relative gap is less [0.001]",
      [arguments](const std::string& text) {
        arguments->options.stop.relative_gap = parse_number("--gap", text, positive);
      });
  add("--memory", "SIZE",
      "for the whole program, e.g. 8G or 500M [half of the machine's, for kernel values]",
      [arguments](const std::string& text) {
        arguments->options.memory_bytes = parse_memory_limit(text);
      });
  app->add_flag("--json", arguments->json, "print one JSON object");
  add_threads(*app, arguments->threads);
  arguments->reading.add_to(*app, ReadingOptions::Weights::yes);
  app->footer(examples({"maxmargin estimate heart.model heart.svm",
                        "maxmargin estimate heart.model heart.svm --leave-one-out --true --json"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_estimate(*arguments); }};
}

}  // namespace maxmargin::cli
