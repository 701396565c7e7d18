#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "maxmargin/model/model.hpp"
#include "maxmargin/train/formulate/subproblem_list.hpp"

namespace maxmargin {

/// The machines a task consists of: one for regression and one-class, one per pair of classes or
/// per class for classification. Rows of weight 0 are absent. Throws Error when the data does not
/// fit the task: no labels, one class only, labels that are no numbers, a class weight for an
/// unknown class, a nu that no solution has.
struct Subproblems {
  Outcome outcome = Outcome::classes;
  Multiclass multiclass = Multiclass::one_vs_one;
  std::vector<std::string> classes;
  bool numeric_classes = true;
  SubproblemList list;
  /// What is said of machines that there was no time for, which are not in the list any more.
  Untrained untrained{};
};
Subproblems subproblems(const Dataset& data, const Task& task);

/// The same machines without some of the rows: `left_out[row]`. A machine that lacks one of its
/// classes then is not among them.
Subproblems without(const Subproblems& problems, const std::vector<bool>& left_out);

}  // namespace maxmargin
