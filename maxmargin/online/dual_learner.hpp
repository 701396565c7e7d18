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
  /// Size of a sliding window whose machine is solved after every row; 0: LASVM.
  std::uint64_t window = 0;
  double tolerance = 1e-3;  ///< largest KKT violation; LASVM: of a pair that makes no step
  std::size_t most_features = std::size_t{1} << 26;
  std::size_t most_classes = 1000;
  std::size_t cache_bytes = std::size_t{1} << 29;  ///< of the kernel cache
};

/// LASVM (Bordes, Ertekin, Weston and Bottou 2005), and SMO on a sliding window: C-SVC over the
/// rows that are held, with signed variables alpha_i between 0 and C y_i,
///
///   min 1/2 alpha' K alpha - y'alpha,   sum alpha = 0,   gradient g = y - K alpha.
///
/// alpha is feasible after every row, and so has a certificate at any time.
///
/// LASVM, without a window: process makes a pair step of the new row and the row that violates the
/// KKT conditions most with it, reprocess one of the most violating pair, and non-support vectors
/// beyond the margin are removed. With a window a row is held until as many came after it, or it is
/// unlearned; other rows take over its alpha before it is removed, and SMO with second-order
/// selection moves pairs until the KKT violation is within the tolerance.
///
/// A variable that moves costs its kernel row, cached as far as there is room, and a pass over the
/// gradient. Several classes are one-vs-rest machines over the same rows.
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
  Bound risk_bound() const override { return {{}, "rows are removed"}; }
  /// Objectives and gaps summed over the machines, the largest of everything else.
  std::optional<Certificate> certificate(const Threads& threads) const override;
  /// Solves every machine to the tolerance.
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
  bool kernel_row_fits(std::size_t slot);
  OnlinePrediction decide() const;
  int class_of(std::string_view name) const;
  Learned learn_row(const StreamRow& x, int class_number);
  void add_class();
  std::size_t add(const StreamRow& x, int class_number);
  void process(Dual& dual, std::size_t slot);
  void remove(std::size_t slot);
  void transfer_alpha(Dual& dual, std::size_t slot);
  void optimise(Dual& dual);
  void add_to_active(const Dual& dual, const ViolatingPair& worst);
  void remove_non_support_vectors();
  ViolatingPair worst_pair(const Dual& dual) const;
  void step(Dual& dual, std::size_t up, std::size_t down);
  void move(Dual& dual, std::size_t up, std::size_t down, double by);
  void set_bias(Dual& dual);
  void recompute_gradient(Dual& dual);
  std::span<const double> kernel_row(std::size_t slot) { return kernel_rows_.of(slot, rows_); }
  void update_from(Dual& dual, const ActivePairs& active);
  double target_of(std::size_t machine, int class_number) const;
  void set_bounds(Dual& dual, std::size_t slot) const;
  PairArrays arrays(const Dual& dual) const;
  static double room_up(const Dual& dual, std::size_t slot);
  static double room_down(const Dual& dual, std::size_t slot);
  /// The first slot with this gradient whose alpha can decrease.
  static std::size_t slot_of_lowest(const Dual& dual, double gradient);
  void record_arrival(std::size_t slot);
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

  std::vector<double> self_values_;  ///< k(x_i, x_i) by slot
  /// With a window: numbers and slots of its rows, the oldest first.
  std::deque<std::pair<std::uint64_t, std::size_t>> arrivals_;
  KernelRows kernel_rows_;
  ActivePairs active_;
  std::vector<std::size_t> movable_;
  std::vector<double> k_, decision_;
  double self_ = 0;
};

}  // namespace maxmargin
