#include <fmt/format.h>

#include <numeric>

#include "cli/libsvm/talk.hpp"
#include "cli/svmstruct/commands.hpp"
#include "cli/svmstruct/text_model.hpp"
#include "cli/terminal/output.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/model/file/whole_file.hpp"

namespace maxmargin::cli::svmstruct {

int classify(const Program& program, Arguments arguments) {
  static const std::string usage = fmt::format(
      "Usage: svm_{}_classify [options] example_file model_file output_file\n"
      "options:\n"
      "         -v 0|1      whether to print anything (default 1)\n"
      "         -y, -f      are read and have no effect\n"
      "This is maxmargin; 'maxmargin predict --help' shows what else it can do.\n",
      program.name);
  int verbosity = 1;
  libsvm::OptionReader options(arguments, usage.c_str());
  while (options.next()) {
    if (options.letter() == 'v')
      verbosity = options.whole();
    else if (options.letter() == 'y' || options.letter() == 'f')
      options.whole();
    else
      options.unknown();
  }
  const Arguments files = options.files(2, 3);
  const std::string test = files[0], model_file = files[1],
                    output = files.size() > 2 ? files[2] : "svm_predictions";

  libsvm::Talk talk(verbosity > 0 ? libsvm::Talk::Loud::yes : libsvm::Talk::Loud::no);
  require_writable(output, {test, model_file});
  talk.say("Reading model...");
  const StructuredModel model = is_text_model(model_file)
                                    ? read_text_model(model_file, program.task)
                                    : load_structured(model_file);
  if (model.task != program.task)
    throw libsvm::Worded(fmt::format("ERROR: {} is a model of task '{}', not of svm_{}_learn",
                                     model_file, model.task, program.name));
  talk.say("done.\nReading test examples...");
  const Threads threads(libsvm::thread_count({test}));
  const StructuredTask& task = *structured_task_named(model.task);
  const auto data = task.read(test, task.settings(model.settings), &model.vocabulary, threads);
  talk.say(read_line(program, *data) + ".\nClassifying test examples...");
  const Stopwatch watch;
  const std::vector<double> w = scores_of(model, *data);
  const std::vector<Structure> found = predict_structures(data->oracle(), w, threads);
  const double seconds = watch.seconds();
  Classified result{model, *data, w, found, {}};
  if (data->labelled()) {
    std::vector<std::size_t> all(found.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    result.scores = data->score(all, found, w);
  }
  const std::string lines = program.lines(result);
  WholeFile file(output);
  file.write(std::as_bytes(std::span(lines.data(), lines.size())));
  file.commit();
  talk.say(fmt::format("done\nRuntime (without IO) in cpu-seconds: {:.2f}\n", seconds));
  if (!result.scores.empty()) talk.say(program.summary(result));
  talk.end();
  return 0;
}

}  // namespace maxmargin::cli::svmstruct
