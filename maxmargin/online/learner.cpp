#include "maxmargin/online/learner.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/online/expansion/panel_loops.hpp"
#include "maxmargin/online/expansion/row_sums.hpp"

namespace maxmargin {
namespace {

template <class Visit>
auto with(const Rule& rule, Visit&& visit) {
  return visit_list(std::forward<Visit>(visit), rule);
}

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw Error(Fault::usage, what, mend);
}

}  // namespace

Learner::Learner(LearnerOptions options)
    : options_(std::move(options)),
      outcome_(with(options_.rule, [](const auto& rule) { return rule.outcome; })),
      lambda_(options_.lambda.value_or(
          with(options_.rule, [](const auto& rule) { return rule.preset_lambda; }))),
      linear_(std::holds_alternative<Linear>(options_.kernel)),
      terms_(options_.kernel, options_.average) {
  visit_list([](const auto& kernel) { validate(kernel); }, options_.kernel);
  visit_list([](const auto& truncation) { validate(truncation); }, options_.truncation);
  const auto [name, decays, projects, gradient] = with(options_.rule, [](const auto& rule) {
    validate(rule);
    return std::tuple{std::string(rule.name), rule.decays, rule.projects,
                      HasSlope<std::remove_cvref_t<decltype(rule)>>};
  });
  rate_ = options_.rate.value_or(projects ? Rate::inverse : Rate::inverse_sqrt);
  biased_ = options_.bias && !projects && outcome_ != Outcome::novelty;
  if (!non_negative.contains(lambda_)) refuse("lambda is out of range", "choose 0 or more");
  if (!positive.contains(options_.eta)) refuse("eta is out of range", "choose a value above 0");
  if (!decays && lambda_ > 0)
    refuse("the rule " + name + " has no lambda",
           "leave it out, or take regularised-perceptron or soft-margin");
  if (rate_ == Rate::inverse && (!gradient || lambda_ == 0))
    refuse("the rate 1/(lambda t) needs a rule with lambda > 0", "give lambda, or another rate");
  if (!non_negative.contains(options_.t0)) refuse("t0 is out of range", "choose 0 or more");
  if (options_.t0 > 0 && rate_ != Rate::inverse)
    refuse("t0 belongs to the rate 1/(lambda (t + t0))", "leave it out, or take the rate inverse");
  if (projects && rate_ != Rate::inverse)
    refuse("pegasos has the rate 1/(lambda t)", "leave the rate out, or take soft-margin");
  if (name == "regularised-perceptron" && lambda_ == 0)
    refuse("the regularised perceptron needs lambda > 0", "give lambda, or take perceptron");
  if (rate_ != Rate::inverse && lambda_ * options_.eta > 1)
    refuse("lambda times eta is more than 1: f would change its sign at every step",
           "choose a smaller eta");
  if (linear_ && truncates())
    refuse("a linear machine is its weights: there is nothing to truncate",
           "leave the truncation out");
  if (options_.average && truncates())
    refuse("the average of all steps needs all of their rows",
           "leave the truncation or the average out");
  const auto* budget = std::get_if<Budget>(&options_.truncation);
  if (budget != nullptr && budget->removal == Removal::merge &&
      !std::holds_alternative<Rbf>(options_.kernel))
    refuse("rows can be merged with the rbf kernel only", "choose removal project or drop");
  if (outcome_ != Outcome::classes) terms_.machines.emplace_back();
  for (OnlineMachine& machine : terms_.machines)
    machine.width = with(options_.rule, [](const auto& rule) { return rule.first_width(); });
}

bool Learner::truncates() const {
  return !std::holds_alternative<NoTruncation>(options_.truncation);
}

void Learner::check(const StreamRow& x) const {
  if (!x.features.empty() && x.features.back() >= options_.most_features)
    throw Error(Fault::data,
                "feature " + std::to_string(std::uint64_t{x.features.back()} + 1) +
                    " is beyond the " + std::to_string(options_.most_features) + " allowed",
                "number the features without large gaps, or allow more");
  terms_.expansion.check(x);
}

double Learner::raw_value(std::span<const double> of, const StreamRow& x) const {
  return linear_ ? weighted_sum(of, x) : inner_product(of.data(), k_.data(), of.size());
}

void Learner::evaluate(const StreamRow& x) {
  check(x);
  const std::size_t count = terms_.machines.size();
  double first = 0;  // w.x of the first linear machine
  if (linear_ && count > 0) {
    const RowSums both = row_sums(terms_.machines[0].coefficient, x);
    first = both.weighted;
    self_ = both.squares;
  } else if (linear_) {
    self_ = sum_of_squares(x.values);
  } else {
    k_ = terms_.expansion.values(x);
    self_ = terms_.expansion.self(x);
  }
  current_.resize(count);
  decision_.resize(count);
  bool finite_values = std::isfinite(self_);
  for (std::size_t m = 0; m < count; ++m) {
    const OnlineMachine& machine = terms_.machines[m];
    const double sum = linear_ && m == 0 ? first : raw_value(machine.coefficient, x);
    current_[m] = machine.scale * sum + machine.bias;
    decision_[m] = current_[m];
    if (options_.average && average_weight_ > 0)
      decision_[m] =
          (machine.scale_sum * sum + raw_value(machine.correction, x) + machine.bias_sum) /
          average_weight_;
    if (outcome_ == Outcome::novelty)
      decision_[m] -= options_.average && average_weight_ > 0 ? machine.width_sum / average_weight_
                                                              : machine.width;
    finite_values = finite_values && std::isfinite(current_[m]) && std::isfinite(decision_[m]);
  }
  if (!finite_values)
    throw Error(Fault::data, "the values of this row overflow",
                "scale the features, or choose a smaller rate if f itself has grown so large");
}

OnlinePrediction Learner::decide() const {
  OnlinePrediction prediction;
  // By how much truncation can have changed the decision value of a machine.
  const auto truncation_error = [&](std::size_t m) {
    return std::sqrt(std::max(0.0, self_)) * terms_.machines[m].dropped;
  };
  if (outcome_ != Outcome::classes) {
    prediction.margin = decision_[0];
    prediction.value = outcome_ == Outcome::number ? decision_[0] : decision_[0] < 0 ? -1 : 1;
    prediction.doubtful = outcome_ == Outcome::novelty && truncates() &&
                          std::abs(decision_[0]) <= truncation_error(0);
    return prediction;
  }
  if (classes_.empty()) return prediction;
  if (decision_.size() == 1) {
    prediction.class_number = decision_[0] > 0 || classes_.size() == 1 ? 0 : 1;
    prediction.margin = decision_[0];
    prediction.doubtful =
        truncates() && classes_.size() == 2 && std::abs(decision_[0]) <= truncation_error(0);
    return prediction;
  }
  const auto best =
      static_cast<std::size_t>(std::ranges::max_element(decision_) - decision_.begin());
  prediction.class_number = static_cast<int>(best);
  prediction.margin = infinity;
  for (std::size_t m = 0; m < decision_.size(); ++m) {
    if (m == best) continue;
    const double lead = decision_[best] - decision_[m];
    prediction.margin = std::min(prediction.margin, lead);
    prediction.doubtful = prediction.doubtful ||
                          (truncates() && lead <= truncation_error(best) + truncation_error(m));
  }
  return prediction;
}

OnlinePrediction Learner::predict(const StreamRow& x) {
  evaluate(x);
  return decide();
}

int Learner::class_of(std::string_view name) const {
  const auto found = std::ranges::find(classes_, name);
  return found == classes_.end() ? -1 : static_cast<int>(found - classes_.begin());
}

Learned Learner::learn(const StreamRow& x, double label) {
  if (!std::isfinite(label))
    throw Error(Fault::data, "the label is not a finite number", "give a finite label");
  if (outcome_ != Outcome::classes) return learn_row(x, label, -1);
  if (const int known = by_number_.find(label); known >= 0) return learn_row(x, 0, known);
  const Learned learned = learn(x, std::string_view(shortest(label)));
  by_number_.add(label, class_of(shortest(label)));
  return learned;
}

Learned Learner::learn(const StreamRow& x, std::string_view label) {
  if (outcome_ != Outcome::classes)
    throw Error(Fault::data, "the label '" + std::string(label.substr(0, 40)) + "' is not a number",
                "give numbers as labels");
  const int number = class_of(label);
  if (number >= 0) return learn_row(x, 0, number);
  if (classes_.size() >= options_.most_classes)
    throw Error(Fault::data,
                "the label '" + std::string(label.substr(0, 40)) + "' would be class " +
                    std::to_string(classes_.size() + 1) + " of at most " +
                    std::to_string(options_.most_classes),
                "take a rule of regression if labels are quantities, or allow more classes");
  // The prediction is that without the new class; the class is removed again if learning throws.
  const OnlinePrediction before = predict(x);
  const std::vector<OnlineMachine> machines = terms_.machines;
  classes_.emplace_back(label);
  add_class();
  try {
    Learned learned = learn_row(x, 0, static_cast<int>(classes_.size()) - 1);
    learned.before = before;
    learned.correct = false;
    return learned;
  } catch (...) {
    classes_.pop_back();
    terms_.machines = machines;
    throw;
  }
}

void Learner::add_class() {
  if (classes_.size() == 2) return;
  OnlineMachine fresh;
  fresh.width = with(options_.rule, [](const auto& rule) { return rule.first_width(); });
  const std::size_t size = terms_.machines.empty() ? 0 : terms_.machines[0].coefficient.size();
  fresh.coefficient.assign(size, 0.0);
  if (options_.average) fresh.correction.assign(size, 0.0);
  if (classes_.size() == 3) {
    OnlineMachine second = terms_.machines[0];
    second.bias = -second.bias;
    second.bias_sum = -second.bias_sum;
    for (double& each : second.coefficient) each = -each;
    for (double& each : second.correction) each = -each;
    terms_.machines.push_back(std::move(second));
  }
  terms_.machines.push_back(std::move(fresh));
}

double Learner::rate_now() const {
  const auto t = static_cast<double>(steps_);
  switch (rate_) {
    case Rate::constant:
      return options_.eta;
    case Rate::inverse_sqrt:
      return options_.eta / std::sqrt(t);
    case Rate::inverse:
      return 1 / (lambda_ * inverse_time());
  }
  return options_.eta;
}

/// t + t0
double Learner::inverse_time() const { return static_cast<double>(steps_) + options_.t0; }

double Learner::target_of(std::size_t machine, int class_number) const {
  return class_number == static_cast<int>(machine) ? 1 : -1;
}

Learned Learner::learn_row(const StreamRow& x, double target, int class_number) {
  evaluate(x);
  Learned learned;
  learned.before = decide();
  ++steps_;
  const double rate = rate_now();
  pending_.assign(terms_.machines.size(), {});
  const double own = self_ + (biased_ ? 1 : 0);  // the bias is a feature that is always 1
  bool fits = true;
  with(options_.rule, [&](const auto& rule) {
    for (std::size_t m = 0; m < pending_.size(); ++m) {
      const OnlineMachine& machine = terms_.machines[m];
      const double y = class_number < 0 ? target : target_of(m, class_number);
      const double g = current_[m];
      const double loss = rule.loss(y, g, machine.width);
      learned.loss += loss;
      if constexpr (HasSlope<std::remove_cvref_t<decltype(rule)>>) {
        const double slope = rule.slope(y, g, machine.width);
        pending_[m].coefficient = -rate * slope;
        if constexpr (std::remove_cvref_t<decltype(rule)>::adaptive)
          pending_[m].width = -rate * rule.width_slope(y, g, machine.width);
      } else {
        pending_[m].coefficient = rule.step(y, g, own);
      }
      fits = fits && std::isfinite(loss) &&
             std::isfinite(pending_[m].coefficient * pending_[m].coefficient * own);
    }
  });
  if (!fits) {
    --steps_;
    throw Error(Fault::data, "the values of this row overflow",
                "scale the features and labels, or choose a smaller rate");
  }
  if (outcome_ == Outcome::classes)
    learned.correct = learned.before.class_number == class_number;
  else if (outcome_ == Outcome::novelty)
    learned.correct = learned.before.value > 0;
  else
    learned.correct = pending_[0].coefficient == 0;
  largest_self_ = std::max(largest_self_, self_);
  if (!x.features.empty()) columns_ = std::max(columns_, std::size_t{x.features.back()} + 1);
  if (pending_.size() == 1 && rate > 0)
    add_to_risk_bound(learned.loss, -pending_[0].coefficient / rate, terms_.machines[0],
                      current_[0]);
  const double label = class_number < 0 ? target : class_number;
  update(x, label, pending_);
  if (options_.keep) {
    learned_rows_.push_back(
        {{x.features.begin(), x.features.end()}, {x.values.begin(), x.values.end()}, x.number});
    learned_targets_.push_back(label);
  }
  learned.updated =
      std::ranges::any_of(pending_, [](const Step& step) { return step.coefficient != 0; });
  updates_ += learned.updated;
  return learned;
}

/// The squared norm of the gradient is |c' k + lambda f|^2
/// = c'^2 k(x,x) + 2 lambda c' f(x) + lambda^2 |f|^2.
void Learner::add_to_risk_bound(double loss, double slope, const OnlineMachine& machine, double f) {
  if (rate_ != Rate::inverse) return;
  risk_sum_ += loss + lambda_ / 2 * machine.squared_norm;
  const double squared =
      slope * slope * self_ + 2 * lambda_ * slope * f + lambda_ * lambda_ * machine.squared_norm;
  slope_sum_ += std::max(0.0, squared) / (2 * lambda_ * inverse_time());
}

void Learner::update(const StreamRow& x, double target, std::span<const Step> steps) {
  const bool gradient = with(options_.rule, [](const auto& rule) {
    return HasSlope<std::remove_cvref_t<decltype(rule)>>;
  });
  // With the inverse rate exactly 1 - 1/(t + t0), since in doubles lambda times 1/(lambda t) need
  // not be 1/t.
  const double decay = !gradient || lambda_ == 0 ? 1
                       : rate_ == Rate::inverse  ? 1 - 1 / inverse_time()
                                                 : 1 - lambda_ * rate_now();
  for (std::size_t m = 0; m < steps.size(); ++m) {
    OnlineMachine& machine = terms_.machines[m];
    const double a = steps[m].coefficient, f = current_[m] - machine.bias;
    machine.squared_norm =
        std::max(0.0, decay * decay * machine.squared_norm + 2 * decay * a * f + a * a * self_);
    if (biased_) machine.bias += a;
    machine.width += steps[m].width;
  }
  if (decay != 1) decay_all(decay);
  const bool any = std::ranges::any_of(steps, [](const Step& s) { return s.coefficient != 0; });
  if (any && linear_) {
    for (std::size_t m = 0; m < steps.size(); ++m)
      if (steps[m].coefficient != 0) add_weights(terms_.machines[m], x, steps[m].coefficient);
  } else if (any) {
    const std::size_t slot = terms_.add(x, steps_, target);
    for (std::size_t m = 0; m < steps.size(); ++m) {
      OnlineMachine& machine = terms_.machines[m];
      machine.coefficient[slot] = steps[m].coefficient / machine.scale;
      if (options_.average)
        machine.correction[slot] = -machine.coefficient[slot] * machine.scale_sum;
    }
  }
  if (truncates())
    visit_list([&](const auto& truncation) { truncation.apply(steps_, terms_); },
               options_.truncation);
  else if (with(options_.rule, [](const auto& rule) { return rule.projects; }))
    for (OnlineMachine& machine : terms_.machines) project_to_ball(machine);
  if (options_.average) add_to_average();
}

void Learner::decay_all(double decay) {
  if (decay == 0 && !linear_ && !options_.average)
    for (std::size_t i = 0; i < terms_.expansion.slots(); ++i)
      if (terms_.expansion.used(i)) terms_.drop(i);
  for (OnlineMachine& machine : terms_.machines) {
    machine.dropped *= decay;
    machine.scale *= decay;
    // The average is scale_sum * coefficient + correction, which cancels as the scale falls.
    const double smallest_scale = options_.average ? 1e-3 : 1e-60;
    if (machine.scale < smallest_scale) fold_scale(machine);
  }
}

/// Multiplies the coefficients by the scale, which becomes 1; f stays the same.
void Learner::fold_scale(OnlineMachine& machine) const {
  for (std::size_t i = 0; i < machine.correction.size(); ++i)
    machine.correction[i] += machine.scale_sum * machine.coefficient[i];
  for (double& each : machine.coefficient) each *= machine.scale;
  machine.scale_sum = 0;
  machine.scale = 1;
}

void Learner::add_weights(OnlineMachine& machine, const StreamRow& x, double coefficient) {
  if (machine.coefficient.size() < columns_) {
    machine.coefficient.resize(columns_, 0.0);
    if (options_.average) machine.correction.resize(columns_, 0.0);
  }
  const double factor = coefficient / machine.scale;
  double* const w = machine.coefficient.data();
  for (std::size_t k = 0; k < x.features.size(); ++k) w[x.features[k]] += factor * x.values[k];
  if (!options_.average || machine.scale_sum == 0) return;
  double* const c = machine.correction.data();
  const double correction = -factor * machine.scale_sum;
  for (std::size_t k = 0; k < x.features.size(); ++k) c[x.features[k]] += correction * x.values[k];
}

void Learner::project_to_ball(OnlineMachine& machine) const {
  const double excess = machine.squared_norm * lambda_;
  if (excess <= 1) return;
  machine.scale /= std::sqrt(excess);
  machine.squared_norm = 1 / lambda_;
}

/// Polynomial-decay averaging: the mean of f_t with weights t (Lacoste-Julien et al. 2012).
void Learner::add_to_average() {
  const auto t = static_cast<double>(steps_);
  average_weight_ += t;
  for (OnlineMachine& machine : terms_.machines) {
    machine.scale_sum += t * machine.scale;
    machine.bias_sum += t * machine.bias;
    machine.width_sum += t * machine.width;
  }
}

void Learner::learn(const Rows& rows, std::span<const double> labels) {
  const std::uint64_t first = steps_;
  for (std::size_t i = 0; i < rows.count; ++i) {
    StreamRow x;
    x.number = first + i;
    if (rows.sparse() && rows.doubles != nullptr) {
      const std::size_t begin = rows.start[i], size = rows.start[i + 1] - begin;
      x.features = {rows.index + begin, size};
      x.values = {rows.doubles + begin, size};
    } else {
      dense_features_.clear();
      dense_values_.clear();
      rows.for_each(i, [&](Index feature, double value) {
        if (value == 0) return;
        dense_features_.push_back(feature);
        dense_values_.push_back(value);
      });
      x.features = dense_features_;
      x.values = dense_values_;
    }
    learn(x, labels.empty() ? 0.0 : labels[i]);
  }
}

double Learner::dropped() const {
  double most = 0;
  for (const OnlineMachine& machine : terms_.machines) most = std::max(most, machine.dropped);
  return most;
}

Bound Learner::horizon_bound() const {
  const auto* horizon = std::get_if<Horizon>(&options_.truncation);
  if (horizon == nullptr) return {{}, "rows are not forgotten by a horizon"};
  if (rate_ != Rate::constant) return {{}, "the rate is not constant"};
  if (lambda_ == 0) return {{}, "lambda is 0: nothing decays"};
  const auto [slope, gradient] = with(options_.rule, [](const auto& rule) {
    return std::pair{rule.slope_bound, HasSlope<std::remove_cvref_t<decltype(rule)>>};
  });
  if (!gradient || !std::isfinite(slope)) return {{}, "the slope of the loss has no bound"};
  return {std::pow(1 - lambda_ * options_.eta, horizon->horizon) / lambda_ * slope *
          std::sqrt(largest_self_)};
}

std::string Learner::bound_obstacle() const {
  if (rate_ != Rate::inverse) return "the rate is not 1/(lambda t)";
  if (biased_) return "the bias is free";
  if (truncates()) return "rows are truncated";
  if (outcome_ == Outcome::classes && classes_.size() > 2) return "there are several machines";
  if (!with(options_.rule, [](const auto& rule) { return rule.convex && !rule.adaptive; }))
    return "the loss is not convex, or changes with a width that is learned";
  return steps_ == 0 ? "nothing was learned yet" : "";
}

/// The regret bound of online descent on lambda-strongly convex r_t = loss_t + lambda/2 |f|^2
/// (Hazan, Agarwal and Kale 2007): for any u,
///
///   sum_t r_t(f_t) - r_t(u) <= lambda t0 / 2 |u|^2 + sum_t |gradient_t|^2 / (2 lambda (t + t0)),
///
/// where lambda/2 |u|^2 is at most the mean of r_t(u), because losses are not negative.
Bound Learner::risk_bound() const {
  if (std::string why = bound_obstacle(); !why.empty()) return {{}, why};
  return {(risk_sum_ - slope_sum_) / inverse_time()};
}

}  // namespace maxmargin
