#include "maxmargin/model/predict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/options/reading.hpp"
#include "cli/options/running_options.hpp"
#include "cli/report/scores.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/file_name.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/signals.hpp"
#include "cli/terminal/units.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli {
namespace {

struct PredictArguments {
  std::string data, model, output;
  bool decision_values = false, probability = false, json = false, quiet = false;
  double level = 0.9;  ///< of the intervals of a regression
  bool level_given = false;
  int threads = 0;
  ReadingOptions reading;
};

/// Where predictions go: a file, standard output, or the JSON object.
class Sink {
 public:
  explicit Sink(const PredictArguments& arguments) {
    if (!arguments.output.empty()) {
      file_.emplace(arguments.output);
      removed_.emplace(file_->temporary());
    } else if (arguments.json) {
      collected_ = Json::array();
    }
  }

  bool collects() const { return !collected_.is_null(); }
  void collect(Json value) { collected_.push_back(std::move(value)); }
  void write(std::string_view lines) {
    if (file_)
      file_->write(std::as_bytes(std::span(lines)));
    else
      print(lines);
  }
  void commit() {
    if (file_) file_->commit();
    removed_.reset();
  }
  Json& collected() { return collected_; }

 private:
  std::optional<WholeFile> file_;
  std::optional<RemovedOnSignal> removed_;  ///< removes an incomplete file on a signal
  Json collected_;
};

/// The line of one row.
class Printer {
 public:
  Printer(const Model& model, const Predictor& predictor, const PredictArguments& arguments)
      : model_(model),
        predictor_(predictor),
        decision_values_(arguments.decision_values),
        probability_(arguments.probability),
        reach_(model.calibration.interval(arguments.level)) {}

  /// The first line, which names the columns of probabilities.
  std::string header() const {
    if (!probability_) return {};
    if (model_.outcome == Outcome::number) return "value lower upper\n";
    if (model_.outcome == Outcome::novelty) return "label p-value\n";
    return fmt::format("labels {}\n", fmt::join(model_.classes, " "));
  }

  /// Beside the prediction: the probability of each class, the ends of an interval, or a p-value.
  std::vector<double> beside(std::span<const double> values) const {
    if (!probability_) return {};
    if (model_.outcome == Outcome::classes) return predictor_.probabilities(values);
    if (model_.outcome == Outcome::novelty) return {model_.calibration.p_value(values[0])};
    return {values[0] + reach_.lower, values[0] + reach_.upper};
  }

  void append(std::string& text, std::span<const double> values, double predicted,
              std::span<const double> beside) const {
    if (decision_values_) {
      for (std::size_t m = 0; m < values.size(); ++m) {
        if (m > 0) text += ' ';
        text += shortest(values[m]);
      }
    } else if (model_.outcome == Outcome::classes) {
      text += model_.classes[static_cast<std::size_t>(predicted)];
    } else {
      text += shortest(predicted);
    }
    for (const double each : beside) text += ' ' + shortest(each);
    text += '\n';
  }
  Json json(std::span<const double> values, double predicted,
            std::span<const double> beside) const {
    if (decision_values_)
      return values.size() == 1 ? Json(values[0]) : Json(std::vector(values.begin(), values.end()));
    if (!probability_) return label(predicted);
    if (model_.outcome == Outcome::number)
      return {{"value", predicted}, {"lower", beside[0]}, {"upper", beside[1]}};
    Json object{{"label", label(predicted)}};
    if (model_.outcome == Outcome::novelty)
      object["p_value"] = beside[0];
    else
      object["probabilities"] = std::vector(beside.begin(), beside.end());
    return object;
  }

 private:
  Json label(double predicted) const {
    if (model_.outcome != Outcome::classes) return predicted;
    const std::string& name = model_.classes[static_cast<std::size_t>(predicted)];
    Json number = model_.numeric_classes ? Json::parse(name, nullptr, false) : Json(name);
    return number.is_discarded() ? Json(name) : number;
  }

  const Model& model_;
  const Predictor& predictor_;
  bool decision_values_, probability_;
  Calibration::Interval reach_;
};

/// Rows per batch: enough to keep the kernel tiles full, few enough to bound the memory, that of
/// the values of millions of machines, too.
std::size_t batch_rows(const Model& model) {
  constexpr std::size_t budget = std::size_t{1} << 29, most = 4096;
  const auto rows = [](std::size_t numbers) {
    return budget / (sizeof(double) * std::max<std::size_t>(1, numbers));
  };
  return std::clamp<std::size_t>(rows(2 * model.machines.size()), 1,
                                 std::clamp<std::size_t>(rows(model.features), 256, most));
}

void require_same_features(const Model& model, const Dataset& batch, const std::string& file) {
  if (model.feature_names.empty() || batch.feature_names.empty() ||
      model.feature_names == batch.feature_names)
    return;
  const auto differing = std::ranges::mismatch(model.feature_names, batch.feature_names);
  throw Error(Fault::data, Place{file, 1},
              fmt::format("the features are not those of the model: column '{}' where it has '{}'",
                          differing.in2 == batch.feature_names.end() ? "(none)" : *differing.in2,
                          differing.in1 == model.feature_names.end() ? "(none)" : *differing.in1),
              "give the label column with --label NAME, or --label none if there is none");
}

/// A file and its first rows.
struct Opened {
  std::unique_ptr<Reader> reader;
  Dataset first;
};

Opened open_data(const Model& model, const std::string& path, const ReadOptions& options,
                 const Threads& threads) {
  Opened opened;
  opened.reader = std::make_unique<Reader>(path, options, threads);
  opened.first = opened.reader->next(batch_rows(model));
  require_same_features(model, opened.first, path);
  return opened;
}

/// Opens the data as the command line and the model say. A table that has just the features of the
/// model, and no labels, is recognised by its header.
Opened open_data(const Model& model, PredictArguments& arguments, const Threads& threads) {
  const bool may_lack_labels =
      !arguments.reading.names_label() && arguments.data != "-" && !model.feature_names.empty();
  const ReadOptions options = arguments.reading.make_for(model, ReadingOptions::File::another);
  try {
    return open_data(model, arguments.data, options, threads);
  } catch (const Error& error) {
    if (!may_lack_labels || error.fault() == Fault::io) throw;
    ReadOptions bare = options;
    bare.labels = LabelKind::none;
    bare.label_column.clear();
    bare.weight_column.clear();
    bare.over_column.clear();
    try {
      return open_data(model, arguments.data, bare, threads);
    } catch (const Error&) {
      // The message about the usual way of reading is the better one.
    }
    throw;
  }
}

/// Where predictions come from, and where they go.
struct Predictions {
  const Model& model;
  const Predictor& predictor;
  const Printer& printer;
  Sink& sink;
  Scores& scores;
};

void predict_batch(const Predictions& to, const Dataset& batch, std::size_t first_row,
                   const Threads& threads) {
  const auto& [model, predictor, printer, sink, scores] = to;
  const std::vector<double> values =
      predictor.takes_as_it_is(batch.x) && model.functions.empty()
          ? predictor.decision_values(batch.x, threads)
          : predictor.decision_values(predictor.prepared(batch.x, threads, first_row), threads);
  const std::size_t machines = model.machines.size();
  std::string lines;
  for (std::size_t i = 0; i < batch.rows(); ++i) {
    const std::span<const double> row(values.data() + i * machines, machines);
    const double predicted = predictor.predict(row);
    const std::vector<double> beside = printer.beside(row);
    scores.add(batch, i, predicted);
    if (!beside.empty()) scores.add_beside(batch, i, beside);
    if (sink.collects())
      sink.collect(printer.json(row, predicted, beside));
    else
      printer.append(lines, row, predicted, beside);
  }
  if (!sink.collects()) sink.write(lines);
}

void check_probability(const Model& model, const PredictArguments& arguments) {
  if (arguments.level_given && (!arguments.probability || model.outcome != Outcome::number))
    throw Error(Fault::usage, "--level has no effect without the intervals of a regression",
                "leave it out, or add --probability");
  if (arguments.probability && arguments.decision_values)
    throw Error(Fault::usage, "--probability and --decision-values exclude each other",
                "give one of them");
  if (arguments.probability && model.calibration.none())
    throw Error(Fault::usage, Place{arguments.model}, "this model has no probabilities",
                "train it with --probability");
}

int run_predict(PredictArguments& arguments) {
  const ReadOptions reads = arguments.reading.make();
  if (arguments.output.empty())
    require_other_output(arguments.data);
  else
    require_writable(arguments.output, {arguments.data, arguments.model, reads.label_file});
  refuse_model(arguments.data, "maxmargin predict DATA MODEL");
  const Stopwatch watch;
  const Model model = load_any(arguments.model);
  const StartedThreads threads(arguments.threads);
  const Predictor predictor(model);
  check_probability(model, arguments);
  const Printer printer(model, predictor, arguments);
  auto opened = open_data(model, arguments, threads);
  Dataset batch = std::move(opened.first);
  Sink sink(arguments);
  Scores scores(model);
  if (!sink.collects()) sink.write(printer.header());
  std::size_t first_row = 0;
  for (; batch.rows() > 0; batch = opened.reader->next(batch_rows(model))) {
    naming(arguments.data, [&] {
      predict_batch({model, predictor, printer, sink, scores}, batch, first_row, threads);
    });
    first_row += batch.rows();
  }
  sink.commit();

  if (arguments.json) {
    Json object = scores.json();
    object["seconds"] = watch.seconds();
    object["output"] = arguments.output.empty() ? Json(nullptr) : Json(arguments.output);
    if (arguments.probability && model.outcome == Outcome::classes)
      object["class_names"] = model.classes;
    if (sink.collects()) object["predictions"] = std::move(sink.collected());
    print_json(object);
  } else if (!arguments.quiet) {
    if (arguments.output.empty())
      tell(scores.summary());
    else
      print(scores.summary());
  }
  return exit_ok;
}

}  // namespace

Verb add_predict(CLI::App& program) {
  CLI::App* app = program.add_subcommand("predict", "predict with a model; streams any size");
  app->set_help_flag("-h,--help", "show this help");
  auto arguments = std::make_shared<PredictArguments>();
  app->add_option("DATA", arguments->data, "rows to predict; - for standard input")->required();
  app->add_option("MODEL", arguments->model, "a model that 'maxmargin train' wrote")->required();
  app->add_option("-o,--output", arguments->output,
                  "where the predictions go, one line per row [standard output]")
      ->type_name("FILE")
      ->take_last();
  app->add_flag("--decision-values", arguments->decision_values,
                "write f(x) of every machine instead of labels");
  app->add_flag("--probability", arguments->probability,
                "write beside each prediction the probability of each class (that of the predicted "
                "one is the largest), the ends of an interval (regression) or a p-value (novelty)");
  app->add_option_function<std::string>(
         "--level",
         [arguments](const std::string& text) {
           arguments->level = parse_number("--level", text, open_fraction);
           arguments->level_given = true;
         },
         "share of the rows that the intervals of a regression hold [0.9]")
      ->type_name("SHARE")
      ->take_last();
  app->add_flag("--json", arguments->json,
                "print one JSON object; without -o it holds the predictions");
  app->add_flag("--quiet", arguments->quiet, "no summary");
  add_threads(*app, arguments->threads);
  arguments->reading.add_to(*app, ReadingOptions::Weights::no);
  app->footer(examples({"maxmargin predict test.svm a9a.model -o labels.txt",
                        "zcat big.csv.gz | maxmargin predict - houses.model > prices.txt",
                        "maxmargin predict test.svm a9a.model --probability",
                        "maxmargin predict test.svm a9a.model --decision-values"}) +
              "\n" + exit_code_help);
  return {app, [arguments] { return run_predict(*arguments); }};
}

}  // namespace maxmargin::cli
