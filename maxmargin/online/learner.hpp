#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "maxmargin/online/expansion/truncation.hpp"
#include "maxmargin/online/rules/rules.hpp"
#include "maxmargin/online/stream_learner.hpp"

namespace maxmargin {

/// The rate Lambda_t at the step t = 1, 2, ...
enum class Rate {
  constant,      ///< eta
  inverse_sqrt,  ///< eta / sqrt(t)
  inverse        ///< 1 / (lambda (t + t0))
};
template <>
struct Named<Rate> {
  static constexpr std::array<std::pair<Rate, std::string_view>, 3> values{
      {{Rate::constant, "constant"},
       {Rate::inverse_sqrt, "inverse-sqrt"},
       {Rate::inverse, "inverse"}}};
};

struct LearnerOptions {
  Rule rule{};
  Kernel kernel{};
  std::optional<double> lambda{};  ///< default: the rule's preset_lambda
  std::optional<Rate> rate{};      ///< default: inverse-sqrt; pegasos: inverse
  double eta = 1;
  double t0 = 0;     ///< of the inverse rate; makes the first steps shorter
  bool bias = true;  ///< novelty and pegasos never have one
  bool average = false;
  Truncation truncation{};
  bool keep = false;  ///< store all rows that are learned, for finish(); default: those in f
  /// Features beyond this are refused: a linear machine has a weight for each up to the largest.
  std::size_t most_features = std::size_t{1} << 26;
  std::size_t most_classes = 1000;
};

/// NORMA: stochastic gradient descent in feature space (Kivinen, Smola and Williamson 2004; LWK
/// 10.6.3), one step per row, with any rule of the list; those that are no gradient descent replace
/// the step. Linear machines have weights, others a kernel expansion.
///
/// Two classes are one machine, more of them one-vs-rest. A class may appear at any time: its
/// machine starts from zero, and when the third one appears, that of the second is minus the first.
///
/// A step costs what a prediction costs, because the decay of f is one multiplication. All numbers
/// are double.
class Learner final : public StreamLearner {
 public:
  /// Throws a usage Error where options contradict each other.
  explicit Learner(LearnerOptions options);

  const LearnerOptions& options() const { return options_; }
  Outcome outcome() const override { return outcome_; }
  double lambda() const { return lambda_; }
  Rate rate() const { return rate_; }

  OnlinePrediction predict(const StreamRow& x) override;
  Learned learn(const StreamRow& x, double label) override;
  Learned learn(const StreamRow& x, std::string_view label) override;
  /// All rows in their order; their numbers continue from steps().
  void learn(const Rows& rows, std::span<const double> labels);

  /// g of each machine for the row of the last predict() or learn(), before the row was learned.
  std::span<const double> decision_values() const { return decision_; }

  const std::vector<std::string>& classes() const override { return classes_; }
  std::uint64_t steps() const { return steps_; }  ///< rows learned
  std::uint64_t updates() const override { return updates_; }
  /// Rows in the expansion; 0 for linear machines.
  std::size_t terms() const override { return linear_ ? 0 : terms_.expansion.count(); }
  std::size_t columns() const { return columns_; }
  const std::vector<OnlineMachine>& machines() const { return terms_.machines; }
  const OnlineTerms& expansion() const { return terms_; }
  /// With LearnerOptions::keep: every row that was learned, and its label or class number.
  const std::vector<Expansion::Slot>& learned_rows() const { return learned_rows_; }
  const std::vector<double>& learned_targets() const { return learned_targets_; }

  /// (10.130): a bound of the norm of all terms that the horizon has dropped.
  Bound horizon_bound() const override;
  /// D of the machine with the largest: |f(x) - f without truncation| <= sqrt(k(x,x)) D, where both
  /// make the same updates.
  bool truncates() const override;
  double dropped() const override;
  /// A lower bound, over all f, of the mean of loss + lambda/2 |f|^2 over the rows so far.
  Bound risk_bound() const override;

  Model model(std::uint64_t rows) const override;
  /// Writes that model.
  void save(const std::string& path, std::uint64_t rows) const;

  /// A learner restored from its state makes the same updates as one that went on, bit by bit.
  std::string state() const override;
  void restore(std::span<const std::byte> bytes, const std::string& name) override;
  static Learner from_state(std::span<const std::byte> bytes, const std::string& name);

 private:
  template <class Archive>
  void pass(Archive& archive);
  struct Step {
    double coefficient = 0, width = 0;
  };

  void check(const StreamRow& x) const;
  void evaluate(const StreamRow& x);
  double raw_value(std::span<const double> of, const StreamRow& x) const;
  OnlinePrediction decide() const;
  int class_of(std::string_view name) const;
  Learned learn_row(const StreamRow& x, double target, int class_number);
  void add_class();
  double rate_now() const;
  double inverse_time() const;
  double target_of(std::size_t machine, int class_number) const;
  void decay_all(double decay);
  void update(const StreamRow& x, double target, std::span<const Step> steps);
  void add_weights(OnlineMachine& machine, const StreamRow& x, double coefficient);
  void project_to_ball(OnlineMachine& machine) const;
  void add_to_risk_bound(double loss, double slope, const OnlineMachine& machine, double f);
  void add_to_average();
  std::string bound_obstacle() const;
  void fold_scale(OnlineMachine& machine) const;
  double average_coefficient(const OnlineMachine& machine, std::size_t at) const;
  void put_linear(Model& model) const;
  void put_expansion(Model& model) const;
  Machine machine_of(std::size_t number) const;

  LearnerOptions options_;
  Outcome outcome_;
  double lambda_;
  Rate rate_;
  bool linear_, biased_;

  OnlineTerms terms_;
  std::vector<std::string> classes_;
  NumberedClasses by_number_;
  std::size_t columns_ = 0;
  std::uint64_t steps_ = 0, updates_ = 0;
  double largest_self_ = 0;              ///< largest k(x,x) so far
  double risk_sum_ = 0, slope_sum_ = 0;  ///< the two sums of risk_bound()
  double average_weight_ = 0;
  std::vector<Expansion::Slot> learned_rows_;
  std::vector<double> learned_targets_;

  // Of the current row.
  std::vector<double> decision_;  ///< g that predicts: that of the average, if there is one
  std::vector<double> current_;   ///< g of the current f, which the rule uses
  std::span<const double> k_;
  double self_ = 0;
  std::vector<Step> pending_;
  std::vector<double> dense_values_;
  std::vector<Index> dense_features_;
};

}  // namespace maxmargin
