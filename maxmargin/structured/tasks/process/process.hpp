#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "maxmargin/structured/oracle.hpp"
#include "maxmargin/structured/tasks/process/child.hpp"
#include "maxmargin/structured/tasks/task.hpp"

namespace maxmargin {

struct ProcessOptions {
  std::string command;        ///< for a shell
  double reply_seconds = 60;  ///< for each answer
  std::size_t copies = 1;     ///< processes, among which the examples of a batch are divided
};

/// An oracle in another program, in any language, by lines of JSON that docs/process.md describes.
/// All answers are checked; an Error names the example.
class ProcessOracle : public Oracle {
 public:
  ProcessOracle(const ProcessOptions& options, const std::string& data,
                const std::vector<std::string>* known);

  std::size_t examples() const override { return examples_; }
  std::size_t dimensions() const override { return dimensions_; }
  Structure truth(std::size_t i) const override { return labelled() ? truths_[i] : Structure{}; }
  double loss(std::size_t i, StructureView y) const override;
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override;
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override;
  std::vector<Structure> most_violated(std::span<const std::size_t> examples,
                                       std::span<const double> w, Ask ask,
                                       const Threads& threads) const override;
  Exactness exactness() const override { return exactness_; }
  bool answers(Ask ask) const override { return ask != Ask::slack || slack_; }
  bool is_structure(std::size_t i, StructureView y) const override;
  std::string example_name(std::size_t i) const override;

  bool labelled() const { return !truths_.empty(); }
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }

 private:
  struct Described {
    double loss = 0;
    JointFeatures features;
  };
  Described description(std::size_t i, StructureView y) const;
  /// Asks for the loss and features of those structures that are not cached.
  void describe(std::span<const std::size_t> examples, std::span<const Structure> ys) const;

  std::size_t examples_ = 0, dimensions_ = 0;
  bool slack_ = false;
  Exactness exactness_ = Exactness::exact;
  std::vector<Structure> truths_;
  std::vector<std::string> names_, vocabulary_;

  mutable std::mutex mutex_;  ///< guards all members below
  std::vector<std::unique_ptr<ChildProcess>> copies_;
  mutable std::vector<std::map<Structure, Described>> known_;
  mutable std::size_t known_numbers_ = 0;
};

StructuredTask process_task();

}  // namespace maxmargin
