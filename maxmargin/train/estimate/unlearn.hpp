#pragma once

#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

/// Whether rows are counted by a nu, which is another one without a row.
bool has_nu(const Task& task);

/// A machine with all its examples, solved.
struct WholeMachine {
  const Formulated& formulated;
  const Subproblem& problem;
  const Certified& certified;
};

/// f, bias included, at each of some examples of the machine trained without it, by following the
/// solution while the example goes (solver/decremental); NaN where that is not proved to be as good
/// as the stop asks for, where it would take more than half of the memory, where its class has no
/// other example, and for machines with a nu or further functions.
std::vector<double> values_without(const WholeMachine& whole, std::span<const std::size_t> examples,
                                   const TrainOptions& options, const Context& context);

}  // namespace maxmargin
