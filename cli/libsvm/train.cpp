#include "maxmargin/libsvm/train.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "cli/libsvm/arguments.hpp"
#include "cli/libsvm/summary.hpp"
#include "cli/libsvm/talk.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/signals.hpp"
#include "maxmargin/libsvm/text.hpp"

namespace maxmargin::cli::libsvm {
namespace {

constexpr const char* train_usage =
    "Usage: svm-train [options] training_set_file [model_file]\n"
    "options:\n"
    "-s svm_type : what to train (default 0)\n"
    "\t0 -- C-SVC\t\t(classes)\n"
    "\t1 -- nu-SVC\t\t(classes)\n"
    "\t2 -- one-class SVM\n"
    "\t3 -- epsilon-SVR\t(numbers)\n"
    "\t4 -- nu-SVR\t\t(numbers)\n"
    "-t kernel_type : the kernel (default 2)\n"
    "\t0 -- linear: u'*v\n"
    "\t1 -- polynomial: (gamma*u'*v + coef0)^degree\n"
    "\t2 -- radial basis function: exp(-gamma*|u-v|^2)\n"
    "\t3 -- sigmoid: tanh(gamma*u'*v + coef0)\n"
    "\t4 -- precomputed (kernel values in training_set_file)\n"
    "-d degree : of the polynomial kernel (default 3)\n"
    "-g gamma : of the kernel (default 1/num_features)\n"
    "-r coef0 : of the kernel (default 0)\n"
    "-c cost : C of C-SVC, epsilon-SVR and nu-SVR (default 1)\n"
    "-n nu : of nu-SVC, one-class SVM and nu-SVR (default 0.5)\n"
    "-p epsilon : half width of the tube of epsilon-SVR (default 0.1)\n"
    "-m cachesize : MB for kernel values (default: what is free)\n"
    "-e epsilon : largest violation of the optimality conditions at the end (default 0.001)\n"
    "-h shrinking : 0 or 1, taken and of no effect: the answer is the same (default 1)\n"
    "-b probability_estimates : 0 or 1, train a model that can give probabilities (default 0)\n"
    "-wi weight : C of class i becomes weight*C, for C-SVC (default 1)\n"
    "-v n : n-fold cross validation\n"
    "-q : print nothing\n"
    "This is maxmargin; 'maxmargin train --help' shows what else it can do.\n";

struct TrainCommand {
  LibsvmParameters parameters;
  int folds = 0;
  bool quiet = false;
  std::string data, model;
};

TrainCommand parse_train(Arguments arguments) {
  TrainCommand command;
  LibsvmParameters& to = command.parameters;
  OptionReader options(arguments, train_usage);
  while (options.next()) switch (options.letter()) {
      case 's':
        to.svm_type = options.whole();
        break;
      case 't':
        to.kernel_type = options.whole();
        break;
      case 'd':
        to.degree = options.whole();
        break;
      case 'g':
        to.gamma = options.number();
        break;
      case 'r':
        to.coef0 = options.number();
        break;
      case 'n':
        to.nu = options.number();
        break;
      case 'm':
        to.cache_size = options.number();
        break;
      case 'c':
        to.C = options.number();
        break;
      case 'e':
        to.eps = options.number();
        break;
      case 'p':
        to.p = options.number();
        break;
      case 'h':
        to.shrinking = options.whole();
        break;
      case 'b':
        to.probability = options.whole();
        break;
      case 'v':
        command.folds = options.whole();
        if (command.folds < 2) throw Misused("n-fold cross validation: n must >= 2", train_usage);
        break;
      case 'w': {
        const int label = whole_in_option("-w", options.glued());
        to.weight.emplace_back(label, options.number());
        break;
      }
      case 'q':
        command.quiet = true;
        break;
      default:
        options.unknown();
    }
  const Arguments files = options.files(1, 2);
  command.data = files[0];
  if (files.size() > 1) {
    command.model = files[1];
  } else if (command.data == "-") {
    throw Misused("standard input has no name to derive the model's from", train_usage);
  } else {
    command.model = command.data.substr(command.data.rfind('/') + 1) + ".model";
    if (command.model.starts_with('-')) command.model.insert(0, "./");
  }
  return command;
}

void check_parameters(const LibsvmParameters& parameters) {
  if (const char* wrong = check(parameters)) throw Worded(std::string("ERROR: ") + wrong);
}

/// Fails now, before any work, if the model could not be written later.
void check_model_file(const std::string& path, const std::string& data) {
  try {
    require_writable(path, {data});
  } catch (const Error& error) {
    throw Worded("can't save model to file " + path, error.what());
  }
}

/// Throws for parameters that LIBSVM silently accepts and gets wrong.
void check_labels(const TrainCommand& command, const Dataset& data) {
  if (!predicts_classes(command.parameters.type())) return;
  if (const auto broken = first_broken_label(data.y))
    throw Worded(
        fmt::format("ERROR: {}: the label of row {} is {}; LIBSVM would make it a whole "
                    "number of its own. Give classes whole numbers, or use -s 3 to "
                    "predict numbers",
                    command.data, *broken + 1, shortest(data.y[*broken])));
  if (libsvm_classes(data.y).size() < 2)
    throw Worded(
        fmt::format("ERROR: {}: there is only one class, {}; classification needs two. "
                    "For one class use -s 2",
                    command.data, shortest(data.y[0])));
  if (const char* wrong = check_nu(command.parameters, data.y))
    throw Worded(std::string("ERROR: ") + wrong,
                 fmt::format("the largest feasible nu is {}",
                             shortest(std::floor(1e6 * largest_nu(data.y)) / 1e6)));
}

std::string cross_validation_text(LibsvmType type, std::span<const double> predicted,
                                  std::span<const double> targets) {
  Summary summary;
  for (std::size_t i = 0; i < targets.size(); ++i) summary.add(predicted[i], targets[i]);
  if (predicts_classes(type) || type == LibsvmType::one_class)
    return fmt::format("Cross Validation Accuracy = {:g}%\n", 100 * summary.accuracy());
  return fmt::format(
      "Cross Validation Mean squared error = {:g}\n"
      "Cross Validation Squared correlation coefficient = {:g}\n",
      summary.mean_squared_error(), summary.squared_correlation());
}

}  // namespace

int train(Arguments arguments) {
  TrainCommand command = parse_train(arguments);
  const StartedThreads threads(thread_count({command.data}));
  Dataset data = reading(command.data, [&] { return read(command.data, read_options(), threads); });
  LibsvmParameters& parameters = command.parameters;
  const std::size_t last_index = data.x.columns() > 0 ? data.x.columns() - 1 : 0;
  if (parameters.gamma == 0 && last_index > 0)
    parameters.gamma = 1 / static_cast<double>(last_index);
  check_parameters(parameters);
  check_labels(command, data);
  if (command.folds == 0) check_model_file(command.model, command.data);

  const StopRequest request;
  Talk talk(command.quiet ? Talk::Loud::no : Talk::Loud::yes);
  LibsvmRun run{.threads = threads};
  if (!command.quiet) run.print = [&](const std::string& text) { talk.say(text); };
  run.warn = [](const std::string& text) { tell(text); };
  run.random = std::rand;  // unseeded, as LIBSVM has it: the same folds every time
  run.stop = [&] { return request.made(); };
  if (command.folds > 0) {
    std::vector<double> targets = data.y;
    const std::vector<double> predicted =
        libsvm_cross_validation(std::move(data), parameters, command.folds, run);
    if (request.made()) {
      tell(fmt::format("stopped by {}: not all folds were trained, there is no score\n",
                       request.name()));
      return exit_stopped;
    }
    print(cross_validation_text(parameters.type(), predicted, targets));
    return 0;
  }
  const LibsvmModel model = libsvm_train(std::move(data), parameters, run);
  save_libsvm(model, command.model, Sync::leave, threads);
  if (request.made()) {
    tell(
        fmt::format("stopped by {}: {} is the best model so far\n", request.name(), command.model));
    return exit_stopped;
  }
  talk.end();
  return 0;
}

}  // namespace maxmargin::cli::libsvm
