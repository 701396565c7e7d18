#pragma once

#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

/// The problem of all classes at once, from those of each class against the rest.
struct FormulatedTogether {
  SimplexQp qp;
  /// The share that a row of the data has in an example: equal rows of one class are one.
  struct Share {
    Index row;
    Index example;
    double part;
  };
  std::vector<Share> shares;
  std::vector<Index> point_rows;  ///< a row of the data for each point of K
};
FormulatedTogether formulate_together(const Examples& data, const Subproblems& problems,
                                      const Kernel& kernel, const Threads& threads);

/// Trains all machines of `problems` in the one problem of Crammer and Singer. Throws Error for
/// what this has no room for: a free bias, functions, an approximated kernel, another solver.
TrainedList train_together(const Examples& data, const Subproblems& problems,
                           const TrainOptions& options, const Context& context);

}  // namespace maxmargin
