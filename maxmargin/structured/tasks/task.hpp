#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// Whether a model stores the value of an option; otherwise it has to be given with the model
/// again.
enum class Stored { yes, no };

/// An option of a task, by its name on the command line.
struct TaskOption {
  std::string_view name, type, standard, help;
  Stored stored = Stored::yes;
};

/// The values of a task's options.
class Settings {
 public:
  std::map<std::string, std::string> values;

  const std::string& operator[](std::string_view name) const;
  bool given(std::string_view name) const { return !(*this)[name].empty(); }
  /// Throw a usage Error that names the option.
  std::uint64_t count(std::string_view name, std::uint64_t low, std::uint64_t high) const;
  double number(std::string_view name) const;
  bool yes(std::string_view name) const;  ///< "yes" or "no"
  /// The position of the value in the choices.
  std::size_t one_of(std::string_view name, std::initializer_list<std::string_view> choices) const;
};

/// Lists of words that a model stores to read other files as the training file: labels, attributes,
/// the lines of a template. No word contains an end of line.
using Vocabulary = std::map<std::string, std::vector<std::string>>;

using StructuredScores = std::vector<std::pair<std::string, double>>;

/// The examples of a task as read from a file.
class StructuredData {
 public:
  virtual ~StructuredData() = default;

  virtual const Oracle& oracle() const = 0;
  /// An oracle for the same examples by another algorithm, for verify.
  virtual const Oracle& witness() const = 0;
  /// That algorithm in words.
  virtual std::string_view witness_name() const { return "another oracle"; }
  virtual Vocabulary vocabulary() const = 0;
  /// What was read, in words: "8,936 sentences of 211,727 tokens".
  virtual std::string contents() const = 0;
  /// Whether the file contains the true structures.
  virtual bool labelled() const { return true; }
  /// Something in the file that the model does not know, such as a label that did not occur in
  /// training; empty: nothing. It counts as wrong in scores, and the file cannot be trained on.
  virtual std::string unknown() const { return {}; }
  /// The w that the oracle over this data is asked with, for the weights of a model; with a kernel
  /// these are coefficients of the training data. Throws Error where they do not fit.
  virtual std::vector<double> scores(std::vector<double> w) const;
  /// A warning about predictions for all examples, with file and line; empty: none.
  virtual std::string trouble(std::span<const Structure>) const { return {}; }
  /// Appends a prediction as lines of text.
  virtual void print(std::size_t example, StructureView y, std::span<const double> w,
                     std::string& out) const = 0;
  /// Where the only example consists of rows that folds can divide: how many there are, and the
  /// data of some of them.
  virtual std::size_t divisible_rows() const { return 0; }
  virtual std::unique_ptr<StructuredData> part(std::span<const std::size_t>) const {
    return nullptr;
  }
  /// Scores of the predictions; `predicted[k]` is for `examples[k]`.
  virtual StructuredScores score(std::span<const std::size_t> examples,
                                 std::span<const Structure> predicted,
                                 std::span<const double> w) const = 0;
};

/// The share of predictions that are exactly right, and the mean loss.
struct MeanScores {
  double right, loss;
};
MeanScores mean_scores(const Oracle& oracle, std::span<const std::size_t> examples,
                       std::span<const Structure> predicted);

/// A built-in task: a folder here and a line in tasks.cpp.
struct StructuredTask {
  std::string_view name, summary;
  std::span<const TaskOption> options;
  /// Reads a file, with the vocabulary of a model or (null) to train one. Throws Error with file
  /// and line.
  std::unique_ptr<StructuredData> (*read)(const std::string& path, const Settings& settings,
                                          const Vocabulary* known, const Threads& threads);

  /// The settings, with defaults; throws a usage Error for one that the task does not have.
  Settings settings(const std::map<std::string, std::string>& given) const;
  /// The settings that a model stores.
  std::map<std::string, std::string> stored(const Settings& settings) const;
};

/// The list of tasks.
std::span<const StructuredTask> structured_tasks();
/// Null where there is none of that name.
const StructuredTask* structured_task_named(std::string_view name);

/// The words of a vocabulary; throws Error when the model lacks them.
const std::vector<std::string>& words_of(const Vocabulary& vocabulary, const std::string& name);

}  // namespace maxmargin
