#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cli/libsvm/arguments.hpp"
#include "maxmargin/structured/train.hpp"

// The commands of SVMstruct's family as modes of this program: svm_NAME_learn and svm_NAME_classify
// for hmm, rank, multiclass and perf, called by that name (links to the program) or with it as the
// first word. Options, data and the lines on standard output are theirs; model files are this
// program's, so that `maxmargin verify` can judge them, or with --text theirs.

namespace maxmargin::cli::svmstruct {

using libsvm::Arguments;

/// The command line of a learner.
struct LearnOptions {
  double c = 0.01, epsilon = 0.1;
  int norm = 1, rescaling = 2, loss = -1, verbosity = 1, order = 1;
  int emissions = 0;  ///< order of those, of svm_hmm
  double bias = 1;
  bool text = false;                          ///< --text: the model as SVMstruct writes it
  double share = 0;                           ///< --p of svm_perf_learn; 0: its standard
  std::map<std::string, std::string> kernel;  ///< settings of the task, from -t -d -g -s -r
  std::string data, model;
};

/// The result of a classification.
struct Classified {
  const StructuredModel& model;
  const StructuredData& data;
  std::span<const double> w;
  std::span<const Structure> found;
  StructuredScores scores;
};

/// One of the programs.
struct Program {
  std::string_view name, task;
  double epsilon;                ///< what -e is otherwise
  bool counts_examples;          ///< whether it says how many it has read
  std::string_view extra_usage;  ///< beyond what all have
  /// C and the settings of the task; throws Worded for a loss that it does not know.
  std::function<double(const LearnOptions&, std::map<std::string, std::string>&)> translate;
  /// What stands behind "Reading training examples..." in the next line.
  std::function<std::string(const StructuredData&)> properties;
  /// Predictions as lines.
  std::function<std::string(const Classified&)> lines;
  /// The last lines of a classification.
  std::function<std::string(const Classified&)> summary;
};

std::span<const Program> programs();

/// What ends the line "Reading ... examples...".
std::string read_line(const Program& program, const StructuredData& data);

int learn(const Program& program, Arguments arguments);
int classify(const Program& program, Arguments arguments);

/// Runs the command of that name; nothing if there is none.
std::optional<int> run(std::string_view name, Arguments arguments);

}  // namespace maxmargin::cli::svmstruct
