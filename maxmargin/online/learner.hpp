#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "maxmargin/online/expansion/truncation.hpp"
#include "maxmargin/online/rules/rules.hpp"
#include "maxmargin/online/stream_learner.hpp"

namespace maxmargin {

/// How the rate Lambda_t goes with the step t = 1, 2, ...
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
  std::optional<double> lambda{};  ///< the rule's own if not given
  std::optional<Rate> rate{};      ///< inverse-sqrt; pegasos: inverse
  double eta = 1;
  double t0 = 0;     ///< of the inverse rate: the first steps are shorter
  bool bias = true;  ///< novelty and pegasos have none
  bool average = false;
  Truncation truncation{};
  bool keep = false;  ///< all rows learned, for finish(); otherwise only those in f
  /// Features beyond this are refused: a linear machine has a weight for each up to the largest.
  std::size_t most_features = std::size_t{1} << 26;
  std::size_t most_classes = 1000;
};

/// A machine that learns from a stream, a row at a time, by stochastic gradient descent in feature
/// space (LWK 10.6.3) or by a rule of its own. Linear machines have weights, others an expansion.
///
/// Several classes are machines against the rest; two are one machine. A class may come at any
/// time: its machine then starts from zero, that of the second class is minus that of the first.
///
/// A step costs what a prediction costs: the decay of f is one multiplication. Numbers are double.
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
  /// All rows in order, in which numbers count on from rows().
  void learn(const Rows& rows, std::span<const double> labels);

  /// g of each machine as of the last predict or learn, before it was learned.
  std::span<const double> decision_values() const { return decision_; }

  const std::vector<std::string>& classes() const override { return classes_; }
  std::uint64_t steps() const { return steps_; }  ///< rows learned
  std::uint64_t updates() const override { return updates_; }
  /// Rows in the expansion; 0 for linear machines.
  std::size_t terms() const override { return linear_ ? 0 : terms_.expansion.count(); }
  std::size_t columns() const { return columns_; }
  const std::vector<OnlineMachine>& machines() const { return terms_.machines; }
  const OnlineTerms& expansion() const { return terms_; }
  /// Every row learned, and its label or the number of its class, if asked to keep them.
  const std::vector<Expansion::Slot>& kept() const { return kept_; }
  const std::vector<double>& kept_targets() const { return kept_targets_; }

  /// (10.130): how far f can be, in norm, from what it would be with the terms that the horizon
  /// dropped.
  Bound horizon_bound() const override;
  /// D, the largest of the machines: |f(x) - f without truncation| <= sqrt(k(x,x)) D if both make
  /// the same updates. Always holds.
  bool truncates() const override;
  double dropped() const override;
  /// No machine has a smaller mean of loss + lambda/2 |f|^2 over the rows so far.
  Bound risk_bound() const override;

  Model model(std::uint64_t rows) const override;
  /// Writes that model.
  void save(const std::string& path, std::uint64_t rows) const;

  /// Everything as bytes, and back: goes on as if it had never stopped, to the last bit. The bytes
  /// are not trusted: `name` is theirs in an Error.
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
  void open_class();
  double rate_now() const;
  double inverse_time() const;
  double target_of(std::size_t machine, int class_number) const;
  void decay_all(double decay);
  void update(const StreamRow& x, double target, std::span<const Step> steps);
  void add_weights(OnlineMachine& machine, const StreamRow& x, double coefficient);
  void project_to_ball(OnlineMachine& machine) const;
  void account(double loss, double slope, const OnlineMachine& machine, double f);
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
  double largest_self_ = 0;              ///< k(x,x) met so far
  double risk_sum_ = 0, slope_sum_ = 0;  ///< of risk_bound()
  double average_weight_ = 0;
  std::vector<Expansion::Slot> kept_;
  std::vector<double> kept_targets_;

  // What is known of the row at hand.
  std::vector<double> decision_;  ///< g, averaged if asked for
  std::vector<double> current_;   ///< g that the rule sees
  std::span<const double> k_;
  double self_ = 0;
  std::vector<Step> pending_;
  std::vector<double> dense_values_;
  std::vector<Index> dense_features_;
};

}  // namespace maxmargin
