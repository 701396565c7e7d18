#include "maxmargin/train/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "cli/report/chart.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/terminal/watch.hpp"
#include "cli/verbs/training_data.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/buffer.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli {
namespace {

struct PathArguments {
  TrainArguments train;
  std::string costs, lambdas, gammas, csv, svg;
  std::uint64_t points = 15;
  int folds = 0;

  const std::string& text() const {
    return !costs.empty() ? costs : lambdas.empty() ? gammas : lambdas;
  }
  std::string_view option() const {
    return !costs.empty() ? "--costs" : lambdas.empty() ? "--gammas" : "--lambdas";
  }
};

/// "1000:0.01" is so many values at equal ratios, "1,10,100" these.
std::vector<double> values_of(const PathArguments& arguments) {
  const std::string_view option = arguments.option();
  const std::string& text = arguments.text();
  std::vector<double> values;
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    const double first = parse_number(option, text.substr(0, colon), positive);
    const double last = parse_number(option, text.substr(colon + 1), positive);
    if (first == last)
      throw Error(Fault::usage, fmt::format("{}: both ends are {}", option, first),
                  "give a range as 1000:0.01");
    for (std::uint64_t k = 0; k < arguments.points; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(arguments.points - 1);
      values.push_back(k + 1 == arguments.points ? last : first * std::pow(last / first, share));
    }
    return values;
  }
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    values.push_back(parse_number(option, part, positive));
  return values;
}

void check_values(const PathArguments& arguments) {
  const int given =
      !arguments.costs.empty() + !arguments.lambdas.empty() + !arguments.gammas.empty();
  if (given != 1)
    throw Error(Fault::usage,
                given == 0 ? "a path needs values" : "a path has one parameter, not several",
                "give one of --costs 1000:0.01, --lambdas 1e-5:1 or --gammas 10:0.01");
  values_of(arguments);
  const char* idle = arguments.gammas.empty() ? "cost" : "gamma";
  if (arguments.train.gives(idle))
    throw Error(Fault::usage, fmt::format("--{} has no effect with {}", idle, arguments.option()),
                "give one of them");
}

PathOptions path_options(const PathArguments& arguments, const TrainOptions& train, double rows) {
  PathOptions options;
  options.train = train;
  options.parameter = arguments.gammas.empty() ? PathParameter::cost : PathParameter::width;
  options.values = values_of(arguments);
  if (!arguments.lambdas.empty())
    for (double& value : options.values) value = 1 / (value * rows);
  options.folds = arguments.folds;
  return options;
}

double lambda_of(const TrainedPath& path, const PathPoint& point) {
  return 1 / (point.cost * path.weight);
}

Json path_json(const TrainingData& read, const PathOptions& options, const TrainedPath& path,
               int threads) {
  Json object{{"rows", read.rows},
              {"features", read.features},
              {"task", name_of(options.train.task)},
              {"kernel", kernel_json(options.train.kernel)},
              {"parameter", options.parameter == PathParameter::cost ? "cost" : "gamma"},
              {"folds", options.folds},
              {"solver", path.solver},
              {"reason", path.reason},
              {"threads", threads},
              {"ended", to_string(path.ended)},
              {"violations", path.violations}};
  object["points"] = Json::array();
  for (const PathPoint& point : path.points) {
    Json each{{"value", point.value}};
    if (options.parameter == PathParameter::cost) {
      each["cost"] = point.cost;
      each["lambda"] = lambda_of(path, point);
    }
    each["ended"] = to_string(point.ended);
    each["iterations"] = point.iterations;
    each["loss"] = point.loss;
    each["regulariser"] = point.regulariser;
    each["margin"] = point.margin;
    each["support_vectors"] = point.support;
    each["bounded"] = point.bounded;
    if (options.folds > 0) each["error"] = point.error;
    if (std::isfinite(point.start_primal)) each["start_primal"] = point.start_primal;
    put(each, point.certificate);
    each["seconds"] = {{"train", point.seconds}, {"folds", point.seconds_of_folds}};
    object["points"].push_back(std::move(each));
  }
  object["seconds"] = {{"read", read.seconds}, {"path", path.seconds}};
  object["peak_memory_bytes"] = peak_memory_bytes();
  return object;
}

std::string path_csv(const PathOptions& options, const TrainedPath& path) {
  const bool costs = options.parameter == PathParameter::cost;
  std::string text = fmt::format(
      "{},ended,iterations,loss,regulariser,margin,support_vectors,bounded,error,primal,dual,"
      "relative_gap,kkt,seconds,seconds_of_folds\n",
      costs ? "cost,lambda" : "gamma");
  for (const PathPoint& point : path.points) {
    text += shortest(point.value);
    if (costs) text += "," + shortest(lambda_of(path, point));
    text += fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{},{:.6f},{:.6f}\n",
                        to_string(point.ended), point.iterations, shortest(point.loss),
                        shortest(point.regulariser), shortest(point.margin), point.support,
                        point.bounded, std::isnan(point.error) ? "" : shortest(point.error),
                        shortest(point.certificate.primal), shortest(point.certificate.dual),
                        shortest(point.certificate.relative_gap), shortest(point.certificate.kkt),
                        point.seconds, point.seconds_of_folds);
  }
  return text;
}

std::string error_name(Outcome outcome) {
  return outcome == Outcome::number    ? "squared error out of fold"
         : outcome == Outcome::novelty ? "novel share out of fold"
                                       : "error out of fold";
}

std::string path_svg(const std::string& name, const PathOptions& options, const TrainedPath& path) {
  std::vector<double> x, loss, margin, support, error;
  for (const PathPoint& point : path.points) {
    x.push_back(point.value);
    loss.push_back(point.loss);
    margin.push_back(point.margin);
    support.push_back(static_cast<double>(point.support));
    error.push_back(point.error);
  }
  std::vector<Panel> panels{
      {"training loss", loss}, {"margin 1/|w|", margin, true}, {"support vectors", support}};
  if (options.folds > 0) panels.push_back({error_name(path.outcome), error});
  const bool costs = options.parameter == PathParameter::cost;
  return small_multiples(
      fmt::format("{}: {} {}", name, show_count(path.points.size()), costs ? "costs" : "widths"),
      costs ? "C" : "gamma", x, panels);
}

std::string path_summary(const TrainingData& read, const PathOptions& options,
                         const TrainedPath& path) {
  const bool costs = options.parameter == PathParameter::cost;
  std::vector<std::vector<std::string>> table{{costs ? "C" : "gamma", "ended", "time", "iterations",
                                               "relative gap", "loss", "margin", "vectors",
                                               "bounded"}};
  if (options.folds > 0) table[0].push_back("out of fold");
  for (const PathPoint& point : path.points) {
    table.push_back({fmt::format("{:.5g}", point.value), std::string(to_string(point.ended)),
                     show_seconds(point.seconds), show_count(point.iterations),
                     fmt::format("{:.1e}", point.certificate.relative_gap),
                     fmt::format("{:.5g}", point.loss), fmt::format("{:.4g}", point.margin),
                     show_count(point.support), show_count(point.bounded)});
    if (options.folds > 0) table.back().push_back(fmt::format("{:.5g}", point.error));
  }
  std::string text = show_line("read", show_contents(read, {}));
  text += show_line("solver", fmt::format("{}: {}", path.solver, path.reason));
  text += show_table(table);
  for (const std::string& each : path.violations)
    text += show_line("violated", each + ": a certificate must be wrong");
  if (costs && path.violations.empty() && path.points.size() > 1)
    text += show_line("checked", "(10.23), (10.25) and (10.141) hold between all neighbours");
  return text + show_line("time", show_seconds(path.seconds));
}

void write_file(const std::string& path, const std::string& text) {
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

int run_path(PathArguments& arguments) {
  TrainArguments& train = arguments.train;
  check_values(arguments);
  train.check();
  for (const std::string* file : {&arguments.csv, &arguments.svg})
    if (!file->empty()) require_writable(*file, {train.data});
  const Threads threads(train.threads);
  TrainingData read = read_training_data(train, threads);
  const PathOptions options =
      path_options(arguments, read.options, TrainArguments::total_weight(read.data));
  const auto show = train.json || train.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes;
  const StopRequest request;
  const TrainedPath path = watched(
      train.data, options.train.stop, request, show, [&](const Observer& observer, ProgressLine&) {
        return train_path(std::move(read.data), options, {threads, observer});
      });
  if (!arguments.csv.empty()) write_file(arguments.csv, path_csv(options, path));
  if (!arguments.svg.empty()) write_file(arguments.svg, path_svg(train.data, options, path));
  if (train.json)
    print_json(path_json(read, options, path, threads.count()));
  else if (!train.quiet)
    print(path_summary(read, options, path));
  return exit_code(path.ended);
}

/// The options of training that make no sense on a path.
void remove_options_of_one_model(CLI::App& app) {
  for (const char* name : {"--output", "--cross-validate", "--probability", "--true-bound",
                           "--true-gap", "--residual", "--rank", "--approximate", "--out-of-core",
                           "--scratch", "--start", "--lambda", "--candidates"})
    app.remove_option(app.get_option(name));
}

}  // namespace

Verb add_path(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "path", "train for one cost or kernel width after another, each started from the last");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<PathArguments>();
  arguments->train.add_to(*app);
  remove_options_of_one_model(*app);
  const auto add = [&](const char* name, const char* type, const char* help, std::string& text) {
    app->add_option(name, text, help)->type_name(type)->take_last()->group("Path");
  };
  add("--costs", "C:C|C,C", "costs, a range or a list, downwards or upwards", arguments->costs);
  add("--lambdas", "L:L|L,L", "the same, stated as C = 1 / (lambda m)", arguments->lambdas);
  add("--gammas", "G:G|G,G", "kernel widths in the place of costs", arguments->gammas);
  app->add_option_function<std::string>(
         "--points",
         [arguments](const std::string& text) {
           arguments->points = parse_count("--points", text, 2, 100000);
         },
         "values of a range, at equal ratios [15]")
      ->type_name("N")
      ->take_last()
      ->group("Path");
  app->add_option_function<std::string>(
         "--folds",
         [arguments](const std::string& text) {
           arguments->folds = static_cast<int>(parse_count("--folds", text, 2, 1'000'000));
         },
         "also tell the error out of fold, by N stratified folds [none]")
      ->type_name("N")
      ->take_last()
      ->group("Path");
  add("--csv", "FILE", "write the points as a table", arguments->csv);
  add("--svg", "FILE", "draw loss, margin, support vectors and error", arguments->svg);
  app->footer(examples({"maxmargin path a9a.svm --costs 1000:0.01 --gamma 0.008",
                        "maxmargin path a9a.svm --lambdas 1e-6:1e-2 --folds 5 --svg path.svg",
                        "maxmargin path houses.csv --label price --task svr --scale --gammas "
                        "10:0.01 --cost 10 --csv path.csv"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_path(*arguments); }};
}

}  // namespace maxmargin::cli
