#include "cli/verbs/structured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cli/options/running_options.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "cli/terminal/watch.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/buffer.hpp"
#include "maxmargin/model/file/whole_file.hpp"
#include "maxmargin/structured/train.hpp"
#include "maxmargin/task/task.hpp"

namespace maxmargin::cli {
namespace {

struct StructuredArguments {
  std::string data, model, output, task = "", solver = "blocks", rescaling = "margin",
                                   slack = "linear", resume, checkpoint, curve;
  std::map<std::string, std::string> given;  ///< options of the task
  std::vector<double> costs{1};
  Stop stop;
  std::uint64_t seed = 0, folds = 0;
  int threads = 0;
  bool json = false, quiet = false;
};

/// The one of a list whose name this is.
template <class List>
auto named_choice(std::string_view option, const std::string& text, const List& list) {
  std::vector<std::string> names;
  for (const auto each : list) {
    names.emplace_back(to_string(each));
    if (names.back() == text) return each;
  }
  throw Error(Fault::usage, fmt::format("--{}: unknown choice '{}'", option, text),
              suggestion(text, names));
}

std::vector<double> costs_in(const std::string& text) {
  std::vector<double> costs;
  std::istringstream list(text);
  for (std::string each; std::getline(list, each, ',');)
    costs.push_back(parse_number("--cost", each, positive));
  return costs;
}

const StructuredTask& task_of(const std::string& name, const std::string& model) {
  if (const StructuredTask* task = structured_task_named(name)) return *task;
  throw Error(Fault::data, Place{model}, fmt::format("its task '{}' is not known here", name),
              "use a newer program");
}

Json certificate_json(const StructuredCertificate& c) {
  return {{"primal", c.primal},
          {"dual", c.dual},
          {"gap", c.gap},
          {"relative_gap", c.relative_gap},
          {"rounding", c.rounding},
          {"violation", c.violation},
          {"oracle", to_string(c.exactness)},
          {"gap_is_a_bound", c.bounds()},
          {"planes", c.planes}};
}

std::string show_structured_certificate(const StructuredCertificate& c) {
  std::string text = show_line("primal", fmt::format("{:.10g}, dual {:.10g}", c.primal, c.dual));
  text += show_line("gap", fmt::format("{:.4g}, relative {:.3g}", c.gap, c.relative_gap));
  if (c.violation > 0)
    text += show_line("", fmt::format("margins are violated by {:.3g} at most", c.violation));
  if (c.exactness == Exactness::relaxed)
    text += show_line("", "the oracle is relaxed: the gap bounds that of the relaxed problem");
  if (c.exactness == Exactness::heuristic)
    text += show_line("", "the oracle is heuristic: the gap is NO bound");
  return text;
}

Json scores_json(const StructuredScores& scores) {
  Json object = Json::object();
  for (const auto& [name, value] : scores) object[name] = value;
  return object;
}

std::string show_scores_of(const StructuredScores& scores) {
  std::string text;
  for (const auto& [name, value] : scores) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    text += fmt::format("{}: {}\n", words, show_number(value));
  }
  return text;
}

StructuredTraining training_of(const StructuredArguments& arguments) {
  StructuredTraining training;
  training.C = arguments.costs.back();
  training.path.assign(arguments.costs.begin(), arguments.costs.end() - 1);
  training.rescaling = named_choice("rescaling", arguments.rescaling, all_rescalings);
  training.slack = named_choice("slack", arguments.slack, all_slacks);
  training.solver = structured_solver_named(arguments.solver);
  training.stop = arguments.stop;
  training.seed = arguments.seed;
  return training;
}

void write_curve(const std::string& path, const std::vector<StructuredPoint>& curve) {
  std::string text = "oracle_calls,seconds,primal,dual,planes\n";
  for (const StructuredPoint& point : curve)
    text += fmt::format("{},{:.6f},{:.17g},{:.17g},{}\n", point.oracle_calls, point.seconds,
                        point.primal, point.dual, point.planes);
  WholeFile file(path);
  file.write(std::as_bytes(std::span(text.data(), text.size())));
  file.commit(Sync::leave);
}

int cross_validate(const StructuredArguments& arguments, const StructuredData& data,
                   const StructuredTraining& training, const Threads& threads) {
  const StopRequest request;
  const auto result = watched(
      arguments.data, training.stop, request,
      arguments.json || arguments.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes,
      [&](const Observer& observer, ProgressLine&) {
        return cross_validate_structured(data, training, arguments.folds, threads, observer);
      });
  if (arguments.json) {
    Json object{{"task", arguments.task},
                {"folds", arguments.folds},
                {"ended", to_string(result.ended)},
                {"oracle_calls", result.oracle_calls},
                {"seconds", result.seconds}};
    object["scores"] = scores_json(result.scores);
    print_json(object);
  } else {
    std::string text;
    if (!arguments.quiet)
      text = show_line("read", data.contents()) +
             show_line("ended", fmt::format("{}, {} folds, {}", to_string(result.ended),
                                            arguments.folds, show_seconds(result.seconds)));
    if (result.cut_short())
      text += fmt::format("no score: {} before all folds were trained\n", to_string(result.ended));
    print(text + show_scores_of(result.scores));
  }
  return exit_code(result.ended);
}

void report_training(const StructuredArguments& arguments, const StructuredData& data,
                     const StructuredModel& model, double read_seconds, const Threads& threads) {
  if (arguments.json) {
    Json object{{"task", model.task},
                {"contents", data.contents()},
                {"examples", data.oracle().examples()},
                {"dimensions", data.oracle().dimensions()},
                {"cost", model.C},
                {"rescaling", to_string(model.rescaling)},
                {"slack", to_string(model.slack)},
                {"solver", model.solver},
                {"threads", threads.count()},
                {"ended", to_string(model.ended)},
                {"iterations", model.iterations},
                {"oracle_calls", model.oracle_calls},
                {"certificate", certificate_json(model.certificate)},
                {"seconds", {{"read", read_seconds}, {"train", model.seconds}}},
                {"peak_memory_bytes", peak_memory_bytes()},
                {"model", arguments.output},
                {"digest", digest(model)}};
    print_json(object);
  } else if (!arguments.quiet) {
    std::string text = show_line("read", data.contents());
    text += show_line("solver", model.solver);
    text += show_line("ended", fmt::format("{} after {} of the oracle", to_string(model.ended),
                                           show_counted(model.oracle_calls, "call")));
    text += show_structured_certificate(model.certificate);
    text += show_line("planes", show_count(model.certificate.planes));
    text += show_line(
        "time", fmt::format("{} read, {} train, {}", show_seconds(read_seconds),
                            show_seconds(model.seconds),
                            show_counted(static_cast<std::uint64_t>(threads.count()), "thread")));
    text += show_line("memory", show_bytes(peak_memory_bytes()) + " at most");
    text += show_line("model", fmt::format("{} (digest {})", arguments.output, digest(model)));
    print(text);
  }
}

int train_structures(StructuredArguments& arguments) {
  const StructuredTask& task = *structured_task_named(arguments.task);
  const Settings settings = task.settings(arguments.given);
  StructuredTraining training = training_of(arguments);
  if (arguments.output.empty()) {
    if (arguments.data == "-" && arguments.folds == 0)
      throw Error(Fault::usage, "standard input has no name to derive the model's from",
                  "add -o MODEL");
    arguments.output = std::filesystem::path(arguments.data).filename().string() + ".model";
  }
  if (arguments.folds == 0) require_writable(arguments.output, {arguments.data, arguments.resume});
  const Threads threads(arguments.threads);
  const Stopwatch reading;
  std::optional<StructuredModel> before;
  if (!arguments.resume.empty()) {
    before = load_structured(arguments.resume);
    if (before->task != arguments.task)
      throw Error(Fault::usage, Place{arguments.resume},
                  fmt::format("this is a model of task '{}'", before->task),
                  "resume with the options that it was trained with");
    training.resume = &*before;
  }
  const auto data =
      task.read(arguments.data, settings, before ? &before->vocabulary : nullptr, threads);
  const double read_seconds = reading.seconds();
  if (arguments.folds > 0) return cross_validate(arguments, *data, training, threads);
  if (!arguments.checkpoint.empty())
    training.checkpoint = [&](const StructuredModel& model) { save(model, arguments.checkpoint); };
  training.rescue = [&](const StructuredModel& model) {
    save(model, arguments.output);
    warn(fmt::format("{} holds what there was so far, without a certificate", arguments.output));
  };
  const StopRequest request;
  const TrainedStructured trained =
      watched(arguments.data, training.stop, request,
              arguments.json || arguments.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes,
              [&](const Observer& observer, ProgressLine&) {
                return train_structured(task, settings, *data, training, threads, observer);
              });
  save(trained.model, arguments.output);
  if (!arguments.curve.empty()) write_curve(arguments.curve, trained.curve);
  report_training(arguments, *data, trained.model, read_seconds, threads);
  return exit_code(trained.model.ended);
}

std::unique_ptr<StructuredData> read_for(const StructuredModel& model,
                                         const StructuredArguments& arguments,
                                         const Threads& threads) {
  const StructuredTask& task = task_of(model.task, arguments.model);
  std::map<std::string, std::string> settings = model.settings;
  settings.insert(arguments.given.begin(), arguments.given.end());
  return task.read(arguments.data, task.settings(settings), &model.vocabulary, threads);
}

int predict_with_structures(const StructuredArguments& arguments) {
  if (!arguments.output.empty())
    require_writable(arguments.output, {arguments.data, arguments.model});
  const Stopwatch watch;
  const StructuredModel model = load_structured(arguments.model);
  const Threads threads(arguments.threads);
  const auto data = read_for(model, arguments, threads);
  const std::vector<double> w = scores_of(model, *data);
  if (const std::string unknown = data->unknown(); !unknown.empty())
    warn(unknown + ": it counts as wrong");
  const std::vector<Structure> found = predict_structures(data->oracle(), w, threads);
  if (const std::string trouble = data->trouble(found); !trouble.empty()) warn(trouble);
  std::string lines;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    data->print(i, found[i], w, lines);
    all.push_back(i);
  }
  if (!arguments.output.empty()) {
    WholeFile file(arguments.output);
    file.write(std::as_bytes(std::span(lines.data(), lines.size())));
    file.commit();
  }
  StructuredScores scores;
  if (data->labelled()) scores = data->score(all, found, w);
  if (arguments.json) {
    Json object{{"task", model.task}, {"examples", found.size()}};
    object["scores"] = scores_json(scores);
    object["seconds"] = watch.seconds();
    object["output"] = arguments.output.empty() ? Json(nullptr) : Json(arguments.output);
    if (arguments.output.empty()) object["predictions"] = lines;
    print_json(object);
    return exit_ok;
  }
  if (arguments.output.empty()) print(lines);
  if (arguments.quiet) return exit_ok;
  if (arguments.output.empty())
    fmt::print(stderr, "{}", show_scores_of(scores));
  else
    print(show_scores_of(scores));
  return exit_ok;
}

int verify_structures(const StructuredArguments& arguments) {
  const StructuredModel model = load_structured(arguments.model);
  const Threads threads(arguments.threads);
  const auto data = read_for(model, arguments, threads);
  const Stopwatch watch;
  const VerifiedStructured verified =
      naming(arguments.data, [&] { return verify_structured(model, *data, threads); });
  if (arguments.json) {
    Json object{{"holds", verified.holds},
                {"reason", verified.reason},
                {"stored", certificate_json(model.certificate)},
                {"recomputed", certificate_json(verified.recomputed)}};
    if (verified.by_witness) object["second_oracle"] = certificate_json(*verified.by_witness);
    object["seconds"] = watch.seconds();
    print_json(object);
  } else {
    std::string text = "stored\n" + show_structured_certificate(model.certificate) +
                       fmt::format("recomputed, by {}\n",
                                   verified.by_witness ? "the same oracle" : data->witness_name()) +
                       show_structured_certificate(verified.recomputed);
    if (verified.by_witness)
      text += fmt::format("what {} finds\n", data->witness_name()) +
              show_structured_certificate(*verified.by_witness);
    text += verified.holds ? "the certificate holds"
                           : "the certificate does NOT hold: " + verified.reason;
    print(text + fmt::format(", recomputed in {}\n", show_seconds(watch.seconds())));
  }
  return verified.holds ? exit_ok : exit_not_converged;
}

int inspect_structures(const StructuredArguments& arguments) {
  const StructuredModel model = load_structured(arguments.model);
  std::size_t weights = 0;
  for (const double each : model.w) weights += each != 0 ? 1 : 0;
  if (arguments.json) {
    Json object{{"model", arguments.model},
                {"program", model.program},
                {"digest", digest(model)},
                {"task", model.task},
                {"cost", model.C},
                {"rescaling", to_string(model.rescaling)},
                {"slack", to_string(model.slack)},
                {"solver", model.solver},
                {"examples", model.planes.size()},
                {"weights", model.w.size()},
                {"weights_not_zero", weights},
                {"ended", to_string(model.ended)},
                {"oracle_calls", model.oracle_calls},
                {"seed", model.seed},
                {"certificate", certificate_json(model.certificate)}};
    object["settings"] = model.settings;
    for (const auto& [name, words] : model.vocabulary) object["vocabulary"][name] = words.size();
    print_json(object);
    return exit_ok;
  }
  std::string text = show_line("model", arguments.model);
  text += show_line("program", model.program);
  text += show_line("digest", digest(model));
  text += show_line("task", fmt::format("{}, structural machine", model.task));
  std::string settings = fmt::format("cost {}, {} rescaling, {} slack", model.C,
                                     to_string(model.rescaling), to_string(model.slack));
  for (const auto& [name, value] : model.settings)
    if (!value.empty()) settings += fmt::format(", {} {}", name, value);
  text += show_line("options", settings);
  for (const auto& [name, words] : model.vocabulary)
    text += show_line(name, words.size() <= 30 && name != "template"
                                ? fmt::format("{}: {}", words.size(), show_names(words))
                                : show_count(words.size()));
  text += show_line("weights", fmt::format("{}, {} of them not 0", show_count(model.w.size()),
                                           show_count(weights)));
  text += show_line("trained on", show_counted(model.planes.size(), "example"));
  text += show_line(
      "solver", fmt::format("{}: {} after {} of the oracle", model.solver, to_string(model.ended),
                            show_counted(model.oracle_calls, "call")));
  print(text + show_structured_certificate(model.certificate) +
        show_line("planes", show_count(model.certificate.planes)));
  return exit_ok;
}

void add_text(CLI::App& app, const std::string& name, const std::string& type,
              const std::string& help, std::string& text, const std::string& group = "Task") {
  app.add_option(name, text, help)->type_name(type)->take_last()->group(group);
}

void add_task_option(CLI::App& app, const TaskOption& option,
                     const std::shared_ptr<StructuredArguments>& arguments) {
  app.add_option_function<std::string>(
         "--" + std::string(option.name),
         [arguments, name = std::string(option.name)](const std::string& text) {
           arguments->given[name] = text;
         },
         std::string(option.help) +
             (option.standard.empty() ? "" : fmt::format(" [{}]", option.standard)))
      ->type_name(std::string(option.type))
      ->take_last()
      ->group("Task");
}

Verb add_structured_train(CLI::App& program, std::shared_ptr<StructuredArguments> arguments) {
  const StructuredTask& task = *structured_task_named(arguments->task);
  CLI::App* app =
      program.add_subcommand("train", fmt::format("train a structural machine: {}", task.summary));
  app->set_help_flag("-h,--help", "show this help");
  app->add_option("DATA", arguments->data, "training data; plain, .gz or .zst")->required();
  app->add_option("-o,--output", arguments->output, "where the model goes [DATA's name + .model]")
      ->type_name("MODEL")
      ->take_last();
  add_text(*app, "--task", "NAME", "this one", arguments->task);
  for (const TaskOption& option : task.options) add_task_option(*app, option, arguments);
  const auto add = [&](const std::string& name, const std::string& type, const std::string& help,
                       std::function<void(const std::string&)> take) {
    app->add_option_function<std::string>(name, std::move(take), help)
        ->type_name(type)
        ->take_last()
        ->group("Machine");
  };
  add("--cost", "C[,C...]",
      "what slacks cost: C times their mean; several: each is trained from the one before, the "
      "last "
      "is kept [1]",
      [arguments](const std::string& text) { arguments->costs = costs_in(text); });
  add_text(*app, "--rescaling", "margin|slack", "what the loss rescales [margin]",
           arguments->rescaling, "Machine");
  add_text(*app, "--slack", "linear|squared|none", "what slacks cost; none: a hard margin [linear]",
           arguments->slack, "Machine");
  Choices solvers;
  for_each_component<StructuredSolver>(
      [&](const auto& solver) { solvers.add(solver.name, solver.summary); });
  add_text(*app, "--solver", "NAME", "one of:" + solvers.text() + "\n[blocks]", arguments->solver,
           "Machine");
  add("--gap", "REL", "relative gap between primal and dual objective [0.001]",
      [arguments](const std::string& text) {
        arguments->stop.relative_gap = parse_number("--gap", text, positive);
      });
  add("--tolerance", "V", "with --slack none: by how much a margin may be violated [0.001]",
      [arguments](const std::string& text) {
        arguments->stop.kkt = parse_number("--tolerance", text, positive);
      });
  add("--time-limit", "TIME", "end after 60s, 500ms, 2m, 1h with the best model so far",
      [arguments](const std::string& text) {
        arguments->stop.seconds = parse_seconds("--time-limit", text);
      });
  add("--max-iterations", "N", "end after so many passes over all examples",
      [arguments](const std::string& text) {
        arguments->stop.iterations = parse_count("--max-iterations", text, 1, UINT64_MAX);
      });
  add("--cross-validate", "N", "train no model; tell how well N folds are predicted by the others",
      [arguments](const std::string& text) {
        arguments->folds = parse_count("--cross-validate", text, 2, 1000000000);
      });
  add_text(*app, "--checkpoint", "FILE", "write the model so far there every ten seconds",
           arguments->checkpoint, "Running");
  add_text(*app, "--resume", "MODEL", "start from a checkpoint, or a model of another cost",
           arguments->resume, "Running");
  add_text(*app, "--curve", "FILE", "write gap against oracle calls and seconds there, as CSV",
           arguments->curve, "Running");
  add_threads(*app, arguments->threads)->group("Running");
  add_seed(*app, arguments->seed, "seed of whatever is random [0]")->group("Running");
  app->add_flag("--json", arguments->json, "print one JSON object instead of the summary");
  app->add_flag("--quiet", arguments->quiet, "print nothing but errors");
  app->footer(
      examples({fmt::format("maxmargin train data --task {} --cost 10 -o my.model", task.name),
                fmt::format("maxmargin train data --task {} --cost 1,10,100", task.name)}) +
      "\n" + exit_code_help);
  return {app, [arguments] { return train_structures(*arguments); }};
}

Verb add_with_model(CLI::App& program, const std::string& verb,
                    std::shared_ptr<StructuredArguments> arguments) {
  CLI::App* app = program.add_subcommand(verb, "with the model of a structural machine");
  app->set_help_flag("-h,--help", "show this help");
  const auto data = [&] {
    app->add_option("DATA", arguments->data, "data of the model's task")->required();
  };
  if (verb == "predict") data();
  app->add_option("MODEL", arguments->model, "a model of a structural machine")->required();
  if (verb == "verify") data();
  if (verb == "predict") {
    app->add_option("-o,--output", arguments->output, "where predictions go [standard output]")
        ->type_name("FILE")
        ->take_last();
    app->add_flag("--quiet", arguments->quiet, "no summary");
  }
  app->add_flag("--json", arguments->json, "print one JSON object");
  if (verb != "inspect") {
    add_threads(*app, arguments->threads);
    for (const StructuredTask& task : structured_tasks())
      for (const TaskOption& option : task.options)
        if (option.stored == Stored::no) add_task_option(*app, option, arguments);
  }
  return {app, [arguments, verb] {
            if (verb == "predict") return predict_with_structures(*arguments);
            return verb == "verify" ? verify_structures(*arguments)
                                    : inspect_structures(*arguments);
          }};
}

/// The task that a command line names, if it is one of a structural machine. Throws Error for a
/// name that no machine has.
std::string structured_task_in(std::span<char*> arguments) {
  std::string name;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string_view word = arguments[k];
    if (word == "--task" && k + 1 < arguments.size()) name = arguments[k + 1];
    if (word.starts_with("--task=")) name = word.substr(7);
  }
  if (name.empty() || structured_task_named(name) != nullptr) return name;
  std::vector<std::string> known;
  for_each_component<Task>([&](const auto& task) { known.emplace_back(task.name); });
  if (std::ranges::find(known, name) != known.end()) return "";
  for (const StructuredTask& task : structured_tasks()) known.emplace_back(task.name);
  throw Error(Fault::usage, "unknown task '" + name + "'", suggestion(name, known));
}

}  // namespace

std::optional<int> run_structured(std::span<char*> arguments) {
  if (arguments.size() < 2) return std::nullopt;
  const std::string verb = arguments[1];
  auto held = std::make_shared<StructuredArguments>();
  CommandLine program;
  std::optional<Verb> chosen;
  if (verb == "train") {
    held->task = structured_task_in(arguments);
    if (!held->task.empty()) chosen = add_structured_train(program, held);
  } else if (verb == "predict" || verb == "verify" || verb == "inspect") {
    const bool found = std::any_of(arguments.begin() + 2, arguments.end(),
                                   [](const char* word) { return is_structured_model(word); });
    if (found) chosen = add_with_model(program, verb, held);
  }
  if (!chosen) return std::nullopt;
  if (const auto code = program.answered(static_cast<int>(arguments.size()), arguments.data()))
    return code;
  return chosen->run();
}

}  // namespace maxmargin::cli
