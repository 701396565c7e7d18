#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/row_cache.hpp"
#include "maxmargin/solver/limits.hpp"

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

// The chosen points are solved to this share of the largest violation they began with, and some of
// their examples at a time to that one: what others do to them would undo more.
constexpr double inner_share = 0.1, some_share = 0.3;
constexpr int most_sweeps = 200;
// So many working sets' points are chosen at once, and so many sets solved before all are looked
// at.
constexpr std::size_t fresh_sets = 4;
constexpr int most_rounds = 200;
// Of the worst violation of a round: what waits in the next one.
constexpr double waiting_share = 0.2;

/// Points that are chosen one after another, and K among them.
class ChosenPoints {
 public:
  /// Room for as many as fit into so many bytes, but for some.
  ChosenPoints(std::shared_ptr<const Quadratic> K, std::size_t bytes)
      : K_(std::move(K)),
        most_(std::min(K_->size(),
                       std::clamp(static_cast<std::size_t>(std::sqrt(bytes / sizeof(float))),
                                  least_points, most_points))),
        position_(K_->size(), none) {}

  std::size_t most() const { return most_; }
  std::size_t bytes() const { return most_ * most_ * sizeof(float); }
  std::span<const Index> points() const { return points_; }
  bool holds(Index point) const { return position_[point] != none; }
  std::size_t position(Index point) const { return position_[point]; }
  const float* row(std::size_t position) const { return rows_[position].data(); }

  void clear() {
    points_.clear();
    rows_.clear();
    position_.assign(position_.size(), none);
  }
  /// These too; there is room for them, and none of them is there.
  void take(std::span<const Index> fresh, const Threads& threads) {
    const std::size_t before = points_.size();
    for (const Index point : fresh) {
      position_[point] = static_cast<std::uint32_t>(points_.size());
      points_.push_back(point);
      rows_.emplace_back(most_);
    }
    std::vector<float*> out;
    for (std::size_t p = before; p < points_.size(); ++p) out.push_back(rows_[p].data());
    K_->block(fresh, points_, out, threads);
    for (std::size_t p = before; p < points_.size(); ++p)
      for (std::size_t q = 0; q < before; ++q) rows_[q][p] = rows_[p][q];
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::size_t least_points = 256, most_points = 4096;
  std::shared_ptr<const Quadratic> K_;
  std::size_t most_;
  std::vector<Index> points_;
  std::vector<std::uint32_t> position_;   // of each point of K
  std::vector<std::vector<float>> rows_;  // of each chosen one
};

class Method {
 public:
  Method(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
         std::vector<std::vector<double>> f)
      : qp_(qp),
        options_(options),
        context_(context),
        limits_(context, options.stop),
        set_(qp.K, options.cache_bytes / 4),
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
    std::optional<Ended> ended;
    while (!ended) {
      const double worst = examine();
      if (worst <= options_.stop.kkt && relative_gap_ <= options_.stop.relative_gap)
        ended = Ended::converged;
      else
        ended = stopped(worst);
      if (ended) break;
      choose(worst);
      if (!improve(worst)) ended = Ended::stalled;
    }
    solution.a = std::move(a_);
    solution.ended = *ended;
    solution.iterations = steps_;
    solution.dual = dual_;
    return solution;
  }

 private:
  bool within_limits() { return steps_ < options_.stop.iterations && !limits_.stopped(); }
  std::optional<Ended> stopped(double worst) {
    if (steps_ >= options_.stop.iterations) return Ended::iteration_limit;
    Progress progress;
    progress.iteration = steps_;
    progress.primal = primal_;
    progress.dual = dual_;
    progress.relative_gap = relative_gap_;
    progress.kkt = worst;
    progress.active = progress.size = qp_.size();
    limits_.allow(progress);
    return limits_.stopped();
  }

  double g(std::size_t i, std::size_t k) const { return qp_.error(i, k) + f_[k][qp_.row[i]]; }

  /// The violation of every example, and both objectives.
  double examine() {
    violation_.assign(qp_.size(), 0.0);
    context_.threads.split(qp_.size(), 512, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double largest = -infinity, lowest = infinity;
        for (std::size_t k = 0; k < qp_.classes; ++k) {
          const double value = g(i, k);
          largest = std::max(largest, value);
          if (qp_.upper(i, k) > a_[i * qp_.classes + k]) lowest = std::min(lowest, value);
        }
        violation_[i] = largest - lowest;
      }
    });
    double half = 0, loss = 0, linear = 0, worst = 0;
    for (std::size_t i = 0; i < qp_.size(); ++i) {
      double largest = -infinity;
      for (std::size_t k = 0; k < qp_.classes; ++k) {
        const double a = a_[i * qp_.classes + k];
        half += a * f_[k][qp_.row[i]] / 2;
        linear += qp_.error(i, k) * a;
        largest = std::max(largest, g(i, k));
      }
      loss += qp_.cost[i] * (largest - g(i, qp_.label[i]));
      worst = std::max(worst, violation_[i]);
    }
    primal_ = half + loss;
    dual_ = -half - linear;
    const double sizes = std::abs(primal_) + std::abs(dual_);
    relative_gap_ = sizes > 0 ? 2 * std::max(0.0, primal_ - dual_) / sizes : 0;
    return worst;
  }

  /// Takes the points of the examples that violate most into the set, where those that were taken
  /// before stay as long as there is room.
  void choose(double worst) {
    const double least = std::min(options_.stop.kkt, worst) / 2;
    std::vector<Index> violating;
    for (Index i = 0; i < qp_.size(); ++i)
      if (violation_[i] > least && !set_.holds(qp_.row[i])) violating.push_back(i);
    const auto before = [&](Index x, Index y) { return violates_more(x, y); };
    const std::size_t count = std::min(fresh_sets * options_.working_set, violating.size());
    std::partial_sort(violating.begin(), violating.begin() + static_cast<std::ptrdiff_t>(count),
                      violating.end(), before);
    violating.resize(count);
    if (set_.points().size() + count > set_.most()) {
      set_.clear();
      // Support vectors alone may be too many: then only what violates most.
      std::vector<Index> all(qp_.size());
      std::iota(all.begin(), all.end(), Index{0});
      std::erase_if(all, [&](Index i) { return !(violation_[i] > least || is_support(i)); });
      if (all.size() + count > set_.most()) {
        const std::size_t fit = std::min(set_.most() / 2 + 1, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(fit), all.end(),
                          before);
        all.resize(fit);
      }
      violating = std::move(all);
    }
    std::vector<Index> points;
    for (const Index i : violating) points.push_back(qp_.row[i]);
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    set_.take(points, context_.threads);
    order_.clear();
    for (Index i = 0; i < qp_.size(); ++i)
      if (set_.holds(qp_.row[i])) order_.push_back(i);
  }
  bool is_support(std::size_t i) const {
    const auto a = std::span(a_).subspan(i * qp_.classes, qp_.classes);
    return std::ranges::any_of(a, [](double each) { return each != 0; });
  }

  /// Solves the set, some of its examples after others; false if nothing moved.
  bool improve(double worst) {
    const std::span<const Index> chosen = set_.points();
    const std::size_t points = chosen.size(), classes = qp_.classes;
    local_.resize(points * classes);
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t p = 0; p < points; ++p) local_[k * points + p] = f_[k][chosen[p]];
    std::vector<double> change(points * classes, 0.0);
    const double goal = inner_share * worst;
    for (int round = 0; round < most_rounds && within_limits(); ++round) {
      const double left = choose_some();
      if (left <= goal || !improve_some(some_share * left, change)) break;
    }
    for (std::size_t k = 0; k < classes; ++k) add_to_f(change, k);
    return std::ranges::any_of(change, [](double each) { return each != 0; });
  }

  struct Spread {
    double largest = -infinity, lowest = infinity;
    double violation() const { return largest - lowest; }
  };
  /// Of g of an example whose values of f stand `stride` apart.
  Spread spread_of(std::size_t i, const double* f, std::size_t stride) const {
    const double* a = &a_[i * qp_.classes];
    const std::size_t label = qp_.label[i];
    double largest = -infinity, lowest = infinity;
    const auto look = [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const double value = f[k * stride];
        largest = std::max(largest, value);
        lowest = std::min(lowest, a[k] < 0 ? value : infinity);
      }
    };
    look(0, label);
    look(label + 1, qp_.classes);
    // e is 1 for all of them, and 0 for the label; adding it keeps the order.
    const double own = f[label * stride];
    return {std::max(1 + largest, own),
            std::min(1 + lowest, qp_.cost[i] > a[label] ? own : infinity)};
  }

  /// Those of the set that violate most; the largest violation.
  double choose_some() {
    const std::size_t points = set_.points().size();
    for (const Index i : order_)
      violation_[i] = spread_of(i, &local_[set_.position(qp_.row[i])], points).violation();
    some_ = order_;
    const std::size_t count = std::min(options_.working_set, some_.size());
    std::nth_element(some_.begin(), some_.begin() + static_cast<std::ptrdiff_t>(count) - 1,
                     some_.end(), [&](Index x, Index y) { return violates_more(x, y); });
    some_.resize(count);
    double worst = 0;
    for (const Index i : some_) worst = std::max(worst, violation_[i]);
    // In an order that does not depend on how they were found, and where rows are read in turn.
    std::ranges::sort(some_);
    return worst;
  }
  bool violates_more(Index x, Index y) const {
    return violation_[x] != violation_[y] ? violation_[x] > violation_[y] : x < y;
  }

  /// One simplex after another among these, then f of the set; adds to the changes at its points.
  bool improve_some(double goal, std::vector<double>& change) {
    const std::size_t points = set_.points().size(), classes = qp_.classes, count = some_.size();
    std::vector<std::size_t> position;
    for (const Index i : some_) position.push_back(set_.position(qp_.row[i]));
    std::vector<float> among(count * count);
    std::vector<double> near(count * classes), before;
    for (std::size_t w = 0; w < count; ++w) {
      for (std::size_t v = 0; v < count; ++v)
        among[w * count + v] = set_.row(position[w])[position[v]];
      for (std::size_t k = 0; k < classes; ++k)
        near[k * count + w] = local_[k * points + position[w]];
      const double* a = &a_[some_[w] * classes];
      before.insert(before.end(), a, a + classes);
    }
    sweep(among, near, goal);
    bool any = false;
    for (std::size_t k = 0; k < classes; ++k) {
      std::vector<const float*> rows;
      std::vector<double> by;
      for (std::size_t w = 0; w < count; ++w) {
        const double moved = a_[some_[w] * classes + k] - before[w * classes + k];
        if (moved == 0) continue;
        change[position[w] * classes + k] += moved;
        rows.push_back(set_.row(position[w]));
        by.push_back(moved);
      }
      if (rows.empty()) continue;
      any = true;
      add_scaled_rows(rows, by, points, &local_[k * points]);
    }
    return any;
  }

  /// One simplex after another, as often as it takes; those that violate little beside the worst of
  /// the last round wait. `near` are the values of f class by class.
  void sweep(std::span<const float> among, std::span<double> near, double goal) {
    const std::size_t classes = qp_.classes, count = some_.size();
    std::vector<double> b(classes), next(classes), sorted;
    double least = goal / 4;
    for (int round = 0; round < most_sweeps; ++round) {
      double worst = 0;
      for (std::size_t w = 0; w < count; ++w) {
        const std::size_t i = some_[w];
        double* a = &a_[i * classes];
        const float* row = &among[w * count];
        const double violation = spread_of(i, &near[w], count).violation();
        worst = std::max(worst, violation);
        if (!(violation > least)) continue;
        const double diagonal = std::max<double>(row[w], 1e-12);
        for (std::size_t k = 0; k < classes; ++k)
          b[k] = qp_.error(i, k) + near[k * count + w] - diagonal * a[k];
        solve_simplex(diagonal, b, qp_.label[i], qp_.cost[i], next, sorted);
        for (std::size_t k = 0; k < classes; ++k) {
          const double by = next[k] - a[k];
          if (by != 0) add_scaled_rows({&row, 1}, {&by, 1}, count, &near[k * count]);
          a[k] = next[k];
        }
        ++steps_;
      }
      if (worst <= goal) return;
      least = std::max(goal / 4, waiting_share * worst);
    }
  }

  void add_to_f(std::span<const double> change, std::size_t k) {
    std::vector<Index> which;
    std::vector<double> coefficients;
    for (std::size_t p = 0; p < set_.points().size(); ++p)
      if (const double each = change[p * qp_.classes + k]; each != 0) {
        which.push_back(set_.points()[p]);
        coefficients.push_back(each);
      }
    if (which.empty()) return;
    RowCache::Wishes wishes;
    wishes.keep.assign(which.size(), true);
    wishes.precious.assign(qp_.K->size(), false);
    for (const Index point : set_.points()) wishes.precious[point] = true;
    cache_.add(which, coefficients, wishes, f_[k], context_.threads);
  }

  const SimplexQp& qp_;
  const CrammerSinger& options_;
  const Run& context_;
  Limits limits_;
  ChosenPoints set_;
  RowCache cache_;
  std::vector<double> a_;
  std::vector<std::vector<double>> f_;
  std::vector<double> violation_;
  std::vector<Index> order_, some_;  ///< the examples of the set, and those at work
  std::vector<double> local_;        ///< f of the set, class by class
  double primal_ = infinity, dual_ = -infinity, relative_gap_ = infinity;
  std::size_t steps_ = 0;
};

}  // namespace

SimplexSolution run(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
                    std::vector<std::vector<double>> start_f) {
  return Method(qp, options, context, std::move(start_f)).solve();
}

}  // namespace maxmargin
