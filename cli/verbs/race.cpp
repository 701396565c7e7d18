#include "maxmargin/train/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/terminal/watch.hpp"
#include "cli/verbs/training_data.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/buffer.hpp"
#include "maxmargin/model/file/file.hpp"

namespace maxmargin::cli {
namespace {

constexpr double seconds_for_each = 60;

struct RaceArguments {
  TrainArguments train;
  std::string only, ranks;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream input(text);
  for (std::string part; std::getline(input, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

RaceOptions race_options(const RaceArguments& arguments, const TrainOptions& train) {
  RaceOptions options;
  options.train = train;
  if (!std::isfinite(options.train.stop.seconds)) options.train.stop.seconds = seconds_for_each;
  options.only = split(arguments.only);
  const std::vector<std::string> known = names<Solver>();
  for (const std::string& name : options.only)
    if (std::ranges::count(known, name) == 0)
      throw Error(Fault::usage, fmt::format("--only: unknown solver '{}'", name),
                  suggestion(name, known));
  for (const std::string& text : split(arguments.ranks))
    options.ranks.push_back(parse_count("--ranks", text, 0, UINT32_MAX));
  return options;
}

/// How far a primal is above the best of all, relative to it.
double excess(const Race& race, const Raced& raced) {
  return (raced.trained.certificate.primal - race.best_primal) /
         std::max(std::abs(race.best_primal), 1e-300);
}

std::string who(const Raced& raced) {
  return raced.lane.approximate && raced.refused.empty()
             ? fmt::format("{}, {}", raced.lane.name(), raced.trained.solver)
             : raced.lane.name();
}

Json lane_json(const Race& race, const Raced& raced) {
  Json object{{"name", raced.lane.name()}};
  if (!raced.refused.empty()) {
    object["refused"] = raced.refused;
    return object;
  }
  const Trained& trained = raced.trained;
  object["solver"] = trained.solver;
  if (trained.rank > 0) {
    if (raced.lane.approximate)
      object["approximate"] = to_string(raced.lane.approximate->selection);
    object["rank"] = trained.rank;
    object["residual"] = trained.residual;
  }
  object["ended"] = to_string(trained.ended);
  object["iterations"] = trained.iterations;
  object["seconds"] = {{"train", trained.train_seconds}, {"certify", trained.certify_seconds}};
  object["support_vectors"] = trained.model.support.count();
  object["model_bytes"] = raced.model_bytes;
  put(object, trained.certificate);
  object["above_best"] = excess(race, raced);
  return object;
}

Json race_json(const RaceArguments& arguments, const TrainingData& read, const Race& race,
               int threads) {
  Json object{{"rows", read.rows},
              {"features", read.features},
              {"task", name_of(read.options.task)},
              {"kernel", kernel_json(read.options.kernel)},
              {"threads", threads},
              {"time_limit", race_options(arguments, read.options).train.stop.seconds},
              {"interrupted", race.interrupted},
              {"auto", name_of(race.automatic.solver)},
              {"reason", race.automatic.reason},
              {"best_primal", race.best_primal},
              {"best_dual", race.best_dual}};
  object["winner"] = nullptr;
  if (!race.lanes.empty() && race.lanes.front().converged())
    object["winner"] = race.lanes.front().lane.name();
  object["lanes"] = Json::array();
  for (const Raced& raced : race.lanes) object["lanes"].push_back(lane_json(race, raced));
  object["seconds"] = {{"read", read.seconds}};
  object["peak_memory_bytes"] = peak_memory_bytes();
  return object;
}

std::string race_table(const Race& race) {
  std::vector<std::vector<std::string>> table{{"solver", "time", "ended", "relative gap", "KKT",
                                               "primal", "above best", "vectors", "model"}};
  std::string refused;
  for (const Raced& raced : race.lanes) {
    if (!raced.refused.empty()) {
      refused += fmt::format("  {} did not run: {}\n", raced.lane.name(), raced.refused);
      continue;
    }
    const Trained& trained = raced.trained;
    table.push_back({who(raced), show_seconds(raced.seconds()),
                     std::string(to_string(trained.ended)),
                     fmt::format("{:.1e}", trained.certificate.relative_gap),
                     fmt::format("{:.1e}", trained.certificate.kkt),
                     fmt::format("{:.8g}", trained.certificate.primal),
                     fmt::format("{:.1e}", excess(race, raced)),
                     show_count(trained.model.support.count()), show_bytes(raced.model_bytes)});
  }
  return show_table(table) + refused;
}

std::string race_summary(const TrainingData& read, const Race& race) {
  std::vector<std::string> classes;
  for (const Raced& raced : race.lanes)
    if (classes.empty()) classes = raced.trained.model.classes;
  std::string text = show_line("read", show_contents(read, classes));
  text += show_line("kernel", show_kernel(read.options.kernel));
  text += show_line("auto",
                    fmt::format("{}: {}", name_of(race.automatic.solver), race.automatic.reason));
  text += race_table(race);
  if (race.interrupted) text += "  interrupted: not all of them ran to their end\n";
  return text;
}

/// One line as soon as one has ended.
std::string show_ended(const Raced& raced) {
  if (!raced.refused.empty()) return fmt::format("{} did not run", raced.lane.name());
  return fmt::format("{}: {} after {}, relative gap {:.1e}", who(raced),
                     to_string(raced.trained.ended), show_seconds(raced.seconds()),
                     raced.trained.certificate.relative_gap);
}

int exit_code_of(const Race& race) {
  if (race.interrupted) return exit_stopped;
  const bool any = std::ranges::any_of(race.lanes, &Raced::converged);
  return any ? exit_ok : exit_not_converged;
}

int run_race(RaceArguments& arguments) {
  TrainArguments& train = arguments.train;
  train.check();
  if (train.demands_out_of_core() && train.data == "-")
    throw Error(Fault::usage,
                "--out-of-core: a race reads the data twice, standard input cannot be",
                "name a file");
  if (!train.model.empty()) {
    const ReadOptions reads = train.read_options();
    require_writable(train.model, {train.data, reads.label_file, reads.weight_file});
  }
  const StartedThreads threads(train.threads);
  race_options(arguments, {});
  std::optional<SpilledData> on_disk;
  if (train.demands_out_of_core())
    on_disk = naming(train.data, [&] {
      return spill(train.data, train.read_options(), train.outcome(), train.spill_options(),
                   threads);
    });
  TrainingData read = read_training_data(train, threads);
  RaceOptions options = race_options(arguments, read.options);
  if (on_disk) options.on_disk = &*on_disk;
  const auto show = train.json || train.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes;
  const Stop overall{options.train.stop.kkt, options.train.stop.relative_gap};
  const StopRequest request;
  Race race = watched(
      train.data, overall, request, show, [&](const Observer& observer, ProgressLine& line) {
        return maxmargin::race(std::move(read.data), options, {threads, observer},
                               [&](const Raced& raced) { line.note(show_ended(raced)); });
      });
  if (!train.model.empty() && !race.lanes.empty() && race.lanes.front().refused.empty()) {
    Model& model = race.lanes.front().trained.model;
    for (auto& each : train.remembered(read.base)) model.options.push_back(std::move(each));
    save(model, train.model);
  }
  if (train.json)
    print_json(race_json(arguments, read, race, threads.count()));
  else if (!train.quiet)
    print(race_summary(read, race));
  return request.made() ? exit_stopped : exit_code_of(race);
}

/// The options of training that make no sense where all solvers train.
void remove_others(CLI::App& app) {
  for (const char* name :
       {"--solver", "--cross-validate", "--probability", "--true-bound", "--true-gap", "--start"})
    app.remove_option(app.get_option(name));
  for (CLI::Option* option : app.get_options(
           [](const CLI::Option* each) { return each->get_group().starts_with("Solver"); }))
    app.remove_option(option);
}

}  // namespace

Verb add_race(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "race", "train with every solver that fits and compare time, gap and model");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<RaceArguments>();
  arguments->train.add_to(*app);
  remove_others(*app);
  app->get_option("--output")->description("write the model of the first in the table [none]");
  app->get_option("--time-limit")
      ->description("for each: end after 60s, 500ms, 2m, 1h with the best so far [60s]");
  app->get_option("--out-of-core")
      ->description("race with the rows on disk, too, for the linear kernel");
  app->add_option("--only", arguments->only, "race only these solvers")
      ->type_name("NAME,NAME")
      ->take_last()
      ->group("Race");
  app->add_option("--ranks", arguments->ranks,
                  "basis functions of pivoted approximations that run along; 0: none [a twentieth "
                  "of the rows, 50 to 1000; none below 500 rows or for kernels of low rank]")
      ->type_name("N,N")
      ->take_last()
      ->group("Race");
  app->footer(examples({"maxmargin race a9a.svm --gamma 0.008",
                        "maxmargin race a9a.svm --kernel linear --loss squared-hinge --bias "
                        "penalised --gap 1e-8",
                        "maxmargin race big.svm --time-limit 10s --ranks 100,500 -o big.model",
                        "maxmargin race houses.csv --label price --task svr --scale --only "
                        "smo,interior-point --json"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_race(*arguments); }};
}

}  // namespace maxmargin::cli
