#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "cli/options/train_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/terminal/watch.hpp"
#include "cli/verbs/training_data.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/buffer.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"

namespace maxmargin::cli {
namespace {

ProgressLine::Show shows_progress(const TrainArguments& arguments) {
  return arguments.json || arguments.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes;
}

Json disk_json(const DiskReport& disk) {
  return {{"scratch_bytes", disk.scratch_bytes},
          {"direct", disk.direct},
          {"passes", disk.passes},
          {"bytes_read", disk.bytes_read},
          {"seconds", disk.seconds},
          {"waiting_seconds", disk.waiting},
          {"rows_in_memory", disk.rows_in_memory}};
}

std::string show_disk(const DiskReport& disk) {
  const double rate = disk.seconds > 0 ? static_cast<double>(disk.bytes_read) / disk.seconds : 0;
  return fmt::format("{} of scratch, {} at {}/s, {} in memory at the end",
                     show_bytes(disk.scratch_bytes), show_counted(disk.passes, "pass"),
                     show_bytes(static_cast<std::uint64_t>(rate)),
                     show_counted(disk.rows_in_memory, "row"));
}

Json improvement_json(const std::vector<Improvement>& machines) {
  Json list = Json::array();
  for (const Improvement& machine : machines) {
    Json rounds = Json::array();
    for (const ImproveRound& round : machine.rounds)
      rounds.push_back({{"rank", round.rank},
                        {"rows", round.rows},
                        {"returned", round.returned},
                        {"primal", round.primal},
                        {"true_dual", round.true_dual},
                        {"relative_gap", round.relative_gap},
                        {"seconds", round.seconds}});
    list.push_back({{"limit", to_string(machine.limit)}, {"rounds", std::move(rounds)}});
  }
  return list;
}

/// One line a round; of several machines, one line each.
std::string show_improvement(const std::vector<Improvement>& machines) {
  std::string text;
  const auto line = [&](const ImproveRound& round) {
    text += show_line(text.empty() ? "rounds" : "",
                      fmt::format("rank {}, {} in play, {} returned: relative gap {:.3g}",
                                  show_count(round.rank), show_counted(round.rows, "row"),
                                  show_count(round.returned), round.relative_gap));
  };
  if (machines.size() > 1)
    for (const Improvement& machine : machines) line(machine.rounds.back());
  else
    for (const ImproveRound& round : machines.front().rounds) line(round);
  return text;
}

/// The limit that ended the rounds, unless that is the gap.
std::string show_limit(const std::vector<Improvement>& machines, double asked) {
  const auto reason = [](ImproveLimit limit) -> std::string_view {
    switch (limit) {
      case ImproveLimit::gap:
        return "";
      case ImproveLimit::rank:
        return "--rank allows no more basis functions";
      case ImproveLimit::memory:
        return "--memory has no room for more basis functions";
      case ImproveLimit::time:
        return "--time-limit was reached";
      case ImproveLimit::cancelled:
        return "it was stopped";
      case ImproveLimit::solver:
        return "the problem with these basis functions was not solved to the end";
      case ImproveLimit::span:
        return "no other row adds a basis function";
    }
    return "";
  };
  for (const Improvement& machine : machines)
    if (machine.limit != ImproveLimit::gap)
      return show_line("", fmt::format("asked for: {:.3g}; {}", asked, reason(machine.limit)));
  return "";
}

double hit_rate(const Trained& trained) {
  return static_cast<double>(trained.values_found) / static_cast<double>(trained.values_asked);
}

Json train_json(const TrainArguments& arguments, const TrainingData& read, const Trained& trained,
                const DiskReport* disk, int threads) {
  const Model& model = trained.model;
  Json object{{"rows", read.rows},
              {"features", read.features},
              {"classes", model.classes.size()},
              {"class_names", model.classes},
              {"density", read.density},
              {"merged_rows", trained.merged_rows},
              {"task", name_of(read.options.task)},
              {"kernel", kernel_json(model.kernel)},
              {"solver", trained.solver},
              {"reason", trained.reason},
              {"threads", threads},
              {"ended", to_string(trained.ended)},
              {"iterations", trained.iterations},
              {"support_vectors", model.support.count()}};
  if (trained.values_asked > 0)
    object["cache"] = {{"asked", trained.values_asked},
                       {"found", trained.values_found},
                       {"hit_rate", hit_rate(trained)}};
  put(object, trained.certificate);
  if (std::isfinite(trained.own_primal))
    object["own"] = {{"primal", trained.own_primal},
                     {"dual", trained.own_dual},
                     {"relative_gap", relative_gap(trained.own_primal, trained.own_dual)}};
  if (!model.functions.empty() && model.machines.size() == 1)
    object["functions"] = functions_json(model, model.machines[0]);
  object["seconds"] = {{"read", read.seconds},
                       {"train", trained.train_seconds},
                       {"certify", trained.certify_seconds}};
  if (!model.calibration.none()) {
    object["seconds"]["calibrate"] = trained.calibrate_seconds;
    object["calibration"] = calibration_json(model);
  }
  if (trained.rank > 0) {
    object["rank"] = trained.rank;
    object["residual"] = trained.residual;
  }
  if (std::isfinite(trained.true_dual)) object["true_dual"] = trained.true_dual;
  if (!trained.improvement.empty()) object["improvement"] = improvement_json(trained.improvement);
  if (disk != nullptr) object["disk"] = disk_json(*disk);
  object["peak_memory_bytes"] = peak_memory_bytes();
  object["model"] = arguments.model;
  object["digest"] = digest(model);
  if (!model.untrained.none()) object["untrained"] = untrained_json(model);
  return object;
}

void print_training(const TrainArguments& arguments, const TrainingData& read,
                    const Trained& trained, const DiskReport* disk, int threads) {
  const Model& model = trained.model;
  const Json object = train_json(arguments, read, trained, disk, threads);
  if (model.machines.size() + untrained_machines(model) < 2) return print_json(object);
  print_json(object, "machines", model.machines.size(),
             [&](std::size_t k) { return machine_json(model, model.machines[k]); });
}

std::string train_summary(const TrainArguments& arguments, const TrainingData& read,
                          const Trained& trained, const DiskReport* disk, int threads) {
  const Model& model = trained.model;
  const Stop& stop = read.options.stop;
  std::string contents = show_contents(read, model.classes);
  if (trained.merged_rows > 0)
    contents += fmt::format(", {} merged", show_counted(trained.merged_rows, "equal row"));

  std::string text = show_line("read", contents);
  text += show_line("kernel", show_kernel(model.kernel));
  if (trained.rank > 0)
    text +=
        show_line("", fmt::format("approximated by {}, but for {:.3g} of its trace",
                                  show_counted(trained.rank, "basis function"), trained.residual));
  text += show_line("solver", fmt::format("{}: {}", trained.solver, trained.reason));
  text += show_line(
      "ended",
      fmt::format(
          "{} after {}{}", to_string(trained.ended), show_counted(trained.iterations, "iteration"),
          model.machines.size() > 1
              ? fmt::format(" of {} machines", model.machines.size() + untrained_machines(model))
              : ""));
  if (trained.values_asked > 0)
    text += show_line(
        "cache", fmt::format("{:.1f} % of {:.3g} kernel values were found in it",
                             100 * hit_rate(trained), static_cast<double>(trained.values_asked)));
  if (std::isfinite(trained.own_primal))
    text += show_line(
        "own", fmt::format("objective {}, at least {} (relative gap {:.3g}); what follows is "
                           "said of 1/2 |f|^2",
                           show_number(trained.own_primal), show_number(trained.own_dual),
                           relative_gap(trained.own_primal, trained.own_dual)));
  text += show_untrained(model);
  text += show_certificate(trained.certificate);
  if (!trained.improvement.empty())
    text += show_improvement(trained.improvement) +
            show_limit(trained.improvement, read.options.true_gap);
  else if (trained.ended != Ended::converged)
    text += show_line(
        "", fmt::format("asked for: KKT {:.3g}, relative gap {:.3g}", stop.kkt, stop.relative_gap));
  if (trained.ended != Ended::converged && !trained.obstacle.empty())
    text += show_line("", trained.obstacle);
  if (std::isfinite(trained.true_dual))
    text += show_line("true K",
                      fmt::format("the optimum is at least {} (relative gap {:.3g})",
                                  show_number(trained.true_dual),
                                  relative_gap(trained.certificate.primal, trained.true_dual)));
  if (model.machines.size() == 1 && model.machines[0].width != 0)
    text += show_line(model.outcome == Outcome::number ? "epsilon" : "margin",
                      show_number(model.machines[0].width));
  if (model.machines.size() == 1) text += show_functions(model, model.machines[0]);
  text += disk != nullptr ? show_line("disk", show_disk(*disk))
                          : show_line("support", show_counted(model.support.count(), "vector"));
  const std::string calibrating =
      model.calibration.none()
          ? ""
          : fmt::format(", {} calibrate", show_seconds(trained.calibrate_seconds));
  if (!model.calibration.none()) text += show_calibration(model);
  text +=
      show_line("time", fmt::format("{} read, {} train, {} certify{}, {}",
                                    show_seconds(read.seconds), show_seconds(trained.train_seconds),
                                    show_seconds(trained.certify_seconds), calibrating,
                                    show_counted(static_cast<std::uint64_t>(threads), "thread")));
  text += show_line("memory", show_bytes(peak_memory_bytes()) + " at most");
  text += show_line("model", fmt::format("{} (digest {})", arguments.model, digest(model)));
  return text;
}

/// Whether not all folds were trained; then there is no score.
bool cut_short(const CrossValidated& result) {
  return result.ended == Ended::cancelled || result.ended == Ended::time_limit;
}

void put_scores(Json& object, const CrossValidated& result) {
  if (cut_short(result)) return;
  switch (result.outcome) {
    case Outcome::classes:
      object["accuracy"] = result.accuracy;
      break;
    case Outcome::number:
      object["mean_squared_error"] = result.mean_squared_error;
      object["mean_absolute_error"] = result.mean_absolute_error;
      object["squared_correlation"] = result.squared_correlation;
      break;
    case Outcome::novelty:
      object["novel_share"] = result.novel_share;
      if (!std::isnan(result.accuracy)) object["accuracy"] = result.accuracy;
      break;
  }
}

std::string show_scores(const CrossValidated& result) {
  Json scores;
  put_scores(scores, result);
  std::string text;
  for (const auto& [name, value] : scores.items()) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    const bool share = name == "accuracy" || name == "novel_share";
    const double number = value.get<double>();
    text += share ? fmt::format("{}: {:.4f}%\n", words, 100 * number)
                  : fmt::format("{}: {}\n", words, show_number(number));
  }
  if (cut_short(result))
    text = fmt::format("no score: {} before all folds were trained\n", to_string(result.ended));
  else if (result.ended != Ended::converged)
    text +=
        fmt::format("by machines that are not trained to the end: {}\n", to_string(result.ended));
  return text;
}

int run_cross_validation(const TrainArguments& arguments, TrainingData& read,
                         const Threads& threads) {
  const TrainOptions& options = read.options;
  const StopRequest request;
  const CrossValidated result =
      watched(arguments.data, options.stop, request, shows_progress(arguments),
              [&](const Observer& observer, ProgressLine&) {
                return cross_validate(std::move(read.data), options, arguments.cross_validation,
                                      {threads, observer});
              });
  if (arguments.json) {
    Json object{{"rows", read.rows},
                {"features", read.features},
                {"classes", result.classes.size()},
                {"task", name_of(options.task)},
                {"kernel", kernel_json(options.kernel)},
                {"folds", result.folds.count},
                {"seed", options.seed},
                {"ended", to_string(result.ended)},
                {"iterations", result.iterations}};
    put_scores(object, result);
    object["seconds"] = {{"read", read.seconds}, {"cross_validate", result.seconds}};
    object["peak_memory_bytes"] = peak_memory_bytes();
    print_json(object);
  } else if (arguments.quiet) {
    print(show_scores(result));
  } else {
    std::string text = show_line("read", show_contents(read, result.classes));
    text += show_line("kernel", show_kernel(options.kernel));
    text += show_line(
        "ended", fmt::format("{} after {} of {} folds", to_string(result.ended),
                             show_counted(result.iterations, "iteration"), result.folds.count));
    text += show_line(
        "time", fmt::format("{} read, {} cross-validate, {}", show_seconds(read.seconds),
                            show_seconds(result.seconds),
                            show_counted(static_cast<std::uint64_t>(threads.count()), "thread")));
    print(text + show_scores(result));
  }
  return exit_code(result.ended);
}

/// Writes the model and prints the report. A request to end that comes meanwhile waits.
int finish(const TrainArguments& arguments, const TrainingData& read, Trained trained,
           const DiskReport* disk, const StopRequest& request, const Threads& threads) {
  for (auto& each : arguments.remembered(read.base))
    trained.model.options.push_back(std::move(each));
  save(trained.model, arguments.model);
  if (arguments.json)
    print_training(arguments, read, trained, disk, threads.count());
  else if (!arguments.quiet)
    print(train_summary(arguments, read, trained, disk, threads.count()));
  return request.made() ? exit_stopped : exit_code(trained.ended);
}

/// The rows on disk; nothing where there are too many features for that and it was not asked for.
std::optional<SpilledData> spilled(const TrainArguments& arguments, const Threads& threads) {
  try {
    return naming(arguments.data, [&] {
      return spill(arguments.data, arguments.read_options(), arguments.outcome(),
                   arguments.spill_options(), threads);
    });
  } catch (const Error& error) {
    if (arguments.demands_out_of_core() || error.fault() != Fault::usage) throw;
    return std::nullopt;
  }
}

int train_out_of_core(const TrainArguments& arguments, const SpilledData& data,
                      const std::string& reason, const Threads& threads) {
  TrainingData read;
  read.rows = data.rows->rows();
  read.features = data.features;
  read.density = data.density;
  if (data.outline.counts_from_zero) read.base = "0";
  read.seconds = data.seconds;
  read.options = naming(arguments.data, [&] { return arguments.options(data.outline); });
  const StopRequest request;
  TrainedOutOfCore result = watched(
      arguments.data, read.options.stop, request, shows_progress(arguments),
      [&](const Observer& observer, ProgressLine& line) {
        line.note(fmt::format(
            "solver {}: out of core, {}",
            read.options.solver == "auto" ? "interior-point" : read.options.solver, reason));
        return train(data, read.options, {threads, observer});
      });
  result.trained.reason = fmt::format("out of core, {}", reason);
  return finish(arguments, read, std::move(result.trained), &result.disk, request, threads);
}

int run_train(TrainArguments& arguments) {
  arguments.check();
  if (arguments.cross_validation == 0) arguments.name_model();
  if (!arguments.model.empty()) {
    const ReadOptions reads = arguments.read_options();
    require_writable(arguments.model, {arguments.data, reads.label_file, reads.weight_file});
  }
  const StartedThreads threads(arguments.threads);
  if (const std::string reason = arguments.out_of_core_reason(); !reason.empty())
    if (const auto data = spilled(arguments, threads))
      return train_out_of_core(arguments, *data, reason, threads);
  TrainingData read = read_training_data(arguments, threads);
  if (arguments.cross_validation > 0) return run_cross_validation(arguments, read, threads);
  const StopRequest request;
  Trained trained =
      watched(arguments.data, read.options.stop, request, shows_progress(arguments),
              [&](const Observer& observer, ProgressLine& line) {
                TrainOptions options = read.options;
                // Machines of one task have the same shape: the first tells enough.
                // Not std::call_once: no exception comes through pthread_once.
                std::atomic<bool> told = false;
                options.chosen = [&](const Choice& choice) {
                  if (!told.exchange(true))
                    line.note(fmt::format("solver {}: {}", name_of(choice.solver), choice.reason));
                };
                return train(std::move(read.data), options, {threads, observer});
              });
  return finish(arguments, read, std::move(trained), nullptr, request, threads);
}

}  // namespace

Verb add_train(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "train a model and certify how good it is");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<TrainArguments>();
  arguments->add_to(*app);
  app->footer(examples({"maxmargin train a9a.svm -o a9a.model --cost 1 --gamma 0.008",
                        "maxmargin train houses.csv --label price --task svr --epsilon 0.2 --scale",
                        "maxmargin train a9a.svm --gamma 0.008 --cross-validate 5 --seed 1",
                        "maxmargin train a9a.svm -o a9a.model --gamma 0.008 --probability",
                        "maxmargin train big.svm.zst --memory 8G --time-limit 10m --json",
                        "maxmargin train huge.svm.zst --kernel linear --out-of-core --memory 1G"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_train(*arguments); }};
}

}  // namespace maxmargin::cli
