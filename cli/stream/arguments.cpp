#include "cli/stream/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/options/running_options.hpp"
#include "cli/terminal/output.hpp"
#include "maxmargin/train/stream/finish.hpp"

namespace maxmargin::cli::streaming {
namespace {

/// "1000", "x2"; or a time where `seconds` may be: "30s", "5m".
Every parse_every(std::string_view option, const std::string& text, bool seconds) {
  if (!seconds && text == "x2") return {.doubled = true};
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) return {.rows = parse_count(option, text, 1, UINT64_MAX)};
  if (!seconds)
    throw Error(Fault::usage,
                fmt::format("{}: '{}' is neither a number of rows nor x2", option, text),
                "give 1000, or x2 for each doubling");
  Every every;
  every.seconds = parse_seconds(option, text);
  if (!(every.seconds > 0))
    throw Error(Fault::usage, fmt::format("{}: {} is no time", option, text), "give 10000 or 30s");
  return every;
}

template <class List>
std::string listed(const std::string& preset) {
  std::string help = "one of:";
  for_each_nameable<List>([&](const auto& component) {
    if constexpr (requires { component.formula; })
      help += fmt::format("\n{:<29} {}", component.name, component.formula);
    else
      help += fmt::format("\n{:<8} {}", component.name, component.summary);
  });
  return help + fmt::format("\n[{}]", preset);
}

}  // namespace

void StreamArguments::add_to(CLI::App& app) {
  app.add_option("INPUT", input, "rows to learn from; - for standard input [-]");
  app.add_option("-o,--output", model, "the model at the end")->type_name("FILE")->take_last();
  app.add_option("-p,--predictions", predictions,
                 "one line a row, said before the row is learned; - for standard output")
      ->type_name("FILE")
      ->take_last();
  app.add_flag("--margins", margins, "write the margin beside each prediction");
  app.add_flag("--doubts", doubts,
               "write 'doubtful' beside predictions that truncation could have changed");
  add_learning(app);
  add_dual(app);
  add_service(app);
  reading_.add_to(app, ReadingOptions::Weights::no);
}

void StreamArguments::add_learning(CLI::App& app) {
  const std::string group = "Learning";
  const auto text = [&](const char* name, std::string& target, const char* type,
                        const std::string& help) {
    app.add_option(name, target, help)->type_name(type)->take_last()->group(group);
  };
  text("--rule", learning.rule_name, "NAME", listed<Rule>(learning.rule_name));
  add_settings(app, learning.rule, group);
  text("--lambda", learning.lambda, "NUMBER", "how fast f shrinks [1e-4; nu and novelty: 1]");
  text("--rate", learning.rate, "NAME",
       "constant (eta), inverse-sqrt (eta / sqrt(t)) or inverse (1 / "
       "(lambda (t + t0))) [inverse-sqrt; pegasos: inverse]");
  text("--eta", learning.eta, "NUMBER", "the first rate, where it is not inverse [1]");
  text("--t0", learning.t0, "NUMBER", "shorter first steps of the inverse rate [0]");
  app.add_flag("--no-bias", learning.no_bias, "learn no bias")->group(group);
  app.add_flag("--average", learning.average,
               "predict with the mean of all f, the last counting most")
      ->group(group);
  app.add_flag("--finish", finish,
               "at the end, go on with the rows kept to the optimum of their problem, with its "
               "certificate")
      ->group(group);
  app.add_flag("--keep", learning.keep, "keep every row learned for --finish, not only those in f")
      ->group(group);
  text("--truncate", learning.truncation_name, "NAME",
       listed<Truncation>(learning.truncation_name));
  add_settings(app, learning.truncation, group);
  kernel_.add_to(app, "linear");
}

void StreamArguments::add_dual(CLI::App& app) {
  const std::string group = "Dual machines, in place of a rule";
  app.add_flag("--lasvm", learning.lasvm,
               "an online SMO: process, reprocess; keeps what may support f")
      ->group(group);
  app.add_flag("--exact", learning.exact,
               "the machine of the last --window rows, at its optimum after every row")
      ->group(group);
  app.add_option("--cost", learning.cost, "price C of a margin error [1]")
      ->type_name("C")
      ->take_last()
      ->group(group);
  app.add_option("--tolerance", learning.tolerance, "KKT violation that may be left [1e-3]")
      ->type_name("NUMBER")
      ->take_last()
      ->group(group);
  app.add_flag("--certificates", certificates,
               "certify the machine of the rows that are held at each report")
      ->group(group);
}

void StreamArguments::add_service(CLI::App& app) {
  const std::string group = "Running";
  const auto text = [&](const char* name, std::string& target, const char* type, const char* help) {
    app.add_option(name, target, help)->type_name(type)->take_last()->group(group);
  };
  const auto count = [&](const char* name, std::uint64_t& target, std::uint64_t least,
                         const char* help) {
    app.add_option_function<std::string>(
           name,
           [&target, name, least](const std::string& given) {
             target = parse_count(name, given, least, std::uint64_t{1} << 40);
           },
           help)
        ->type_name("N")
        ->take_last()
        ->group(group);
  };
  text("--report-every", report_text_, "N|x2", "rows between reports; x2: at each doubling [x2]");
  count("--window", learning.window, 2,
        "rows of the window that reports and the drift test look at [1000]");
  app.add_option_function<std::string>(
         "--drift-level",
         [this](const std::string& given) {
           drift_level = parse_number("--drift-level", given, open_fraction);
         },
         "probability of a false notice of drift [0.01]")
      ->type_name("P")
      ->take_last()
      ->group(group);
  text("--id", id_, "COLUMN",
       "rows have names: a column of CSV; 'comment': what stands behind # "
       "in LIBSVM text");
  text("--delay", delay_text_, "N", "rows that may wait for a label that comes later, by its id");
  text("--on-error", on_error_text_, "skip|stop",
       "what to do about a line that cannot be read "
       "[stop]");
  app.add_flag("--follow", follow, "go on when the file grows")->group(group);
  text("--listen", listen, "HOST:PORT", "take rows from connections: one line in, one line out");
  count("--connections", connections, 1, "connections at a time [16]");
  count("--most-bytes", most_bytes, 64, "bytes of a line [1048576]");
  text("--checkpoint", checkpoint, "FILE", "where the state goes, also on a signal");
  text("--every", every_text_, "N|TIME", "rows or time between checkpoints");
  app.add_flag("--resume", resume, "go on where --checkpoint FILE ends")->group(group);
  app.add_flag("--json", json, "reports as JSON, one object a line")->group(group);
  app.add_flag("--quiet", quiet, "no reports")->group(group);
}

void StreamArguments::check() {
  learning.kernel = kernel_.make_without_data();
  make_learner();
  const bool dual = learning.lasvm || learning.exact;
  if (certificates && !dual)
    throw Error(Fault::usage, "--certificates has no effect with a rule",
                "leave it out, or add --lasvm or --exact");
  if (finish && !dual) require_finishable(learning.learner());
  if (learning.keep && !finish)
    throw Error(Fault::usage, "--keep has no effect without --finish", "leave it out, or add it");
  feed();
  if (!report_text_.empty()) report = parse_every("--report-every", report_text_, false);
  if (!every_text_.empty()) every = parse_every("--every", every_text_, true);
  if (!on_error_text_.empty() && on_error_text_ != "skip" && on_error_text_ != "stop")
    throw Error(Fault::usage, fmt::format("--on-error: unknown choice '{}'", on_error_text_),
                suggestion(on_error_text_, {"skip", "stop"}));
  on_error = on_error_text_ == "skip" ? OnError::skip : OnError::stop;
  if (!every.never() && checkpoint.empty())
    throw Error(Fault::usage, "--every has no effect without --checkpoint",
                "add --checkpoint FILE");
  if (resume && checkpoint.empty())
    throw Error(Fault::usage, "--resume needs the checkpoint to start from",
                "add --checkpoint FILE");
  named = !id_.empty();
  if (!delay_text_.empty()) delay = parse_count("--delay", delay_text_, 1, 1u << 30);
  if (delay > 0 && !named)
    throw Error(Fault::usage, "--delay needs the ids of rows", "add --id COLUMN");
  if (follow && (input == "-" || is_listening()))
    throw Error(Fault::usage, "--follow needs a file", "give its name in place of -");
  if (is_listening() && input != "-")
    throw Error(Fault::usage, "--listen takes its rows from connections", "leave the file out");
  const char* const idle = !predictions.empty()       ? "--predictions"
                           : on_error_text_ == "stop" ? "--on-error stop"
                                                      : nullptr;
  if (is_listening() && idle != nullptr)
    throw Error(Fault::usage, fmt::format("{} has no effect with --listen", idle),
                "leave it out: each connection gets its own answers");
  if (is_listening() && listen.rfind(':') == std::string::npos)
    throw Error(Fault::usage, fmt::format("--listen: '{}' has no port", listen),
                "write 127.0.0.1:7000");
  if (!model.empty()) require_writable(model, {input});
  if (!checkpoint.empty()) require_writable(checkpoint, {input});
}

FeedOptions StreamArguments::feed() const {
  FeedOptions options;
  options.read = reading_.make();
  options.ids = named;
  if (!id_.empty() && id_ != "comment") options.read.id_column = id_;
  options.most_bytes = most_bytes;
  if (options.read.format == Format::idx || !options.read.label_file.empty())
    throw Error(Fault::usage, "a stream is text: LIBSVM, CSV or TSV", "leave idx files to train");
  return options;
}

}  // namespace maxmargin::cli::streaming
