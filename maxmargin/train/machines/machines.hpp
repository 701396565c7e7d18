#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/solve_from.hpp"
#include "maxmargin/train/formulate/prepared.hpp"
#include "maxmargin/train/memory.hpp"

namespace maxmargin {

/// The result of training one machine.
struct TrainedMachine {
  Certified certified;
  std::vector<std::pair<Index, double>> coefficients;  ///< of rows of the data
  std::string solver, reason;
  double true_dual = -infinity;
  std::optional<Improvement> improvement{};
  std::size_t rank = 0;  ///< with an improvement
  double residual = 1;
};

/// The machines of a list of problems, those that there was no time for being none. A place takes 8
/// bytes until there is a machine.
class TrainedList {
 public:
  TrainedList() = default;
  explicit TrainedList(std::size_t size) : machines_(size) {}

  std::size_t size() const { return machines_.size(); }
  bool empty() const { return machines_.empty(); }
  void resize(std::size_t size) { machines_.resize(size); }
  bool has(std::size_t k) const { return machines_[k] != nullptr; }
  /// One that is not there begins to be.
  TrainedMachine& operator[](std::size_t k) {
    if (!machines_[k]) machines_[k] = std::make_unique<TrainedMachine>();
    return *machines_[k];
  }
  const TrainedMachine& operator[](std::size_t k) const { return *machines_[k]; }
  /// The numbers of those that are there, which are all that is left.
  std::vector<std::size_t> keep_those_there() {
    std::vector<std::size_t> numbers;
    for (std::size_t k = 0; k < machines_.size(); ++k)
      if (machines_[k]) numbers.push_back(k);
    std::erase(machines_, nullptr);
    return numbers;
  }

 private:
  std::vector<std::unique_ptr<TrainedMachine>> machines_;
};

/// Reports the progress of several machines, trained one after another or side by side, to one
/// observer.
class Audience {
 public:
  /// Keeps a reference to the observer of the context.
  Audience(const Context& context, std::size_t machines)
      : observer_(context.observer),
        seconds_(context.seconds),
        machines_(machines),
        shares_(machines <= most_shares ? machines : 0, 0.0) {}

  Control tell(std::size_t machine, Progress progress) {
    const std::lock_guard lock(mutex_);
    set_share(machine, progress.done);
    progress.seconds = clock_.seconds();
    progress.done = std::min(1.0, sum_of_shares_ / static_cast<double>(machines_));
    if (answer_ == Control::proceed && observer_) answer_ = observer_(progress);
    return answer_;
  }
  void finished(std::size_t machine) {
    const std::lock_guard lock(mutex_);
    if (shares_.empty()) ++sum_of_shares_;
    set_share(machine, 1);
  }
  Control answer() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  /// Asks on behalf of machines that are trained so soon that none of them does, now and then.
  void look(std::size_t machine) {
    constexpr double between = 0.1;
    {
      const std::lock_guard lock(mutex_);
      const double now = clock_.seconds();
      if (now < looked_ + between) return;
      looked_ = now;
    }
    Progress progress;
    progress.phase = "train";
    tell(machine, progress);
  }
  /// The limits less the time that has passed; the limit is one for all machines.
  Stop rest_of(Stop stop) const {
    const double given = std::min(stop.seconds, seconds_);
    stop.seconds = answer() == Control::proceed ? std::max(0.0, given - clock_.seconds()) : 0;
    return stop;
  }
  /// Whether a machine that has not begun need not begin.
  bool is_over(const Stop& stop) const {
    if (is_over_.load(std::memory_order_relaxed)) return true;  // of millions, each asks
    if (rest_of(stop).seconds > 0) return false;
    is_over_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// A machine that had no time because another one was cancelled is cancelled, too.
  Ended ended(Ended machine) const {
    return answer() == Control::cancel && machine == Ended::time_limit ? Ended::cancelled : machine;
  }

 private:
  // Of more machines, only those that have finished count.
  static constexpr std::size_t most_shares = std::size_t{1} << 16;

  /// Updates the sum, since there may be millions of machines.
  void set_share(std::size_t machine, double share) {
    if (shares_.empty()) return;
    sum_of_shares_ += share - shares_[machine];
    shares_[machine] = share;
  }

  const Observer& observer_;
  const double seconds_;
  mutable std::mutex mutex_;
  const std::size_t machines_;
  std::vector<double> shares_;
  double sum_of_shares_ = 0;
  Control answer_ = Control::proceed;
  double looked_ = -infinity;
  mutable std::atomic<bool> is_over_ = false;
  Stopwatch clock_;
};

/// The environment of the training of one machine: options, context, and the audience.
struct MachineRun {
  const TrainOptions& options;
  const Context& given;  ///< its threads and its memory
  Audience& audience;
  std::size_t number;  ///< of the machine, to the audience

  MemoryBudget memory() const { return memory_for(options, given); }
  /// The limits less the time that has passed.
  Stop stop() const { return audience.rest_of(options.stop); }
  /// The context of its solver, which reports to the audience.
  Context context() const {
    return given.watched_by(
        [this](const Progress& progress) { return audience.tell(number, progress); });
  }
  Ended ended(Ended machine) const { return audience.ended(machine); }
  Judged judged() const { return options.certified ? Judged::apart : Judged::by_solver; }
};

/// The solver that the options ask for, or the one that fits, with the memory of the context.
Choice chosen_solver(const DualQp& qp, const Stop& stop, const TrainOptions& options,
                     const Context& context);

/// Many machines run side by side, one thread each; few share all threads one after another. The
/// result has the same bits either way.
bool side_by_side(std::size_t machines, const Threads& threads);

/// Calls `work(machine, context)` for each machine, with the memory and the threads that it has.
void for_each_machine(const Examples& data, const Subproblems& problems,
                      const TrainOptions& options, const Context& context,
                      const std::function<void(std::size_t, const Context&)>& work);

/// Translates a solution to the thresholds and function coefficients that the model stores, and
/// certifies these: a certificate in the orthonormal basis of the solvers would not include the
/// rounding of the translation.
void state_as_given(const Formulated& formulated, const Stop& stop, Certified& certified);

/// Trains the machine of a problem, with its variables and its f; from the coefficients `start` of
/// rows, where there are such.
TrainedMachine train_one(const Examples& data, const Formulated& formulated, const MachineRun& run,
                         std::span<const std::pair<Index, double>> start = {});

/// Machines and their problems. Those that there was no time for are in neither list: see
/// Subproblems::untrained.
struct TrainedMachines {
  Subproblems problems;
  TrainedList machines;
};

/// Whether it takes long to say of machines that have not begun when all has to end how good they
/// are as they are: there are more than a hundred, or they have many values of rows together.
bool takes_long_to_certify(const Examples& data, const SubproblemList& list);

/// The machine f = 0, where there was no time for another.
TrainedMachine nothing(const Subproblem& problem, const Audience& audience);

/// Trains all machines; their variables and f are discarded. Where that takes long to certify,
/// those that have not begun when all has to end are left out, but for one where there is no other.
TrainedMachines train_machines(const Examples& data, const Subproblems& problems,
                               const TrainOptions& options, const Context& context);

/// The bias of a machine that penalises it.
double sum_of_coefficients(const DualQp& qp, std::span<const double> a);

/// The thresholds of the two sides of a nu machine are its bias and half the width between them.
/// nu-SVC: b - rho and b + rho, and all is divided by rho; nu-SVR: b + epsilon and b - epsilon.
/// Where b is penalised or none, the one multiplier that there is is the width.
void set_width(const Subproblem& problem, Machine& machine);

/// The numbers of the support vectors of all machines, once each, and the machines over them.
void assemble(const Examples& data, const Subproblems& problems, const TrainedList& trained,
              Model& model);

/// The model of these machines, and the report of the training. It has the numbers of its support
/// vectors, but no copy of them.
Trained summed_up(const Prepared& prepared, const Subproblems& problems,
                  const TrainOptions& options, const TrainedList& machines, const Threads& threads);

/// The same with the support vectors.
Trained put_together(const Prepared& prepared, const Subproblems& problems,
                     const TrainOptions& options, const TrainedList& machines,
                     const Threads& threads);

}  // namespace maxmargin
