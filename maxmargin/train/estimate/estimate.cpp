#include "maxmargin/train/estimate/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/solver/patience.hpp"
#include "maxmargin/solver/solve_from.hpp"
#include "maxmargin/train/estimate/span.hpp"
#include "maxmargin/train/estimate/unlearn.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "maxmargin/train/machines/start.hpp"
#include "maxmargin/train/memory_plan.hpp"
#include "maxmargin/train/recorded.hpp"

namespace maxmargin {
namespace {

// Decision values at a time.
constexpr std::size_t most_values = std::size_t{1} << 22;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The one machine of a problem with all its rows, solved.
struct Whole {
  Formulated formulated;
  Certified certified;  ///< with variables and f
};

/// What the bounds need of each example, for classification or regression.
struct AtExample {
  double alpha = 0;  ///< summed over both sides of a tube
  double slack = 0;  ///< xi: the loss for a cost of 1
  double weight = 1;
};

bool is_hinge(const Loss& loss) { return std::holds_alternative<Hinge>(loss); }
bool is_tube(const Loss& loss) { return std::holds_alternative<EpsilonInsensitive>(loss); }

std::vector<AtExample> at_examples(const Prepared& prepared, const Subproblem& problem,
                                   const Whole& whole) {
  const std::vector<double> f = values_at_examples(whole.formulated, problem, whole.certified);
  const std::size_t blocks = whole.formulated.shares.size() / problem.examples.size();
  std::vector<AtExample> list(problem.examples.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Example& example = problem.examples[i];
    list[i].weight = prepared.weight_of(example.row);
    list[i].slack = is_hinge(problem.loss) ? std::max(0.0, 1 - example.target * f[i])
                                           : std::abs(f[i] - example.target);
    if (const auto* tube = std::get_if<EpsilonInsensitive>(&problem.loss))
      list[i].slack = std::max(0.0, list[i].slack - tube->epsilon);
    for (std::size_t b = 0; b < blocks; ++b) {
      const Formulated::Share& share = whole.formulated.shares[i * blocks + b];
      list[i].alpha += share.part * whole.certified.solution.a[share.variable];
    }
  }
  return list;
}

/// The squared radius of a ball around all points: the smallest one, but for the tolerance, by its
/// dual min 1/2 a'Ka - 1/2 sum a_i K_ii subject to sum a = 1, a >= 0; that of its centre holds
/// whatever the tolerance.
double squared_radius(const std::shared_ptr<const Quadratic>& K, MemoryBudget memory,
                      const Context& context) {
  DualQp qp;
  qp.K = K;
  double largest = 0;
  for (std::size_t p = 0; p < K->size(); ++p) {
    qp.row.push_back(static_cast<Index>(p));
    qp.block.push_back({1, -K->diagonal()[p] / 2, 0, 1, 0});
    largest = std::max(largest, K->diagonal()[p]);
  }
  qp.A.emplace_back(qp.size(), 1.0);
  qp.d.push_back(1);
  if (!(largest > 0)) return 0;
  Stop stop;
  stop.kkt = 1e-3 * largest;
  stop.relative_gap = 1;
  const Certified solved =
      solve_from(nullptr, qp, named_solver(Smo::name, qp, stop, memory.bytes), context);
  const std::vector<double> beta = qp.coefficients(solved.solution.a);
  double centre = 0, radius = 0;
  for (std::size_t p = 0; p < beta.size(); ++p) centre += beta[p] * solved.f[p];
  for (std::size_t p = 0; p < beta.size(); ++p)
    radius = std::max(radius, K->diagonal()[p] - 2 * solved.f[p] + centre);
  return radius + 4 * solved.certificate.rounding;
}

/// Kernels of distances are between 0 and K(x, x).
bool is_positive(const Kernel& kernel) {
  return visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.form(); }) return chosen.form().pairing != Pairing::dot;
        return false;
      },
      kernel);
}

/// How far f at an example can fall when it leaves and b is free. Let its variable be alpha, of
/// sign s, and let free variables have room to raise s sum s a by (1 + c) alpha. At the machine
/// with all rows the objective without the example has the subgradients
///
///   alpha s (x, 1)   and   alpha s (x - (1 + c) z, -c),   z a mean of points of free variables,
///
/// each of which gives g'(dw, db) + |dw|^2 <= 0 for the machine without it, so that
///
///   -s df(x) <= (1 + c)/c |x - z| |dw| - |dw|^2/(c alpha) <= (1 + c)^2/(4 c) alpha |x - z|^2,
///
/// best where c = 1. Without room, b may jump, and nothing is said of the example.
class FreeRoom {
 public:
  FreeRoom(const DualQp& qp, std::span<const double> a) : qp_(qp), a_(a) {
    for (std::size_t v = 0; v < qp.size(); ++v) {
      raise_ += room(v, 1);
      lower_ += room(v, -1);
    }
  }
  /// c for an example, at most 1; 0 where b may jump.
  double share_for(std::span<const Formulated::Share> shares) const {
    constexpr double least = 1e-3;  // below this it is rounding
    double raise = raise_, lower = lower_, amount = 0, along = 0, size = 0;
    bool rises = false, falls = false;
    for (const Formulated::Share& share : shares) {
      const Block& block = qp_.block[share.variable];
      raise -= room(share.variable, 1);
      lower -= room(share.variable, -1);
      amount += share.part * a_[share.variable];
      along += block.sign * share.part * a_[share.variable];
      size = std::max(size, block.upper - block.lower);
      (block.sign > 0 ? rises : falls) = true;
    }
    if (amount == 0) {
      // Nothing leaves: the machine stays, if b is held from where the example would suffer.
      const double held = std::min(rises ? raise : infinity, falls ? lower : infinity);
      return held > 1e-9 * size ? 1 : 0;
    }
    const double c = std::min(1.0, (along > 0 ? raise : lower) / amount - 1);
    return c >= least ? c : 0;
  }

 private:
  double room(std::size_t v, int direction) const {
    const Block& block = qp_.block[v];
    if (!(a_[v] > block.lower && a_[v] < block.upper)) return 0;
    return block.sign * direction > 0 ? block.upper - a_[v] : a_[v] - block.lower;
  }

  const DualQp& qp_;
  std::span<const double> a_;
  double raise_ = 0, lower_ = 0;
};

/// Bounds of leave-one-out of a single machine with a hinge or a tube.
void add_bounds(const Prepared& prepared, const TrainOptions& options, const Whole& whole,
                const Context& context, Estimates& result) {
  const Subproblem& problem = prepared.problems.list.front();
  if (!is_hinge(problem.loss) && !is_tube(problem.loss)) {
    result.missing.emplace_back(
        "xi-alpha and radius/margin are known for the hinge and the tube, not for this loss");
    return;
  }
  const DualQp& qp = whole.formulated.qp;
  if (prepared.examples.functions.count() > 0) {
    result.missing.emplace_back(
        "xi-alpha and radius/margin are for machines without further functions");
    return;
  }
  result.radius = std::sqrt(squared_radius(qp.K, memory_for(options, context), context));
  const double largest = *std::max_element(qp.K->diagonal().begin(), qp.K->diagonal().end());
  const bool shifts = problem.bias == Bias::unpenalised;
  double reach = shifts ? 4 * *result.radius * *result.radius : largest;
  if (shifts && is_positive(options.kernel)) reach = std::min(reach, 2 * largest);
  const std::size_t blocks = whole.formulated.shares.size() / problem.examples.size();
  const FreeRoom room(qp, whole.certified.solution.a);
  const std::vector<AtExample> list = at_examples(prepared, problem, whole);
  double wrong = 0, sum = 0, weights = 0, unknown_weight = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const AtExample& each = list[i];
    const std::span shares(&whole.formulated.shares[i * blocks], blocks);
    weights += each.weight;
    const double c = shifts ? room.share_for(shares) : 1;
    if (c == 0) {
      unknown_weight += each.weight;
      continue;
    }
    const double larger = (1 + c) * (1 + c) / (4 * c);
    const double worst = larger * reach * each.alpha + each.slack;
    // Within the tolerance of the machine either may be true.
    const double tolerance = (1 + c) / c * options.stop.kkt;
    wrong += each.alpha > 0 && worst >= 1 - tolerance ? each.weight : 0;
    sum += each.weight * (each.alpha > 0 ? worst : each.slack);
  }
  if (is_hinge(problem.loss)) {
    result.xi_alpha = (wrong + unknown_weight) / weights;
    result.radius_margin = std::min(1.0, (sum + unknown_weight) / weights);
  } else if (unknown_weight == 0) {
    result.radius_margin = sum / weights + std::get<EpsilonInsensitive>(problem.loss).epsilon;
  } else {
    result.missing.emplace_back(
        "radius/margin needs more room at support vectors within their bounds; choose a larger "
        "cost");
  }
}

void add_span(const Prepared& prepared, const Whole& whole, std::size_t memory,
              const Threads& threads, Estimates& result) {
  const Subproblem& problem = prepared.problems.list.front();
  if (prepared.examples.functions.count() > 0 || whole.formulated.qp.A.size() > 1 ||
      prepared.problems.outcome == Outcome::novelty) {
    result.missing.emplace_back("the span rule is for svc and svr without further functions");
    return;
  }
  std::optional<std::vector<double>> f;
  try {
    f = without_one(whole.formulated, problem, whole.certified, memory, threads);
  } catch (const Threads::Interrupted&) {
    result.missing.emplace_back("there was no time for the span rule");
    result.ended = Ended::time_limit;
    return;
  }
  if (!f) {
    result.missing.emplace_back("the span rule needs more --memory for the free support vectors");
    return;
  }
  double error = 0, absolute = 0, weights = 0;
  for (std::size_t i = 0; i < f->size(); ++i) {
    const Example& example = problem.examples[i];
    const double weight = prepared.weight_of(example.row), off = (*f)[i] - example.target;
    error += weight * (result.outcome == Outcome::number       ? off * off
                       : ((*f)[i] > 0) != (example.target > 0) ? 1.0
                                                               : 0.0);
    absolute += weight * std::abs(off);
    weights += weight;
  }
  result.span = error / weights;
  if (result.outcome == Outcome::number) result.span_absolute = absolute / weights;
}

/// Sums over the errors of predictions.
class Score {
 public:
  Score(const Prepared& prepared, std::span<const Index> class_of)
      : prepared_(prepared), class_of_(class_of) {}

  void add(std::size_t row, double predicted) {
    const double weight = prepared_.weight_of(row);
    if (!(weight > 0)) return;
    weights_ += weight;
    switch (prepared_.problems.outcome) {
      case Outcome::classes:
        error_ += predicted == static_cast<double>(class_of_[row]) ? 0 : weight;
        break;
      case Outcome::number:
        error_ += weight * (predicted - prepared_.y[row]) * (predicted - prepared_.y[row]);
        absolute_ += weight * std::abs(predicted - prepared_.y[row]);
        break;
      case Outcome::novelty:
        error_ += predicted < 0 ? weight : 0;
        break;
    }
  }
  double error() const { return weights_ > 0 ? error_ / weights_ : unknown; }
  double absolute() const { return weights_ > 0 ? absolute_ / weights_ : unknown; }

 private:
  const Prepared& prepared_;
  std::span<const Index> class_of_;
  double error_ = 0, absolute_ = 0, weights_ = 0;
};

LeaveOneOut scored(const Prepared& prepared, std::span<const Index> class_of, LeaveOneOut result) {
  Score score(prepared, class_of);
  for (std::size_t i = 0; i < result.predicted.size(); ++i) score.add(i, result.predicted[i]);
  result.error = score.error();
  result.absolute_error = score.absolute();
  return result;
}

/// The input of leave-one-out: the rows that have to be left out, the predictions of all others,
/// and the machine of all rows, where there is only one.
struct ToLeaveOut {
  std::set<Index> rows;
  std::vector<double> predicted;
  const Whole* single = nullptr;
};

/// Fills in the predictions by decremental unlearning of a single machine; the rows for which that
/// failed remain.
std::size_t unlearn(const Prepared& prepared, const TrainOptions& options, ToLeaveOut& out,
                    const Context& context) {
  if (out.single == nullptr || prepared.problems.outcome == Outcome::novelty) return 0;
  const Subproblem& problem = prepared.problems.list.front();
  std::vector<std::size_t> examples;
  for (std::size_t i = 0; i < problem.examples.size(); ++i)
    if (out.rows.contains(problem.examples[i].row)) examples.push_back(i);
  const std::vector<double> f = values_without(
      {out.single->formulated, problem, out.single->certified}, examples, options, context);
  std::size_t count = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    if (std::isnan(f[k])) continue;
    const Index row = problem.examples[examples[k]].row;
    out.rows.erase(row);
    out.predicted[row] = prepared.problems.outcome == Outcome::number ? f[k]
                         : f[k] > 0                                   ? problem.positive
                                                                      : problem.negative;
    ++count;
  }
  return count;
}

/// Only support vectors are trained without: for all others the machine is the same. Where nu
/// counts the rows, each of them matters.
LeaveOneOut without_each(const Prepared& prepared, const TrainOptions& options, ToLeaveOut out,
                         const Context& context) {
  const Stopwatch clock;
  const bool all = has_nu(options.task);
  LeaveOneOut result;
  result.followed = unlearn(prepared, options, out, context);
  result.predicted = std::move(out.predicted);
  Patience patience(context.observer, std::min(options.stop.seconds, context.seconds));
  if (!out.rows.empty() && patience.is_over()) {
    for (const Index row : out.rows) result.predicted[row] = unknown;
    result.ended = *patience.ended();
    result.seconds = clock.seconds();
    return result;
  }
  Folds folds;
  folds.of_row.assign(prepared.examples.x->count(), Folds::none);
  for (std::size_t i = 0; i < folds.of_row.size(); ++i)
    if (prepared.weight_of(i) > 0 && (all || out.rows.contains(static_cast<Index>(i))))
      folds.of_row[i] = folds.count++;
  result.trained = result.followed + static_cast<std::size_t>(folds.count);
  if (folds.count > 0) {
    const OutOfFold judged = judge_out_of_fold(prepared, folds, options, context);
    for (std::size_t i = 0; i < folds.of_row.size(); ++i)
      if (folds.of_row[i] != Folds::none) result.predicted[i] = judged.predicted[i];
    result.ended = judged.ended;
  }
  result.seconds = clock.seconds();
  return result;
}

LeaveOneOut by_force(const Prepared& prepared, const TrainOptions& options,
                     const Context& context) {
  const Stopwatch clock;
  const Threads& threads = context.threads;
  const std::size_t rows = prepared.examples.x->count();
  LeaveOneOut result;
  result.predicted.assign(rows, unknown);
  for (std::size_t i = 0; i < rows && result.ended != Ended::cancelled; ++i) {
    if (!(prepared.weight_of(i) > 0)) continue;
    std::vector<bool> left_out(rows, false);
    left_out[i] = true;
    const Retrained rest = train_afresh(prepared, left_out, options, context);
    result.ended = worse(result.ended, rest.ended);
    ++result.trained;
    // Its class has no other row: whatever is predicted, it is not that class.
    if (rest.machines.empty()) {
      result.predicted[i] = -1;
      continue;
    }
    const Model model =
        put_together(prepared, rest.problems, options, rest.machines, threads).model;
    const Predictor predictor(model);
    const Index row = static_cast<Index>(i);
    result.predicted[i] = predictor.predict(predictor.decision_values(
        rows_to_predict(prepared, std::span(&row, 1)), threads, Precision::exact));
  }
  result.seconds = clock.seconds();
  return result;
}

Whole solved(const Prepared& prepared, std::size_t number, const TrainOptions& options,
             const Context& context) {
  const Subproblem& problem = prepared.problems.list[number];
  Whole whole;
  whole.formulated = formulate(prepared.examples, problem.examples, problem.loss, options.kernel,
                               problem.bias, context);
  const DualQp& qp = whole.formulated.qp;
  Stop stop = options.stop;
  stop.seconds = std::min(stop.seconds, context.seconds);
  const Choice choice = starting(chosen_solver(qp, stop, options, context), qp, options,
                                 memory_for(options, context).bytes);
  const auto start = started(whole.formulated, problem.start, choice.solver, context.threads);
  whole.certified = solve_from(start ? &*start : nullptr, qp, choice.solver, context);
  return whole;
}

}  // namespace

Estimates estimate(const Model& model, Dataset data, const EstimateOptions& asked,
                   const Context& context) {
  const Stopwatch clock;
  if (!keeps_dual_variables(model))
    throw Error(Fault::usage,
                "estimates need the dual variables, and the model kept basis functions or weights "
                "and no dual variables",
                "train in memory, without --approximate and --regulariser");
  const Threads& threads = context.threads;
  TrainOptions options = options_of_model(model);
  options.stop = asked.stop;
  if (asked.memory_bytes > 0)
    options.memory_bytes = room_for_kernel(data, options, asked.memory_bytes);
  options.start = {std::shared_ptr<void>(), &model};  // owns nothing
  if (data.rows() != model.rows || content_hash(data) != model.data_hash)
    throw Error(Fault::data, "this is not the data the model was trained on",
                "give the file it was trained on");
  if (!data.weight_over.empty())
    throw Error(Fault::usage, "estimates are of rows with one weight each",
                "cross-validate instead (--cross-validate)");
  Estimates result;
  result.outcome = model.outcome;
  const Classes classes = model.outcome == Outcome::classes ? classes_of(data) : Classes{};
  std::vector<double> predicted;
  Audience audience(context, model.machines.size());
  const auto is_over_at = [&](std::size_t k) {
    audience.look(k);
    return audience.is_over(options.stop);
  };
  const Threads hurried = threads.interrupted_by([&] { return is_over_at(0); });
  try {
    const Predictor predictor(model);
    const RowsToPredict all = predictor.prepared(data.x, threads);
    const std::size_t machines = model.machines.size();
    // Values of all rows and machines may be a thousand times as large as the model.
    const std::size_t at_a_time = std::clamp<std::size_t>(most_values / machines, 1, data.rows());
    for (std::size_t begin = 0; begin < data.rows(); begin += at_a_time) {
      const std::size_t end = std::min(data.rows(), begin + at_a_time);
      const std::size_t functions = all.functions.size() / data.rows();
      RowsToPredict some;
      some.x = none_like(all.x);
      some.x.append(all.x.view().slice(begin, end));
      const auto first = all.functions.begin();
      some.functions.assign(first + static_cast<std::ptrdiff_t>(begin * functions),
                            first + static_cast<std::ptrdiff_t>(end * functions));
      const std::vector<double> f = predictor.decision_values(some, hurried);
      for (std::size_t i = 0; i < end - begin; ++i)
        predicted.push_back(predictor.predict({&f[i * machines], machines}));
    }
  } catch (const Threads::Interrupted&) {
    result.ended = audience.ended(Ended::time_limit);
    result.training_error = unknown;
    result.missing.emplace_back("there was no time to predict the training rows");
    result.seconds = clock.seconds();
    return result;
  }
  const Prepared prepared = prepare(std::move(data), options, context);
  std::set<Index> support;
  std::optional<Whole> single;
  const std::size_t machines = prepared.problems.list.size();
  bool is_whole = true;
  for (std::size_t k = 0; k < machines && result.ended != Ended::cancelled; ++k) {
    is_whole = machines == 1 || !is_over_at(k % model.machines.size());
    if (!is_whole) {
      result.ended = worse(result.ended, audience.ended(Ended::time_limit));
      result.certificate = {};
      break;
    }
    Whole whole = solved(prepared, k, options, context);
    if (k == 0)
      result.certificate = whole.certified.certificate;
    else
      add_to(result.certificate, whole.certified.certificate);
    result.ended = worse(result.ended, whole.certified.solution.ended);
    for (const auto& [row, beta] : whole.formulated.coefficients(whole.certified.solution.a))
      support.insert(row);
    if (machines > 1 || result.ended == Ended::cancelled) continue;
    add_bounds(prepared, options, whole, context, result);
    add_span(prepared, whole, memory_for(options, context).bytes, hurried, result);
    result.ended = audience.ended(result.ended);
    single = std::move(whole);
  }
  if (!is_whole)
    result.missing.emplace_back("there was no time for all machines: their support is not known");
  if (machines > 1)
    result.missing.emplace_back(
        "xi-alpha, radius/margin and the span rule are for one machine, not for several classes");
  double of_support = 0;
  Score training(prepared, classes.of_row);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    result.weight += prepared.weight_of(i);
    training.add(i, predicted[i]);
    if (support.contains(static_cast<Index>(i))) of_support += prepared.weight_of(i);
  }
  result.support = support.size();
  result.training_error = training.error();
  if (result.outcome == Outcome::classes && is_whole)
    result.support_share = of_support / result.weight;
  result.seconds = clock.seconds();
  if (asked.restarts && is_whole && result.ended != Ended::cancelled)
    result.restarted =
        scored(prepared, classes.of_row,
               without_each(prepared, options, {support, predicted, single ? &*single : nullptr},
                            context));
  if (asked.truth && is_whole && result.ended != Ended::cancelled)
    result.truth = scored(prepared, classes.of_row, by_force(prepared, options, context));
  for (const auto* each : {&result.restarted, &result.truth})
    if (*each) result.ended = worse(result.ended, (*each)->ended);
  return result;
}

}  // namespace maxmargin
