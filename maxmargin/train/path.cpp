#include "maxmargin/train/path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/matrix/cache/cached_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/solver/solve_from.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "maxmargin/train/machines/machines.hpp"
#include "maxmargin/train/machines/start.hpp"

namespace maxmargin {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

bool has_cost(const Task& task) {
  return visit_list(
      [](const auto& chosen) {
        if constexpr (requires { chosen.hard_margin; })
          if (chosen.hard_margin) return false;
        return requires { chosen.cost; };
      },
      task);
}

void set_cost(Task& task, double cost) {
  visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.cost; }) chosen.cost = cost;
      },
      task);
}

bool set_width(Kernel& kernel, double gamma) {
  return visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.gamma; }) chosen.gamma = gamma;
        return requires { chosen.gamma; };
      },
      kernel);
}

void require_values(const PathOptions& options) {
  const std::string noun = options.parameter == PathParameter::cost ? "costs" : "widths";
  const std::vector<double>& values = options.values;
  if (values.empty())
    throw Error(Fault::usage, "there are no " + noun + " for a path",
                "give a list as 1,10,100 or a range as 1000:0.01");
  for (const double value : values)
    if (!(value > 0) || std::isinf(value))
      throw Error(Fault::usage, "the path has " + shortest(value) + " among its " + noun,
                  "choose values greater than 0");
  const bool down = std::ranges::adjacent_find(values, std::less_equal<>()) == values.end();
  const bool up = std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
  if (!down && !up)
    throw Error(Fault::usage, "the " + noun + " of the path are in no order",
                "sort them, down or up, each only once: every point starts from the one before");
}

void require_parameter(const PathOptions& options) {
  const TrainOptions& train = options.train;
  if (options.parameter == PathParameter::cost && !has_cost(train.task))
    throw Error(Fault::usage,
                "task " + std::string(name_of(train.task)) + " has no cost to make a path of",
                "use --gammas, or a task with a cost");
  Kernel kernel = train.kernel;
  if (options.parameter == PathParameter::width && !set_width(kernel, 1))
    throw Error(Fault::usage,
                "the kernel " + std::string(name_of(kernel)) + " has no width to make a path of",
                "use --costs, or a kernel with --gamma");
  if (train.approximate)
    throw Error(Fault::usage, "a path takes the kernel as it is", "leave --approximate out");
  if (train.l1)
    throw Error(Fault::usage, "the regulariser l1 has no start to make a path of",
                "leave --regulariser out");
  if (is_one_problem(train.task))
    throw Error(Fault::usage, "all classes in one problem have no start to make a path of",
                "choose another --multiclass");
}

/// The solution of one machine at the point before.
struct Reached {
  Certified certified;  ///< with variables and f
  std::vector<Block> block;
  std::vector<std::pair<Index, double>> coefficients;
};

/// The variables of the point before, scaled to other costs; those at a bound stay at it. f scales
/// with them, but for a few last digits of each.
Known scaled(const DualQp& qp, const Reached& before, double factor) {
  constexpr double digits = 16 * std::numeric_limits<double>::epsilon();
  Known known{before.certified.solution.a, before.certified.f, before.certified.error};
  double more = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& now = qp.block[v];
    double& a = known.a[v];
    a = a >= before.block[v].upper ? now.upper : std::clamp(factor * a, now.lower, now.upper);
    more += digits * std::abs(a) * std::sqrt(std::abs(qp.K->diagonal()[qp.row[v]]));
  }
  known.error.all = factor * known.error.all + more;
  for (double& error : known.error.of_point) error = factor * error + more;
  for (double& f : known.f) f *= factor;
  return known;
}

double half_norm(const DualQp& qp, const Certified& certified) {
  const std::vector<double> beta = qp.coefficients(certified.solution.a);
  double sum = 0;
  for (std::size_t p = 0; p < beta.size(); ++p) sum += beta[p] * certified.f[p];
  return std::max(0.0, sum / 2);
}

std::size_t at_upper_bound(const DualQp& qp, std::span<const double> a) {
  std::size_t count = 0;
  for (std::size_t v = 0; v < qp.size(); ++v)
    count += a[v] > 0 && qp.block[v].upper > qp.block[v].lower && a[v] >= qp.block[v].upper;
  return count;
}

/// Trains one machine after another, each along the whole path.
class Walk {
 public:
  Walk(const Prepared& prepared, const PathOptions& options, const Folds& folds, TrainedPath& path,
       const Context& context)
      : prepared_(prepared),
        options_(options),
        folds_(folds),
        path_(path),
        context_(context),
        memory_(memory_for(options.train, context)),
        audience_(context, prepared.problems.list.size() * options.values.size()),
        support_(options.values.size()),
        is_single_(prepared.problems.list.size() == 1),
        keeps_matrix_(options.parameter == PathParameter::cost &&
                      prepared.examples.functions.count() == 0) {
    for (int fold = 0; fold < folds.count; ++fold) left_out_.push_back(folds.rows_of(fold));
  }

  bool judges_folds() const { return is_single_ && prepared_.examples.functions.count() == 0; }

  void walk(std::size_t machine) {
    const Subproblem& problem = prepared_.problems.list[machine];
    std::optional<Formulated> all;
    std::optional<Reached> whole;
    std::vector<std::optional<Reached>> rest(judges_folds() ? left_out_.size() : 0);
    for (std::size_t k = 0; k < options_.values.size(); ++k) {
      PathPoint& point = path_.points[k];
      const Subproblem now = at_point(problem, k);
      const Stopwatch clock;
      if (k > 0 && !keeps_matrix_ && is_over(machine)) return leave_out_from(k);
      // The kernel rows of one width only at a time.
      if (!keeps_matrix_) all.reset();
      if (!all) all = formulated(now, k);
      const Formulated here =
          keeps_matrix_ && k > 0 ? without(*all, now.examples, now.loss, now.bias, nobody()) : *all;
      start_risk(point, here.qp, whole, k);
      whole = solve(here, whole ? &*whole : nullptr, nullptr, k, machine);
      note(point, here.qp, now, *whole, machine);
      point.seconds += clock.seconds();
      const Stopwatch fold_clock;
      for (std::size_t fold = 0; fold < rest.size(); ++fold) {
        if (is_over(machine)) {
          judged_ = 0;
          point.ended = worse(point.ended, audience_.ended(Ended::time_limit));
          break;
        }
        const Formulated less = without(*all, now.examples, now.loss, now.bias, left_out_[fold]);
        rest[fold] = solve(less, rest[fold] ? &*rest[fold] : nullptr, &*whole, k, machine);
        judge(point, *all, now, *rest[fold], static_cast<int>(fold));
      }
      if (!rest.empty()) finish_error(point);
      point.seconds_of_folds += fold_clock.seconds();
      audience_.finished(machine * options_.values.size() + k);
    }
  }

  /// Whether all has to end before this machine, one of many or of many rows. Of a sum over some of
  /// the machines nothing is claimed.
  bool is_over_before(std::size_t machine) {
    if (!takes_long_to_certify(prepared_.examples, prepared_.problems.list)) return false;
    if (!is_over(machine)) return false;
    leave_out_from(0);
    return true;
  }

  /// The limits less the time that has passed.
  Stop rest() const { return audience_.rest_of(options_.train.stop); }

  void count_support() {
    for (std::size_t k = 0; k < support_.size(); ++k) path_.points[k].support = support_[k].size();
  }

 private:
  bool is_over(std::size_t machine) {
    audience_.look(machine * options_.values.size());
    return audience_.is_over(options_.train.stop);
  }
  /// These points have not been reached, at least not by all machines.
  void leave_out_from(std::size_t first) {
    path_.ended = worse(path_.ended, audience_.ended(Ended::time_limit));
    for (PathPoint& point : std::span(path_.points).subspan(first)) {
      point.certificate = {};
      point.ended = worse(point.ended, path_.ended);
    }
  }

  std::vector<bool> nobody() const { return std::vector<bool>(prepared_.examples.x->count()); }

  double cost_at(std::size_t k) const { return path_.points[k].cost; }

  /// The machine with the costs of a point; those of `prepared` are of the first.
  Subproblem at_point(Subproblem problem, std::size_t k) const {
    for (Example& example : problem.examples.own()) scale_cost(example, cost_at(k) / cost_at(0));
    return problem;
  }

  Formulated formulated(const Subproblem& problem, std::size_t k) const {
    Kernel kernel = options_.train.kernel;
    if (options_.parameter == PathParameter::width) set_width(kernel, options_.values[k]);
    Formulated made = formulate(prepared_.examples, problem.examples, problem.loss, kernel,
                                problem.bias, context_);
    // For the points of a path, or for the folds of this one.
    if (keeps_matrix_ || !left_out_.empty())
      made.qp.K = cache_rows(std::move(made.qp.K), memory_.rows_of_path().bytes, context_.costs);
    if (made.qp.K->can().stored != nullptr) context_.note(Way::cached_rows);
    return made;
  }

  /// R[f_C, C'] of the point before.
  void start_risk(PathPoint& point, const DualQp& qp, const std::optional<Reached>& before,
                  std::size_t k) const {
    if (!before || !keeps_matrix_) {
      point.start_primal = infinity;
      return;
    }
    const PathPoint& last = path_.points[k - 1];
    const double half = half_norm(qp, before->certified);
    point.start_primal +=
        half + (before->certified.certificate.primal - half) * point.cost / last.cost;
  }

  std::optional<Known> start_of(const Formulated& here, const Reached* before,
                                const Reached* with_all, std::size_t k,
                                const Solver& solver) const {
    if (before != nullptr && keeps_matrix_)
      return scaled(here.qp, *before, cost_at(k) / cost_at(k - 1));
    if (before != nullptr) return started(here, before->coefficients, solver, context_.threads);
    if (with_all == nullptr) return std::nullopt;
    auto a = start_from_solution(here.qp, with_all->certified);
    if (!a) return std::nullopt;
    const Certified& known = with_all->certified;
    return known_at(here.qp, *std::move(a), Known{known.solution.a, known.f, known.error},
                    context_.threads);
  }

  Reached solve(const Formulated& here, const Reached* before, const Reached* with_all,
                std::size_t k, std::size_t machine) {
    const MemoryBudget rest_of_memory = memory_.without(memory_.rows_of_path().bytes);
    const Context beside = context_.with_memory(rest_of_memory);
    Choice choice = chosen_solver(here.qp, rest(), options_.train, beside);
    choice = starting(std::move(choice), here.qp, options_.train, rest_of_memory.bytes);
    const std::optional<Known> start = start_of(here, before, with_all, k, choice.solver);
    Reached reached;
    reached.certified =
        solve_from(start ? &*start : nullptr, here.qp, choice.solver,
                   beside.watched_by([&](const Progress& progress) {
                     return audience_.tell(machine * options_.values.size() + k, progress);
                   }),
                   with_all == nullptr ? Judged::apart : Judged::by_solver);
    Solution& solution = reached.certified.solution;
    solution.ended = audience_.ended(solution.ended);
    state_as_given(here, options_.train.stop, reached.certified);
    reached.block = here.qp.block;
    reached.coefficients = here.coefficients(solution.a);
    if (path_.solver.empty()) {
      path_.solver = name_of(choice.solver);
      path_.reason = choice.reason;
    }
    return reached;
  }

  void note(PathPoint& point, const DualQp& qp, const Subproblem& problem, const Reached& reached,
            std::size_t machine) {
    const Certified& certified = reached.certified;
    if (machine == 0)
      point.certificate = certified.certificate;
    else
      add_to(point.certificate, certified.certificate);
    point.ended = worse(point.ended, certified.solution.ended);
    path_.ended = worse(path_.ended, certified.solution.ended);
    point.iterations += certified.solution.iterations;
    const double half = half_norm(qp, certified);
    double weight = 0;
    for (const Example& example : problem.examples) weight += example.cost;
    point.regulariser += half;
    // Of several machines: the mean of theirs.
    point.loss += (certified.certificate.primal - half) / weight /
                  static_cast<double>(prepared_.problems.list.size());
    point.margin = std::min(point.margin, half > 0 ? 1 / std::sqrt(2 * half) : infinity);
    point.bounded += at_upper_bound(qp, certified.solution.a);
    std::set<Index>& rows = support_[static_cast<std::size_t>(&point - path_.points.data())];
    for (const auto& [row, coefficient] : reached.coefficients) rows.insert(row);
  }

  /// Adds the errors of the machine trained without a fold on that fold.
  void judge(PathPoint& point, const Formulated& all, const Subproblem& problem,
             const Reached& reached, int fold) {
    const std::vector<double> values = values_at_examples(all, problem, reached.certified);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Example& example = problem.examples[i];
      if (!folds_.holds(fold, example.row)) continue;
      const double weight = prepared_.weight_of(example.row);
      const double off = values[i] - example.target;
      const bool wrong = prepared_.problems.outcome == Outcome::novelty
                             ? values[i] < 0
                             : (values[i] > 0) != (example.target > 0);
      error_ += weight * (prepared_.problems.outcome == Outcome::number ? off * off
                          : wrong                                       ? 1.0
                                                                        : 0.0);
      judged_ += weight;
    }
    point.ended = worse(point.ended, reached.certified.solution.ended);
    path_.ended = worse(path_.ended, reached.certified.solution.ended);
  }
  void finish_error(PathPoint& point) {
    point.error = judged_ > 0 ? error_ / judged_ : not_known;
    error_ = judged_ = 0;
  }

  const Prepared& prepared_;
  const PathOptions& options_;
  const Folds& folds_;
  TrainedPath& path_;
  const Context& context_;
  const MemoryBudget memory_;
  Audience audience_;
  std::vector<std::set<Index>> support_;
  bool is_single_, keeps_matrix_;
  std::vector<std::vector<bool>> left_out_;
  double error_ = 0, judged_ = 0;
};

struct RowsOfFolds {
  const Folds& folds;
  std::span<const Index> class_of;
};

/// The same by cross-validation at each point, for several machines, or with functions.
void judge_points(const Prepared& prepared, const PathOptions& options, const RowsOfFolds& rows,
                  TrainedPath& path, const Context& context) {
  Prepared here = prepared;
  for (std::size_t k = 0; k < path.points.size(); ++k) {
    PathPoint& point = path.points[k];
    const Stopwatch clock;
    TrainOptions train = options.train;
    set_cost(train.task, point.cost);
    if (options.parameter == PathParameter::width) set_width(train.kernel, point.value);
    here.problems = prepared.problems;
    here.problems.list.multiply_costs(point.cost / path.points[0].cost);
    const OutOfFold judged = judge_out_of_fold(here, rows.folds, train, context);
    double wrong = 0, weights = 0;
    for (std::size_t i = 0; i < judged.predicted.size(); ++i) {
      if (std::isnan(judged.predicted[i])) continue;
      const double off = judged.predicted[i] - prepared.y[i];
      wrong += prepared.weight_of(i) *
               (path.outcome == Outcome::number    ? off * off
                : path.outcome == Outcome::novelty ? (judged.predicted[i] < 0 ? 1.0 : 0.0)
                : judged.predicted[i] != static_cast<double>(rows.class_of[i]) ? 1.0
                                                                               : 0.0);
      weights += prepared.weight_of(i);
    }
    point.error = weights > 0 ? wrong / weights : not_known;
    point.ended = worse(point.ended, judged.ended);
    path.ended = worse(path.ended, judged.ended);
    point.seconds_of_folds = clock.seconds();
    if (path.ended == Ended::cancelled) return;
  }
}

}  // namespace

std::vector<std::string> contradictions(const std::vector<PathPoint>& points) {
  std::vector<std::string> found;
  const auto say = [&](const PathPoint& x, const PathPoint& y, const char* which) {
    found.push_back(std::string(which) + " between C = " + shortest(x.cost) +
                    " and C = " + shortest(y.cost));
  };
  for (std::size_t k = 1; k < points.size(); ++k) {
    const bool up = points[k].cost > points[k - 1].cost;
    const PathPoint &less = points[up ? k - 1 : k], &more = points[up ? k : k - 1];
    const double slack = 1e-9 * std::abs(more.certificate.primal);
    if (points[k].start_primal < points[k].certificate.dual - slack) say(less, more, "(10.23)");
    if (less.certificate.dual > more.certificate.primal + slack) say(less, more, "(10.25), right");
    if (less.cost / more.cost * more.certificate.dual > less.certificate.primal + slack)
      say(less, more, "(10.25), left");
    // lambda = 1 / (C m): the same as (10.25), left, where R is divided by C m.
    if (more.certificate.dual / more.cost > less.certificate.primal / less.cost + slack / less.cost)
      say(less, more, "(10.141)");
  }
  return found;
}

TrainedPath train_path(Dataset data, const PathOptions& options, const Context& context) {
  require_values(options);
  require_parameter(options);
  const Stopwatch clock;
  PathOptions own = options;
  if (own.parameter == PathParameter::cost)
    set_cost(own.train.task, own.values.front());
  else
    set_width(own.train.kernel, own.values.front());
  TrainedPath path;
  path.outcome = outcome_of(own.train.task);
  const Classes classes =
      path.outcome == Outcome::classes && data.labelled() ? classes_of(data) : Classes{};
  Prepared prepared = prepare(std::move(data), own.train, context);
  // A matrix for all machines is of one width.
  if (own.parameter == PathParameter::width) prepared.examples.K = nullptr;
  Folds folds;
  if (own.folds > 0)
    folds = make_folds(prepared.examples.x->count(), prepared.y, prepared.weight, path.outcome,
                       own.folds, own.train.seed);
  for (std::size_t i = 0; i < prepared.examples.x->count(); ++i)
    path.weight += prepared.weight_of(i);
  for (const double value : own.values) {
    PathPoint point;
    point.value = value;
    point.error = not_known;
    if (own.parameter == PathParameter::cost) point.cost = value;
    path.points.push_back(point);
  }
  Walk walk(prepared, own, folds, path, context);
  bool is_whole = true;
  for (std::size_t k = 0; is_whole && k < prepared.problems.list.size(); ++k) {
    is_whole = !walk.is_over_before(k);
    if (is_whole) walk.walk(k);
  }
  walk.count_support();
  if (own.folds > 0 && !walk.judges_folds() && is_whole && path.ended != Ended::cancelled) {
    Context rest = context;
    rest.seconds = walk.rest().seconds;
    judge_points(prepared, own, {folds, classes.of_row}, path, rest);
  }
  if (own.parameter == PathParameter::cost) path.violations = contradictions(path.points);
  path.seconds = clock.seconds();
  return path;
}

}  // namespace maxmargin
