#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/libsvm/arguments.hpp"
#include "cli/libsvm/summary.hpp"
#include "cli/libsvm/talk.hpp"
#include "cli/options/reading.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/signals.hpp"
#include "maxmargin/libsvm/predict.hpp"
#include "maxmargin/libsvm/text.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli::libsvm {
namespace {

constexpr const char* predict_usage =
    "Usage: svm-predict [options] test_file model_file output_file\n"
    "options:\n"
    "-b probability_estimates : 0 or 1, also write probabilities (default 0)\n"
    "-q : print nothing\n"
    "This is maxmargin; 'maxmargin predict --help' shows what else it can do.\n";

// Rows of a batch: enough to keep all cores busy. Fewer where there are decision values of
// thousands of pairs: as many rows as stay in the caches, or a few that share a pass over the
// coefficients.
constexpr std::size_t most_rows = 8192, few_rows = 8;
constexpr std::size_t bytes_in_cache = std::size_t{8} << 20, most_bytes = std::size_t{64} << 20;

struct PredictCommand {
  int probability = 0;
  bool quiet = false;
  std::string data, model, output;
};

PredictCommand parse_predict(Arguments arguments) {
  PredictCommand command;
  OptionReader options(arguments, predict_usage);
  while (options.next()) switch (options.letter()) {
      case 'b':
        command.probability = options.whole();
        break;
      case 'q':
        command.quiet = true;
        break;
      default:
        options.unknown();
    }
  const Arguments files = options.files(3, 3);
  command.data = files[0];
  command.model = files[1];
  command.output = files[2];
  return command;
}

std::string summary_text(const Summary& summary, bool regression) {
  if (regression)
    return fmt::format(
        "Mean squared error = {:g} (regression)\n"
        "Squared correlation coefficient = {:g} (regression)\n",
        summary.mean_squared_error(), summary.squared_correlation());
  return fmt::format("Accuracy = {:g}% ({}/{}) (classification)\n", summary.accuracy() * 100,
                     summary.correct(), summary.total());
}

LibsvmModel load_either(const std::string& path) {
  try {
    return load_any_as_libsvm(path);
  } catch (const Error& error) {
    throw Worded("can't open model file " + path, error.what());
  }
}

WholeFile open_output(const PredictCommand& command) {
  try {
    require_other_file(command.output, {command.data, command.model});
    return WholeFile(command.output);
  } catch (const Error& error) {
    throw Worded("can't open output file " + command.output, error.what());
  }
}

/// Writes what is predicted, row by row.
class Writer {
 public:
  Writer(const LibsvmModel& model, bool probabilities)
      : model_(model), predictor_(model), probabilities_(probabilities) {}

  /// What stands above the rows.
  std::string head() const {
    if (!probabilities_ || is_regression()) return {};
    if (model_.type == LibsvmType::one_class) return "label normal outlier\n";
    return fmt::format("labels {}\n", fmt::join(model_.labels, " "));
  }
  bool is_regression() const {
    return !predicts_classes(model_.type) && model_.type != LibsvmType::one_class;
  }

  std::size_t rows_at_a_time() const {
    const std::size_t bytes = std::max<std::size_t>(1, predictor_.pairs()) * sizeof(double);
    const std::size_t in_cache = bytes_in_cache / bytes;
    if (in_cache < few_rows) return std::clamp<std::size_t>(most_bytes / bytes, 1, few_rows);
    return std::min(in_cache, most_rows);
  }

  std::string lines(const Dataset& batch, const Threads& threads, Summary& summary) const {
    const std::size_t pairs = predictor_.pairs();
    const std::vector<double> values = predictor_.decision_values(batch.x, threads);
    std::string text;
    const auto to = std::back_inserter(text);
    for (std::size_t i = 0; i < batch.rows(); ++i) {
      const auto f = std::span(values).subspan(i * pairs, pairs);
      const bool with_probabilities = probabilities_ && !is_regression();
      const double predicted = with_probabilities ? predictor_.likeliest(f) : predictor_.predict(f);
      if (with_probabilities)
        fmt::format_to(to, "{:g} {:g}\n", predicted, fmt::join(predictor_.probabilities(f), " "));
      else
        fmt::format_to(to, "{:.17g}\n", predicted);
      summary.add(predicted, batch.y[i]);
    }
    return text;
  }

 private:
  const LibsvmModel& model_;
  LibsvmPredictor predictor_;
  bool probabilities_;
};

void check_probability(const LibsvmModel& model, const PredictCommand& command, Talk& talk) {
  const bool there = !model.prob_a.empty() || !model.marks.empty();
  if (command.probability != 0 && !there)
    throw Worded("Model does not support probabiliy estimates");
  if (command.probability == 0 && there)
    talk.say("Model supports probability estimates, but disabled in prediction.\n");
}

}  // namespace

int predict(Arguments arguments) {
  const PredictCommand command = parse_predict(arguments);
  const StartedThreads threads(thread_count({command.data, command.model}));
  Reader reader =
      reading(command.data, [&] { return Reader(command.data, read_options(), threads); });
  WholeFile output = open_output(command);
  const RemovedOnSignal removed(output.temporary());
  Talk talk(command.quiet ? Talk::Loud::no : Talk::Loud::yes);
  const LibsvmModel model = load_either(command.model);
  check_probability(model, command, talk);
  const Writer writer(model, command.probability != 0);
  if (command.probability != 0 && writer.is_regression())
    talk.say(
        fmt::format("Prob. model for test data: target value = predicted value + z,\n"
                    "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={:g}\n",
                    model.prob_a[0]));

  Summary summary;
  std::string lines = writer.head();
  while (true) {
    output.write(std::as_bytes(std::span(lines)));
    const Dataset batch =
        reading(command.data, [&] { return reader.next(writer.rows_at_a_time()); });
    if (batch.rows() == 0) break;
    lines = writer.lines(batch, threads, summary);
  }
  output.commit(Sync::leave);
  talk.say(summary_text(summary, writer.is_regression()));
  talk.end();
  return 0;
}

}  // namespace maxmargin::cli::libsvm
