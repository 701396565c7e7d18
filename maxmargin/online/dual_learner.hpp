#pragma once

#include <deque>

#include "maxmargin/online/expansion/active_pairs.hpp"
#include "maxmargin/online/expansion/kernel_rows.hpp"
#include "maxmargin/online/expansion/panel_loops.hpp"
#include "maxmargin/online/stream_learner.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

struct DualLearnerOptions {
  Kernel kernel{};
  double cost = 1;
  /// The machine of the last so many rows, kept at its optimum; 0: an online SMO that keeps only
  /// what may become a support vector.
  std::uint64_t window = 0;
  double tolerance = 1e-3;  ///< KKT violation that is left (of the online SMO: to start a step)
  std::size_t most_features = std::size_t{1} << 26;
  std::size_t most_classes = 1000;
  std::size_t cache_bytes = std::size_t{1} << 29;  ///< of kernel values between the rows
};

/// C-SVC on the rows that it holds: with signed variables alpha_i between 0 and C y_i,
///
///   min 1/2 alpha' K alpha - y'alpha,   sum alpha = 0,   g = y - K alpha.
///
/// The variables stay feasible at every moment, so that they have a certificate at every moment.
///
/// Without a window it is LASVM (Bordes et al. 2005): a new row makes one step with the row that
/// violates optimality most (process), then the two rows that do so most make one (reprocess), and
/// rows that are beyond the margin are let go. With a window every row is held until it leaves at
/// the other end or is forgotten; what it had of alpha is handed to others before it goes, and
/// pairs are moved (with the second-order choice of SMO, among the rows that may move) until the
/// KKT violation is below the tolerance.
///
/// A row that changes costs its kernel row, kept where it fits, and a pass over the gradient.
/// Several classes are machines against the rest that share the rows.
class DualLearner final : public StreamLearner {
 public:
  explicit DualLearner(DualLearnerOptions options);

  Outcome outcome() const override { return Outcome::classes; }
  OnlinePrediction predict(const StreamRow& x) override;
  Learned learn(const StreamRow& x, double label) override;
  Learned learn(const StreamRow& x, std::string_view label) override;
  bool forget(std::uint64_t number) override;

  const std::vector<std::string>& classes() const override { return classes_; }
  std::size_t terms() const override { return rows_.count(); }
  std::uint64_t updates() const override { return updates_; }
  Bound risk_bound() const override { return {{}, "rows are let go"}; }
  /// The worst of the machines, their objectives summed.
  std::optional<Certificate> certificate(const Threads& threads) const override;
  /// Moves pairs until every machine is within the tolerance.
  bool finish() override;
  std::span<const double> decision_values() const { return decision_; }
  std::uint64_t pair_steps() const { return pair_steps_; }

  Model model(std::uint64_t rows) const override;
  std::string state() const override;
  void restore(std::span<const std::byte> bytes, const std::string& name) override;

 private:
  static constexpr double largest_sum = 1e300;

  struct Dual {
    std::vector<double> alpha, gradient, y;  ///< by slot; y is 0 in free slots
    std::vector<double> least, most;         ///< of alpha; both 0 in free slots
    double bias = 0;
  };

  template <class Archive>
  void pass(Archive& archive);
  void check(const StreamRow& x) const;
  void evaluate(const StreamRow& x);
  bool sums_fit(double value) const;
  bool among_rows_fit(std::size_t slot);
  OnlinePrediction decide() const;
  int class_of(std::string_view name) const;
  Learned learn_row(const StreamRow& x, int class_number);
  void open_class();
  std::size_t add(const StreamRow& x, int class_number);
  void process(Dual& dual, std::size_t slot);
  void remove(std::size_t slot);
  void hand_over(Dual& dual, std::size_t slot);
  void optimise(Dual& dual);
  void widen_active(const Dual& dual, const PairEnds& ends);
  void let_go();
  PairEnds ends(const Dual& dual) const;
  void step(Dual& dual, std::size_t up, std::size_t down);
  void move(Dual& dual, std::size_t up, std::size_t down, double by);
  void set_bias(Dual& dual);
  void refresh(Dual& dual);
  std::span<const double> kernel_row(std::size_t slot) { return kernel_rows_.of(slot, rows_); }
  void take_from(Dual& dual, const ActivePairs& active);
  double target_of(std::size_t machine, int class_number) const;
  void set_bounds(Dual& dual, std::size_t slot) const;
  PairArrays arrays(const Dual& dual) const;
  static double room_up(const Dual& dual, std::size_t slot);
  static double room_down(const Dual& dual, std::size_t slot);
  /// The first row of that gradient that can go down.
  static std::size_t first_to_fall(const Dual& dual, double gradient);
  void note_arrival(std::size_t slot);
  Features held(std::vector<std::size_t>& slots) const;
  Certified certified(const Dual& dual, const std::vector<std::size_t>& slots,
                      std::shared_ptr<const Quadratic> K, const Threads& threads) const;

  DualLearnerOptions options_;
  Expansion rows_;
  std::vector<int> class_;  ///< of each slot
  std::vector<Dual> machines_;
  std::vector<std::string> classes_;
  NumberedClasses by_number_;
  std::size_t columns_ = 0;
  std::uint64_t steps_ = 0, updates_ = 0, pair_steps_ = 0;

  std::vector<double> selves_;  ///< k(x_i, x_i) by slot
  /// Of a window: numbers and slots of its rows, the oldest first.
  std::deque<std::pair<std::uint64_t, std::size_t>> arrivals_;
  KernelRows kernel_rows_;
  ActivePairs active_;
  std::vector<std::size_t> movable_;
  std::vector<double> k_, decision_;
  double self_ = 0;
};

}  // namespace maxmargin
