#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "maxmargin/train/machines/few_rows.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

/// Machines of a few rows, of which hundreds of classes make tens of thousands: what the general
/// way allocates and decides for each of them takes ten times as long as its solution. Here all
/// share one matrix of kernel values in double, and scratch memory goes from machine to machine.
///
/// They are FewRows. The certificate is that of all machines (certify), and one that is not what
/// was asked for is no answer: the general way is taken then.
class SmallMachines {
 public:
  /// Keeps kernel values where the options leave it to us how to solve, and enough machines are
  /// small. `data` has to stay.
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
