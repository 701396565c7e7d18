#include <fmt/format.h>

#include <cmath>

#include "cli/libsvm/talk.hpp"
#include "cli/svmstruct/commands.hpp"
#include "cli/svmstruct/text_model.hpp"
#include "cli/terminal/watch.hpp"
#include "maxmargin/base/clock.hpp"

namespace maxmargin::cli::svmstruct {
namespace {

std::string learn_usage(const Program& program) {
  return fmt::format(
             "Usage: svm_{}_learn [options] example_file model_file\n"
             "options:\n"
             "         -c C        what slacks cost (default 0.01)\n"
             "         -e EPSILON  how exact the solution has to be (default {})\n"
             "         -p 1|2      slacks, or their squares (default 1)\n"
             "         -o 1|2      slack rescaling, or margin rescaling (default 2)\n"
             "         -v 0|1      whether to print anything (default 1)\n"
             "         --text 0|1  1: write the model as SVMstruct does, without certificate "
             "(default 0)\n"
             "         -w, -y, -k, -f, -q, -n, -m, -h, -#  are read and have no effect\n",
             program.name, program.epsilon) +
         std::string(program.extra_usage) + "This is maxmargin; 'maxmargin train --task " +
         std::string(program.task) + " --help' shows what else it can do.\n";
}

/// The kernel of -t, -d, -g, -s and -r as the task's settings name it.
std::map<std::string, std::string> kernel_settings(const std::map<char, std::string>& letters) {
  const auto value = [&](char letter, const char* otherwise) {
    const auto found = letters.find(letter);
    return found == letters.end() ? std::string(otherwise) : found->second;
  };
  const std::string type = value('t', "0");
  if (type == "0") return {};
  if (type == "1")
    return {{"kernel", "polynomial"},
            {"degree", value('d', "3")},
            {"gamma", value('s', "1")},
            {"coef0", value('r', "1")}};
  if (type == "2") return {{"kernel", "rbf"}, {"gamma", value('g', "1")}};
  throw libsvm::Worded("ERROR: -t " + type + ": there are 0 (linear), 1 (polynomial), 2 (rbf)");
}

LearnOptions parse_learn(const Program& program, Arguments arguments, const char* usage) {
  LearnOptions options;
  options.epsilon = program.epsilon;
  std::map<char, std::string> kernel;
  libsvm::OptionReader reader(arguments, usage);
  while (reader.next()) {
    const std::string value = reader.letter() == '?' ? "" : reader.text();
    const auto number = [&] {
      return libsvm::number_in_option(fmt::format("-{}", reader.letter()), value);
    };
    const auto whole = [&] {
      return libsvm::whole_in_option(fmt::format("-{}", reader.letter()), value);
    };
    switch (reader.letter()) {
      case 'c':
        options.c = number();
        break;
      case 'e':
        options.epsilon = number();
        break;
      case 'p':
        options.norm = whole();
        break;
      case 'o':
        options.rescaling = whole();
        break;
      case 'l':
        options.loss = whole();
        break;
      case 'v':
        options.verbosity = whole();
        break;
      case 'b':
        options.bias = number();
        break;
      case 't':
      case 'd':
      case 'g':
      case 's':
      case 'r':
        kernel[reader.letter()] = value;
        break;
      case 'w':
      case 'y':
      case 'k':
      case 'f':
      case 'q':
      case 'n':
      case 'm':
      case 'h':
      case '#':
        break;
      case '-':
        if (reader.glued() == "text")
          options.text = whole() != 0;
        else if (reader.glued() == "t" && program.name == "hmm")
          options.order = whole();
        else if (reader.glued() == "p" && program.name == "perf")
          options.share = number();
        else if (reader.glued() == "b" && program.name == "perf")
          options.bias = number();
        else if (reader.glued() == "e" && program.name == "hmm")
          options.emissions = whole();
        else if (reader.glued() == "b" && program.name == "hmm")
          whole();  // a beam: the search is exact, which is what wide ones come near to
        else
          reader.unknown();
        break;
      default:
        reader.unknown();
    }
  }
  options.kernel = kernel_settings(kernel);
  const Arguments files = reader.files(1, 2);
  options.data = files[0];
  options.model = files.size() > 1 ? files[1] : "svm_struct_model";
  if (!(options.c > 0)) throw libsvm::Misused("ERROR: -c must be greater than 0", usage);
  if (!(options.epsilon > 0)) throw libsvm::Misused("ERROR: -e must be greater than 0", usage);
  if (options.norm != 1 && options.norm != 2) throw libsvm::Misused("ERROR: -p is 1 or 2", usage);
  if (options.rescaling != 1 && options.rescaling != 2)
    throw libsvm::Misused("ERROR: -o is 1 or 2", usage);
  return options;
}

/// The length of the longest psi of a plane.
double longest_difference(const Oracle& oracle, const Planes& planes) {
  double longest = 0;
  JointFeatures psi;
  std::vector<double> dense(oracle.metric() == nullptr ? oracle.dimensions() : 0, 0.0);
  for (std::size_t i = 0; i < planes.size(); ++i)
    for (const Plane& plane : planes[i]) {
      psi.clear();
      oracle.difference(i, plane.y, 1, psi);
      double square = 0;
      if (oracle.metric() != nullptr) {
        square = oracle.metric()->inner(psi, psi);
      } else {
        for (std::size_t k = 0; k < psi.size(); ++k) dense[psi.index[k]] += psi.value[k];
        square = psi.dot(dense);
        for (const Index j : psi.index) dense[j] = 0;
      }
      longest = std::max(longest, std::sqrt(std::max(0.0, square)));
    }
  return longest;
}

std::string learning_report(const LearnOptions& options, const StructuredModel& model,
                            const StructuredData& data, double seconds) {
  const StructuredCertificate& c = model.certificate;
  const Structured problem{data.oracle(), model.C, model.rescaling, model.slack};
  const double norm =
      std::sqrt(std::max(0.0, StructuredWeights(problem, model.planes).squared_norm()));
  // c is what theirs multiplies, whatever ours is.
  const double xi = std::max(0.0, c.primal - norm * norm / 2) / options.c;
  return fmt::format(
      "Final epsilon on KKT-Conditions: {:.5f}\n"
      "Upper bound on duality gap: {:.5f}\n"
      "Dual objective value: dval={:.5f}\n"
      "Primal objective value: pval={:.5f}\n"
      "Total number of constraints in final working set: {} (of {})\n"
      "Number of iterations: {}\n"
      "Number of calls to 'find_most_violated_constraint': {}\n"
      "Number of SV: {} \n"
      "Norm of weight vector: |w|={:.5f}\n"
      "Value of slack variable (on working set): xi={:.5f}\n"
      "Value of slack variable (global): xi={:.5f}\n"
      "Norm of longest difference vector: ||Psi(x,y)-Psi(x,ybar)||={:.5f}\n"
      "Runtime in cpu-seconds: {:.2f}\n",
      c.gap / options.c, c.gap, c.dual, c.primal, c.planes, c.planes, model.iterations,
      model.oracle_calls, c.planes, norm, std::max(0.0, xi - c.gap / options.c), xi,
      longest_difference(data.oracle(), model.planes), seconds);
}

}  // namespace

std::string read_line(const Program& program, const StructuredData& data) {
  if (!program.counts_examples) return "done";
  return fmt::format(" ({} examples) done", data.oracle().examples());
}

int learn(const Program& program, Arguments arguments) {
  static const std::string usage = learn_usage(program);
  const LearnOptions options = parse_learn(program, arguments, usage.c_str());
  const StructuredTask& task = *structured_task_named(program.task);
  StructuredTraining training;
  std::map<std::string, std::string> given;
  // Their squared slacks cost C/2.
  training.C = program.translate(options, given) / (options.norm == 2 ? 2 : 1);
  given.insert(options.kernel.begin(), options.kernel.end());
  training.slack = options.norm == 2 ? Slack::squared : Slack::linear;
  training.rescaling = options.rescaling == 1 ? Rescaling::slack : Rescaling::margin;
  // At the usual epsilon a gap that their own solvers do not reach by much; below it in proportion.
  training.stop.relative_gap = 1e-3 * std::min(1.0, options.epsilon / program.epsilon);
  const Settings settings = [&] {
    try {
      return task.settings(given);
    } catch (const Error&) {
      throw libsvm::Worded(
          fmt::format("ERROR: svm_{}_learn has the linear kernel only", program.name));
    }
  }();

  libsvm::Talk talk(options.verbosity > 0 ? libsvm::Talk::Loud::yes : libsvm::Talk::Loud::no);
  require_writable(options.model, {options.data});
  const Threads threads(libsvm::thread_count({options.data}));
  talk.say("Reading training examples...");
  const auto data = task.read(options.data, settings, nullptr, threads);
  talk.say(read_line(program, *data) + "\n" + program.properties(*data));
  const Stopwatch watch;
  const auto write = [&](const StructuredModel& model) {
    if (options.text)
      save_text_model(model, options.model);
    else
      save(model, options.model);
  };
  training.rescue = write;
  const StopRequest request;
  const TrainedStructured trained =
      watched(options.data, training.stop, request, ProgressLine::Show::no,
              [&](const Observer& observer, ProgressLine&) {
                return train_structured(task, settings, *data, training, threads, observer);
              });
  if (!talk.is_quiet())
    talk.say(learning_report(options, trained.model, *data, watch.seconds()) +
             "Compacting linear model...done\nWriting learned model...");
  write(trained.model);
  talk.say("done\n");
  talk.end();
  return 0;
}

}  // namespace maxmargin::cli::svmstruct
