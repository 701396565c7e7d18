#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/linalg/class_spreads.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/solver/equations/free_in_groups.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/patience.hpp"

namespace maxmargin {

void solve_simplex(double diagonal, std::span<const double> b, std::size_t label, double cost,
                   std::span<double> a, std::vector<double>& sorted) {
  // t = (b + diagonal cost [k = label] - beta)_+ / diagonal, with beta such that sum t = cost.
  const std::size_t classes = b.size();
  sorted.assign(b.begin(), b.end());
  sorted[label] += diagonal * cost;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = sorted[0] - diagonal * cost;
  std::size_t count = 1;
  while (count < classes && sum < static_cast<double>(count) * sorted[count])
    sum += sorted[count++];
  const double beta = sum / static_cast<double>(count);
  double rest = 0, room = 0;
  std::size_t roomiest = label;
  for (std::size_t k = 0; k < classes; ++k) {
    const double bound = k == label ? cost : 0;
    a[k] = std::min(bound, (beta - b[k]) / diagonal);
    rest += a[k];
    if (bound - a[k] > room) {
      room = bound - a[k];
      roomiest = k;
    }
  }
  // What rounding has left goes where it changes no t = 0 into t > 0: to the largest t.
  a[roomiest] -= std::max(rest, -room);
}

namespace {

// The chosen examples are solved to this share of the largest violation they began with, and some
// of them at a time to that one: what others do to them would undo more.
constexpr double inner_share = 0.1, some_share = 0.3, nearly = 0.9;
// Steps for each example of a working set, at most.
constexpr std::size_t most_visits = 50;
constexpr std::size_t most_newton_steps = 50;
// Of the largest diagonal value; more where float kernel values are not definite.
constexpr double least_ridge = 1e-9, most_ridge = 1e-3;
// Of a step of Newton's: what would end it earlier is held.
constexpr double least_length = 0.01;
// So many sets are solved before all examples are looked at.
constexpr int most_rounds = 200;
// Between two looks at the limits: steps, each of which costs some examples times the classes.
constexpr std::size_t most_steps_between_looks = 256, values_between_looks = std::size_t{1} << 24;
// An example of a set beside its kernel values: for each class a value, what bars it, and what it
// was.
constexpr std::size_t table_bytes = 3 * sizeof(double);
// Examples whose values of all classes are gathered by one thread.
constexpr std::size_t examples_of_task = 64;

/// Examples that are chosen one after another, and K among their points.
class ChosenExamples {
 public:
  /// Room for as many as fit into so many bytes, but for some.
  ChosenExamples(const SimplexQp& qp, std::size_t bytes, const SimplexChoice& choice)
      : qp_(qp),
        most_(std::min(qp.size(), std::clamp(room_for(bytes, qp.classes), choice.least_examples,
                                             choice.most_examples))),
        is_held_(qp.size(), false) {}

  std::size_t most() const { return most_; }
  std::size_t bytes() const { return most_ * (most_ * sizeof(float) + qp_.classes * table_bytes); }
  std::size_t size() const { return examples_.size(); }
  Index operator[](std::size_t position) const { return examples_[position]; }
  bool holds(Index example) const { return is_held_[example]; }
  const float* row(std::size_t position) const { return rows_[position].data(); }

  void clear() {
    examples_.clear();
    points_.clear();
    rows_.clear();
    is_held_.assign(is_held_.size(), false);
  }
  /// These too; there is room for them, and none of them is there.
  void take(std::span<const Index> fresh, const Threads& threads) {
    const std::size_t before = size();
    for (const Index i : fresh) {
      is_held_[i] = true;
      examples_.push_back(i);
      points_.push_back(qp_.row[i]);
      rows_.emplace_back().resize_for_overwrite(most_);
    }
    std::vector<float*> out;
    for (std::size_t p = before; p < size(); ++p) out.push_back(rows_[p].data());
    qp_.K->block(std::span(points_).subspan(before), points_, out, threads);
    for (std::size_t p = before; p < size(); ++p)
      for (std::size_t q = 0; q < before; ++q) rows_[q][p] = rows_[p][q];
  }

 private:
  /// How many examples take so many bytes, with their tables.
  static std::size_t room_for(std::size_t bytes, std::size_t classes) {
    const double table = static_cast<double>(classes * table_bytes);
    const double all = static_cast<double>(bytes), value = sizeof(float);
    return static_cast<std::size_t>(2 * all / (table + std::sqrt(table * table + 4 * value * all)));
  }

  const SimplexQp& qp_;
  std::size_t most_;
  std::vector<Index> examples_, points_;
  std::vector<bool> is_held_;
  std::vector<Buffer<float>> rows_;
};

/// Values of all classes at some examples, as add_and_spread wants them.
class ClassTable {
 public:
  void resize(std::size_t classes, std::size_t count) {
    classes_ = classes;
    count_ = count;
    g_.resize(classes * count);
    bar_.resize(classes * count);
    spread_.resize(count);
  }
  double& g(std::size_t k, std::size_t column) { return g_[k * count_ + column]; }
  double* class_of(std::size_t k) { return &g_[k * count_]; }
  double spread(std::size_t column) const { return spread_[column]; }
  std::span<const double> spreads() const { return spread_; }
  /// Says which classes of a column may give way.
  void set_bars(const SimplexQp& qp, std::size_t i, const double* a, std::size_t column) {
    for (std::size_t k = 0; k < classes_; ++k)
      bar_[k * count_ + column] = qp.upper(i, k) > a[k] ? 0 : infinity;
  }
  /// add_and_spread
  std::size_t widest(const float* row = nullptr, const double* by = nullptr) {
    return add_and_spread({g_.data(), bar_.data(), count_, classes_, count_}, row, by,
                          spread_.data());
  }

 private:
  std::size_t classes_ = 0, count_ = 0;
  std::vector<double> g_, bar_, spread_;
};

class Method {
 public:
  Method(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
         std::vector<std::vector<double>> f)
      : qp_(qp),
        options_(options),
        context_(context),
        limits_(context, options.stop),
        patience_(context.observer, std::min(context.seconds, options.stop.seconds)),
        hurried_(context.threads.interrupted_by([this] { return patience_.is_over(); })),
        choice_(context.costs.simplices),
        set_(qp, options.cache_bytes / 4, choice_),
        cache_(qp.K, options.cache_bytes - set_.bytes(), set_.most()),
        a_(context.start),
        f_(std::move(f)) {
    if (a_.empty()) {
      a_.assign(qp.size() * qp.classes, 0.0);
      f_.assign(qp.classes, std::vector<double>(qp.K->size(), 0.0));
    }
  }

  SimplexSolution solve() {
    SimplexSolution solution;
    try {
      solution.ended = go();
    } catch (const Threads::Interrupted&) {
      // f may be unfinished; the variables are those of the last step.
      solution.ended = *patience_.ended();
    }
    solution.a = std::move(a_);
    solution.iterations = steps_;
    solution.dual = dual_;
    return solution;
  }

 private:
  Ended go() {
    for (;;) {
      const double worst = worst_ = examine();
      if (worst <= options_.stop.kkt && relative_gap_ <= options_.stop.relative_gap)
        return Ended::converged;
      if (const auto ended = stopped(worst)) return *ended;
      patience_.tell(progress(worst), context_.seconds_before);
      choose(worst);
      const bool moved = improve(worst);
      if (const auto ended = limits_.stopped()) return *ended;
      if (!moved) return Ended::stalled;
    }
  }
  bool within_limits() {
    return steps_ < options_.stop.iterations && limits_.allow_by([&] { return progress(worst_); });
  }
  std::optional<Ended> stopped(double worst) {
    if (steps_ >= options_.stop.iterations) return Ended::iteration_limit;
    Progress told = progress(worst);
    limits_.allow(told);
    return limits_.stopped();
  }
  Progress progress(double worst) const {
    Progress progress;
    progress.phase = "train";
    progress.iteration = steps_;
    progress.primal = primal_;
    progress.dual = dual_;
    progress.relative_gap = relative_gap_;
    progress.kkt = worst;
    progress.active = progress.size = qp_.size();
    return progress;
  }

  double g(std::size_t i, std::size_t k) const { return qp_.error(i, k) + f_[k][qp_.row[i]]; }

  /// What an example adds to the objectives.
  struct Share {
    double half = 0, loss = 0, linear = 0;
  };
  /// The violation of every example, and both objectives.
  double examine() {
    violation_.assign(qp_.size(), 0.0);
    std::vector<Share> shares(qp_.size());
    hurried_.split(qp_.size(), examples_of_task,
                   [&](std::size_t begin, std::size_t end) { examine(begin, end, shares); });
    double half = 0, loss = 0, linear = 0, worst = 0;
    for (std::size_t i = 0; i < qp_.size(); ++i) {
      half += shares[i].half;
      linear += shares[i].linear;
      loss += shares[i].loss;
      worst = std::max(worst, violation_[i]);
    }
    primal_ = half + loss;
    dual_ = -half - linear;
    const double sizes = std::abs(primal_) + std::abs(dual_);
    relative_gap_ = sizes > 0 ? 2 * std::max(0.0, primal_ - dual_) / sizes : 0;
    return worst;
  }
  /// The values of some examples are gathered first, class by class as f has them.
  void examine(std::size_t begin, std::size_t end, std::vector<Share>& shares) {
    const std::size_t classes = qp_.classes;
    std::vector<double> values((end - begin) * classes);
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t i = begin; i < end; ++i)
        values[(i - begin) * classes + k] = f_[k][qp_.row[i]];
    for (std::size_t i = begin; i < end; ++i) {
      const double* f = &values[(i - begin) * classes];
      double largest = -infinity, lowest = infinity;
      Share& mine = shares[i];
      for (std::size_t k = 0; k < classes; ++k) {
        const double value = qp_.error(i, k) + f[k], a = a_[i * classes + k];
        largest = std::max(largest, value);
        if (qp_.upper(i, k) > a) lowest = std::min(lowest, value);
        mine.half += a * f[k] / 2;
        mine.linear += qp_.error(i, k) * a;
      }
      violation_[i] = largest - lowest;
      mine.loss = qp_.cost[i] * (largest - f[qp_.label[i]]);
    }
  }

  /// Takes the examples that violate most into the set, where those that were taken before stay as
  /// long as there is room.
  void choose(double worst) {
    const double least = std::min(options_.stop.kkt, worst) / 2;
    std::vector<Index> violating;
    for (Index i = 0; i < qp_.size(); ++i)
      if (violation_[i] > least && !set_.holds(i)) violating.push_back(i);
    const auto before = [&](Index x, Index y) {
      return violation_[x] != violation_[y] ? violation_[x] > violation_[y] : x < y;
    };
    const auto keep_most = [&](std::vector<Index>& list, std::size_t count) {
      count = std::min(count, list.size());
      std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end(),
                        before);
      list.resize(count);
    };
    keep_most(violating, choice_.fresh_examples);
    if (set_.size() + violating.size() > set_.most()) {
      if (set_.size() > 0) context_.note(Way::chosen_anew);
      set_.clear();
      // Support vectors alone may be too many: then only what violates most.
      std::vector<Index> all(qp_.size());
      std::iota(all.begin(), all.end(), Index{0});
      std::erase_if(all, [&](Index i) { return !(violation_[i] > least || is_support(i)); });
      if (all.size() + violating.size() > set_.most()) keep_most(all, set_.most() / 2 + 1);
      violating = std::move(all);
    }
    std::ranges::sort(violating, [&](Index x, Index y) {
      return std::pair(qp_.row[x], x) < std::pair(qp_.row[y], y);
    });
    set_.take(violating, hurried_);
  }
  bool is_support(std::size_t i) const {
    const auto a = std::span(a_).subspan(i * qp_.classes, qp_.classes);
    return std::ranges::any_of(a, [](double each) { return each != 0; });
  }

  /// Solves the set, some of its examples after others; false if nothing moved.
  bool improve(double worst) {
    const std::size_t count = set_.size(), classes = qp_.classes;
    table_.resize(classes, count);
    std::vector<double> before(count * classes);
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t i = set_[p];
      for (std::size_t k = 0; k < classes; ++k) table_.g(k, p) = g(i, k);
      table_.set_bars(qp_, i, &a_[i * classes], p);
      std::copy_n(&a_[i * classes], classes, &before[p * classes]);
    }
    // No farther than is asked for; once it is, the gap is what is left, and wants less.
    const double kkt = options_.stop.kkt;
    const double goal = worst > kkt ? std::max(inner_share * worst, nearly * kkt) : worst / 2;
    for (int round = 0; round < most_rounds && within_limits(); ++round) {
      const double left = table_.spread(table_.widest());
      if (left <= goal || !improve_some(std::max(goal, some_share * left))) break;
    }
    if (limits_.stopped()) return true;
    bool any = false;
    for (std::size_t k = 0; k < classes; ++k) {
      std::vector<std::pair<Index, double>> change;
      for (std::size_t p = 0; p < count; ++p)
        if (const double by = a_[set_[p] * classes + k] - before[p * classes + k]; by != 0)
          change.emplace_back(qp_.row[set_[p]], by);
      any = any || !change.empty();
      add_to_f(std::move(change), k);
      if (!within_limits()) return true;
    }
    return any;
  }

  /// The positions of those of the set that violate more than `least`, the most of them, in order.
  std::vector<std::size_t> most_violating(double least) const {
    const std::span<const double> spread = table_.spreads();
    std::vector<std::size_t> some;
    for (std::size_t p = 0; p < spread.size(); ++p)
      if (spread[p] > least) some.push_back(p);
    if (some.size() <= choice_.working_set) return some;
    context_.note(Way::simplex_sets);
    std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(choice_.working_set),
                     some.end(), [&](std::size_t x, std::size_t y) {
                       return spread[x] != spread[y] ? spread[x] > spread[y] : x < y;
                     });
    some.resize(choice_.working_set);
    std::ranges::sort(some);
    return some;
  }

  /// Solves the simplices of a working set to `goal`, then updates g of the whole set; false if
  /// nothing moved.
  bool improve_some(double goal) {
    const std::size_t classes = qp_.classes;
    const std::vector<std::size_t> some = most_violating(goal / 2);
    some_.resize(classes, some.size());
    std::vector<double> before;
    for (std::size_t w = 0; w < some.size(); ++w) {
      for (std::size_t k = 0; k < classes; ++k) some_.g(k, w) = table_.g(k, some[w]);
      const double* a = &a_[set_[some[w]] * classes];
      some_.set_bars(qp_, set_[some[w]], a, w);
      before.insert(before.end(), a, a + classes);
    }
    solve_some(some, goal);
    if (limits_.stopped()) return true;
    bool any = false;
    for (std::size_t k = 0; k < classes; ++k) {
      std::vector<const float*> rows;
      std::vector<double> by;
      for (std::size_t w = 0; w < some.size(); ++w) {
        const double moved = a_[set_[some[w]] * classes + k] - before[w * classes + k];
        if (moved == 0) continue;
        rows.push_back(set_.row(some[w]));
        by.push_back(moved);
      }
      any = any || !rows.empty();
      if (!rows.empty()) add_scaled_rows(rows, by, set_.size(), table_.class_of(k));
    }
    for (const std::size_t p : some) table_.set_bars(qp_, set_[p], &a_[set_[p] * classes], p);
    return any;
  }

  using RowsAmong = std::vector<std::vector<float>>;
  /// K among a working set, of which only the rows are gathered that are used.
  const std::vector<float>& row_among(std::span<const std::size_t> some, RowsAmong& rows,
                                      std::size_t w) const {
    std::vector<float>& row = rows[w];
    if (row.empty())
      for (const std::size_t p : some) row.push_back(set_.row(some[w])[p]);
    return row;
  }

  BoundedPoint point_of(std::span<const std::size_t> some) const {
    BoundedPoint point;
    point.reserve(some.size() * qp_.classes);
    for (const std::size_t p : some)
      for (std::size_t k = 0; k < qp_.classes; ++k)
        point.add(a_[set_[p] * qp_.classes + k], -infinity, qp_.upper(set_[p], k));
    return point;
  }

  /// Newton's steps among the classes that are free, each as far as the first of them that comes to
  /// its bound, which is free no longer, until one goes all its way. False if none moved.
  bool newton_steps(std::span<const std::size_t> some, RowsAmong& rows) {
    FreeInGroups free(point_of(some), qp_.classes);
    bool any = false;
    for (std::size_t step = 0; step < most_newton_steps; ++step) {
      const double size = static_cast<double>(free.size()), price = size * size * size / 3;
      if (free.size() == 0 || free.size() > choice_.most_free || price > credit_ ||
          !within_limits())
        break;
      credit_ -= price;
      const auto direction = newton_direction(some, rows, free);
      if (!direction) break;
      const double length = free.reach(*direction);
      free.move(*direction, length);
      add_to_g(some, rows, *direction, length);
      ++steps_;
      context_.note(Way::simplex_newton);
      any = any || length > 0;
      if (length == 1) break;
      // Others that would come to their bounds soon are held, lest each of them take a step.
      free.hold(*direction, std::max(10 * length, least_length));
    }
    const double* a = free.point().x.data();
    for (std::size_t w = 0; w < some.size(); ++w, a += qp_.classes) {
      std::copy_n(a, qp_.classes, &a_[set_[some[w]] * qp_.classes]);
      some_.set_bars(qp_, set_[some[w]], a, w);
    }
    return any;
  }

  /// What each class of each example would change by.
  std::optional<std::vector<double>> newton_direction(std::span<const std::size_t> some,
                                                      RowsAmong& rows, const FreeInGroups& free) {
    const auto K = [&](std::size_t w) { return row_among(some, rows, w).data(); };
    const auto same = [](std::size_t k, std::size_t l) { return k == l ? 1 : 0; };
    for (; ridge_ < most_ridge; ridge_ *= 10) {
      Factor factor(free.size());
      SymmetricMatrix& M = factor.matrix();
      free.put_matrix(K, same, [&](std::size_t r) { return M.row(r); });
      double largest = 0;
      for (std::size_t r = 0; r < M.size(); ++r) largest = std::max(largest, M.row(r)[r]);
      for (std::size_t r = 0; r < M.size(); ++r) M.row(r)[r] += ridge_ * largest;
      if (factor.cholesky(context_.threads) != Factor::Outcome::done) continue;
      std::vector<double> z =
          free.right_sides([&](std::size_t w, std::size_t k) { return -some_.g(k, w); });
      factor.solve(z.data(), 1, context_.threads);
      return free.direction(z);
    }
    return std::nullopt;
  }

  /// What so much of a direction changes g of a working set by.
  void add_to_g(std::span<const std::size_t> some, RowsAmong& rows,
                std::span<const double> direction, double length) {
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      std::vector<const float*> moved;
      std::vector<double> coefficients;
      for (std::size_t w = 0; w < some.size(); ++w)
        if (const double by = length * direction[w * qp_.classes + k]; by != 0) {
          moved.push_back(row_among(some, rows, w).data());
          coefficients.push_back(by);
        }
      if (!moved.empty()) add_scaled_rows(moved, coefficients, some.size(), some_.class_of(k));
    }
  }

  /// Solves one simplex after another, always that of the example which violates most, until the
  /// violation is at most `goal`.
  void solve_some(std::span<const std::size_t> some, double goal) {
    const std::size_t classes = qp_.classes;
    std::vector<double> b(classes), next(classes), by(classes), sorted;
    RowsAmong rows(some.size());
    std::size_t w = some_.widest();
    const std::size_t steps_between_looks = std::clamp<std::size_t>(
        values_between_looks / (some.size() * classes), 1, most_steps_between_looks);
    for (std::size_t step = 0; step < most_visits * some.size() && some_.spread(w) > goal; ++step) {
      if (step % steps_between_looks == 0 && !within_limits()) return;
      // K is so ill-conditioned that Newton's step pays.
      if (step > 0 && step % (choice_.visits_to_newton * some.size()) == 0) {
        if (newton_steps(some, rows)) {
          w = some_.widest();
          continue;
        }
      }
      const std::size_t i = set_[some[w]];
      const std::vector<float>& row = row_among(some, rows, w);
      double* a = &a_[i * classes];
      const double diagonal = std::max<double>(row[w], 1e-12);
      for (std::size_t k = 0; k < classes; ++k) b[k] = some_.g(k, w) - diagonal * a[k];
      solve_simplex(diagonal, b, qp_.label[i], qp_.cost[i], next, sorted);
      bool moves = false;
      for (std::size_t k = 0; k < classes; ++k) {
        by[k] = next[k] - a[k];
        moves = moves || by[k] != 0;
        a[k] = next[k];
      }
      if (!moves) return;
      some_.set_bars(qp_, i, a, w);
      ++steps_;
      credit_ += choice_.newton_share * static_cast<double>(some.size() * classes);
      w = some_.widest(row.data(), by.data());
    }
  }

  /// Adds the kernel rows of points, where equal ones are added up.
  void add_to_f(std::vector<std::pair<Index, double>> change, std::size_t k) {
    std::ranges::stable_sort(change, {}, &std::pair<Index, double>::first);
    std::vector<Index> which;
    std::vector<double> coefficients;
    for (const auto& [point, by] : change) {
      if (which.empty() || which.back() != point) {
        which.push_back(point);
        coefficients.push_back(by);
      } else {
        coefficients.back() += by;
      }
    }
    if (which.empty()) return;
    RowCache::Wishes wishes;
    wishes.keep.assign(which.size(), true);
    wishes.precious.assign(qp_.K->size(), false);
    for (std::size_t p = 0; p < set_.size(); ++p) wishes.precious[qp_.row[set_[p]]] = true;
    cache_.add(which, coefficients, wishes, f_[k], hurried_);
  }

  const SimplexQp& qp_;
  const CrammerSinger& options_;
  const Run& context_;
  Limits limits_;
  Patience patience_;
  const Threads hurried_;  ///< until all has to end
  const SimplexChoice& choice_;
  ChosenExamples set_;
  RowCache cache_;
  std::vector<double> a_;
  std::vector<std::vector<double>> f_;
  std::vector<double> violation_;
  ClassTable table_, some_;  ///< of the set, and of those at work
  double primal_ = infinity, dual_ = -infinity, relative_gap_ = infinity, worst_ = infinity;
  double ridge_ = least_ridge, credit_ = 0;  ///< of Newton's steps
  std::size_t steps_ = 0;
};

}  // namespace

SimplexSolution run(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
                    std::vector<std::vector<double>> start_f) {
  return Method(qp, options, context, std::move(start_f)).solve();
}

}  // namespace maxmargin
