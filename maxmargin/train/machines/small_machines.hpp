#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "maxmargin/train/machines/few_rows.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

/// A fast path for machines of a few rows, of which hundreds of classes make tens of thousands: the
/// overhead of the general path would be ten times the time of the solution. All share one matrix
/// of kernel values in double, and scratch memory is reused.
///
/// They are FewRows. certify() judges them like all machines, and where the tolerances are missed
/// the general path is taken.
class SmallMachines {
 public:
  /// Computes the kernel values where the options leave open how to solve, and enough machines are
  /// small. `data` must outlive it.
  SmallMachines(const Examples& data, const Subproblems& problems, const TrainOptions& options,
                const Context& context);
  ~SmallMachines();

  /// Nothing where the machine is not one of these.
  std::optional<TrainedMachine> train(const Subproblem& problem, const MachineRun& run) const;

 private:
  struct Scratch;
  class Borrowed;

  bool takes(const Subproblem& problem) const;
  void tell(const MachineRun& run) const;

  const Examples& data_;
  std::size_t most_rows_;       // of a machine
  std::vector<double> values_;  // of K over all points; none where no machine is taken
  std::optional<MatrixTraits> traits_;
  std::size_t points_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> free_;
  mutable std::size_t lent_ = 0;
  mutable double told_ = -infinity;  // seconds: the first machine is told of at once
  Stopwatch clock_;
};

}  // namespace maxmargin
