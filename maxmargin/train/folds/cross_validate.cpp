#include "maxmargin/train/folds/cross_validate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/model/agreement.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/folds/held_out.hpp"

namespace maxmargin {
namespace {

constexpr double not_predicted = std::numeric_limits<double>::quiet_NaN();
// Rows judged at a time, so that their decision values stay small.
constexpr std::size_t rows_at_a_time = 4096;
constexpr std::size_t values_at_a_time = std::size_t{1} << 23;

/// Predicts the rows of one fold after another.
class Judge {
 public:
  enum class Keep { predictions, values };
  Judge(const Prepared& prepared, const Folds& folds, Keep keep, OutOfFold& result)
      : prepared_(prepared), folds_(folds), keeps_values_(keep == Keep::values), result_(result) {
    result.predicted.assign(folds.of_row.size(), not_predicted);
    if (!keeps_values_) return;
    for (std::size_t k = 0; k < prepared.problems.list.size(); ++k)
      result.f.emplace_back(prepared.problems.list.examples(k), not_predicted);
  }

  void judge(int fold, const Model& model, const Threads& threads) {
    std::optional<Predictor> predictor;
    std::optional<HeldOut> held_out;
    if (HeldOut::takes(prepared_))
      held_out.emplace(prepared_, model);
    else
      predictor.emplace(model);
    const std::vector<std::size_t> number = numbers_of(model);
    std::vector<std::size_t> cursor(number.size(), 0);
    const double scale = scale_of(fold);
    const std::vector<Index> rows = rows_of(fold);
    const std::size_t at_a_time =
        std::clamp<std::size_t>(values_at_a_time / number.size(), 1, rows_at_a_time);
    for (std::size_t begin = 0; begin < rows.size(); begin += at_a_time) {
      const std::span<const Index> some(rows.data() + begin,
                                        std::min(at_a_time, rows.size() - begin));
      const std::vector<double> values =
          predictor ? predictor->decision_values(rows_to_predict(prepared_, some), threads)
                    : held_out->decision_values(some, threads);
      for (std::size_t k = 0; k < some.size(); ++k) {
        const std::span<const double> f(&values[k * number.size()], number.size());
        result_.predicted[some[k]] = predicted(model, f);
      }
      for (std::size_t m = 0; keeps_values_ && m < number.size(); ++m) {
        const Subproblem problem = prepared_.problems.list[number[m]];
        for (std::size_t k = 0; k < some.size(); ++k)
          keep(problem, result_.f[number[m]], {some[k], scale * values[k * number.size() + m]},
               cursor[m]);
      }
    }
  }

  /// The values of the one machine there is at all its examples.
  void take(int fold, std::span<const double> values) {
    const Subproblem& problem = prepared_.problems.list[0];
    const double scale = scale_of(fold);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Index row = problem.examples[k].row;
      if (!folds_.holds(fold, row)) continue;
      const double f = values[k];
      result_.f[0][k] = scale * f;
      result_.predicted[row] = prepared_.problems.outcome == Outcome::number    ? f
                               : prepared_.problems.outcome == Outcome::novelty ? (f >= 0 ? 1 : -1)
                               : f > 0                                          ? problem.positive
                                                                                : problem.negative;
    }
  }

  /// All other folds are of one class: there is nothing else to predict.
  void judge_alike(int fold) {
    const std::vector<double>& y = prepared_.y;
    std::vector<double> labels;
    double only = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      labels.push_back(y[i]);
      if (folds_.of_row[i] != fold && folds_.of_row[i] != Folds::none) only = y[i];
    }
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    const auto number = std::ranges::lower_bound(labels, only) - labels.begin();
    for (const Index row : rows_of(fold)) result_.predicted[row] = static_cast<double>(number);
  }

 private:
  std::vector<Index> rows_of(int fold) const {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < folds_.of_row.size(); ++i)
      if (folds_.holds(fold, i)) rows.push_back(static_cast<Index>(i));
    return rows;
  }

  /// f of a one-class machine grows with the rows it is trained on.
  double scale_of(int fold) const {
    if (prepared_.problems.outcome != Outcome::novelty) return 1;
    double all = 0, others = 0;
    for (std::size_t i = 0; i < folds_.of_row.size(); ++i) {
      all += prepared_.weight_of(i);
      others += folds_.holds(fold, i) ? 0 : prepared_.weight_of(i);
    }
    return all / others;
  }

  /// Which machine of all each one of the model is.
  std::vector<std::size_t> numbers_of(const Model& model) const {
    std::vector<std::size_t> numbers;
    std::size_t next = 0;
    for (const Machine& machine : model.machines) {
      const auto& list = prepared_.problems.list;
      while (list.sides(next) != Sides(machine)) ++next;
      numbers.push_back(next++);
    }
    return numbers;
  }

  /// Rows come in increasing order, as examples stand.
  static void keep(const Subproblem& problem, std::vector<double>& values,
                   const std::pair<Index, double>& row_and_f, std::size_t& cursor) {
    const auto& [row, f] = row_and_f;
    const SharedList<Example>& examples = problem.examples;
    while (cursor < examples.size() && examples[cursor].row < row) ++cursor;
    if (cursor < examples.size() && examples[cursor].row == row) values[cursor] = f;
  }

  const Prepared& prepared_;
  const Folds& folds_;
  bool keeps_values_;
  OutOfFold& result_;
};

/// The mean over the rows that were judged.
template <class Value>
double weighted_mean(const Prepared& prepared, std::span<const double> predicted, Value&& value) {
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (std::isnan(predicted[i])) continue;
    sum += prepared.weight_of(i) * value(i);
    weights += prepared.weight_of(i);
  }
  return weights > 0 ? sum / weights : not_predicted;
}

void score_numbers(const Prepared& prepared, CrossValidated& result) {
  Agreement agreement;
  for (std::size_t i = 0; i < result.predicted.size(); ++i)
    if (!std::isnan(result.predicted[i]))
      agreement.add(result.predicted[i], prepared.y[i], prepared.weight_of(i));
  result.mean_squared_error = agreement.mean_squared_error();
  result.mean_absolute_error = agreement.mean_absolute_error();
  result.squared_correlation = agreement.squared_correlation();
}

void score(const Prepared& prepared, std::span<const Index> class_of, CrossValidated& result) {
  const auto mean = [&](auto&& value) { return weighted_mean(prepared, result.predicted, value); };
  switch (result.outcome) {
    case Outcome::classes:
      result.accuracy = mean([&](std::size_t i) {
        return result.predicted[i] == static_cast<double>(class_of[i]) ? 1.0 : 0.0;
      });
      break;
    case Outcome::number:
      score_numbers(prepared, result);
      break;
    case Outcome::novelty: {
      result.novel_share = mean([&](std::size_t i) { return result.predicted[i] < 0 ? 1.0 : 0.0; });
      const std::vector<double>& y = prepared.y;
      const bool judged = std::ranges::count(y, 1.0) > 0 && std::ranges::count(y, -1.0) > 0 &&
                          std::ranges::count(y, 1.0) + std::ranges::count(y, -1.0) ==
                              static_cast<std::ptrdiff_t>(y.size());
      result.accuracy =
          judged ? mean([&](std::size_t i) { return result.predicted[i] == y[i] ? 1.0 : 0.0; })
                 : not_predicted;
      break;
    }
  }
}

/// The share of the work done, where the first `before` of `steps` steps are.
Observer in_steps(const Observer& observer, int before, int steps, const Stopwatch& clock) {
  if (!observer) return {};
  return [&observer, before, steps, &clock](Progress progress) {
    progress.done = (before + progress.done) / steps;
    progress.seconds = clock.seconds();
    return observer(progress);
  };
}

bool is_cancelled(const TrainedList& machines) {
  for (std::size_t k = 0; k < machines.size(); ++k)
    if (machines[k].certified.solution.ended == Ended::cancelled) return true;
  return false;
}

}  // namespace

OutOfFold judge_out_of_fold(const Prepared& prepared, const Folds& folds,
                            const TrainOptions& options, const Context& context,
                            const Retrainer* retrainer) {
  const Threads& threads = context.threads;
  OutOfFold result;
  result.ended = prepared.ended();
  // Millions of machines have values at hundreds of millions of rows.
  const bool keeps_values =
      options.probability_folds > 0 || prepared.problems.list.size() <= most_retrained;
  Judge judge(prepared, folds, keeps_values ? Judge::Keep::values : Judge::Keep::predictions,
              result);
  const Stopwatch clock;
  std::vector<std::vector<bool>> left_out;
  for (int fold = 0; fold < folds.count; ++fold) left_out.push_back(folds.rows_of(fold));
  TrainOptions limited = options;
  limited.certified = false;  // only predictions are reported
  std::optional<Retrainable> can;
  if (retrainer == nullptr) can = retrainable(prepared, options, left_out.size(), context);
  const bool is_single = prepared.problems.list.size() == 1;
  const auto together = HeldOut::takes(prepared) ? summed_up : put_together;
  std::vector<Retrained> at_once;
  std::optional<Retrainer> own;
  if (can && !is_single && left_out.size() <= most_at_once) {
    at_once = retrain_each(prepared, *std::move(can), left_out, limited,
                           context.watched_by(in_steps(context.observer, 0, 1, clock)));
  } else if (can) {
    retrainer =
        &own.emplace(prepared, *std::move(can), limited,
                     context.watched_by(in_steps(context.observer, 0, folds.count + 1, clock)));
  }
  const int before = own ? 1 : 0, steps = folds.count + before;
  if (retrainer != nullptr && is_cancelled(retrainer->whole())) result.ended = Ended::cancelled;
  for (int fold = 0; fold < folds.count && result.ended != Ended::cancelled; ++fold) {
    const auto number = static_cast<std::size_t>(fold);
    const Context rest_of_run =
        context.after(clock.seconds(), options.stop)
            .watched_by(in_steps(context.observer, before + fold, steps, clock));
    if (retrainer != nullptr && number % most_at_once == 0) {
      const auto some = std::span(left_out).subspan(number).first(
          std::min(most_at_once, left_out.size() - number));
      at_once = retrainer->without_each(some, limited, rest_of_run);
    }
    const Retrained rest = !at_once.empty()
                               ? std::move(at_once[number % most_at_once])
                               : train_afresh(prepared, left_out[number], limited, rest_of_run);
    result.ended = worse(result.ended, rest.ended);
    result.iterations += rest.iterations;
    // Of folds that are cut short nothing is told; to judge with millions of machines takes long.
    if (!rest.problems.untrained.none()) break;
    if (rest.machines.empty())
      judge.judge_alike(fold);
    else if (retrainer != nullptr && is_single)
      judge.take(fold, retrainer->values(rest, 0));
    else
      judge.judge(fold, together(prepared, rest.problems, options, rest.machines, threads).model,
                  threads);
  }
  return result;
}

CrossValidated cross_validate(Dataset data, const TrainOptions& options, int folds,
                              const Context& context) {
  const Stopwatch clock;
  CrossValidated result;
  result.outcome = outcome_of(options.task);
  const Classes classes =
      result.outcome == Outcome::classes && data.labelled() ? classes_of(data) : Classes{};
  const Prepared prepared = prepare(std::move(data), options, context);
  result.classes = prepared.problems.classes;
  result.folds = make_folds(prepared.examples.x->count(), prepared.y, prepared.weight,
                            result.outcome, folds, options.seed);
  OutOfFold judged = judge_out_of_fold(prepared, result.folds, options,
                                       context.after(prepared.seconds, options.stop));
  result.predicted = std::move(judged.predicted);
  result.ended = judged.ended;
  result.iterations = judged.iterations;
  for (std::size_t i = 0; i < result.predicted.size(); ++i)
    if (!std::isnan(result.predicted[i])) result.rows += prepared.weight_of(i);
  score(prepared, classes.of_row, result);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace maxmargin
