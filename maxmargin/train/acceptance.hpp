#pragma once

#include <string>
#include <vector>

#include "maxmargin/solver/solvers.hpp"
#include "maxmargin/task/task.hpp"

namespace maxmargin {

/// A task with one of its losses and one of its kinds of bias.
struct AcceptedForm {
  Task task;
  std::string loss;  ///< empty: the task has only one
  Bias bias = Bias::unpenalised;
};

/// Every combination that the lists of tasks, losses and biases allow.
std::vector<AcceptedForm> formulations();

/// The formulations that a solver accepts, found by asking its refuses() about a small problem of
/// each, so that this cannot differ from what it does.
struct Acceptance {
  std::vector<AcceptedForm> formulations;
  std::vector<AcceptedForm> indefinite;  ///< those of them that kernels of this kind may have too
  bool any_rows = false;                 ///< equality rows with any entries, any number of them
};
Acceptance acceptance_of(Solver solver);

}  // namespace maxmargin
