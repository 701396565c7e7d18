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

// A working set is solved to this share of the largest violation it began with.
constexpr double inner_share = 0.1;
constexpr int most_sweeps = 200;
// Of the worst violation of a round: what waits in the next one.
constexpr double waiting_share = 0.2;

class Method {
 public:
  Method(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
         std::vector<std::vector<double>> f)
      : qp_(qp),
        options_(options),
        context_(context),
        limits_(context, options.stop),
        size_(std::min(options.working_set, qp.size())),
        cache_(qp.K, options.cache_bytes, size_),
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
    return solution;
  }

 private:
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

  /// The examples that violate most, one of each point.
  void choose(double worst) {
    order_.resize(qp_.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    const double least = std::min(options_.stop.kkt, worst) / 2;
    std::erase_if(order_, [&](Index i) { return !(violation_[i] > least); });
    const auto before = [&](Index x, Index y) {
      return violation_[x] != violation_[y] ? violation_[x] > violation_[y] : x < y;
    };
    const std::size_t count = std::min(size_, order_.size());
    std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count),
                      order_.end(), before);
    order_.resize(count);
    points_.clear();
    for (const Index i : order_) points_.push_back(qp_.row[i]);
    std::sort(points_.begin(), points_.end());
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
  }

  /// Solves the working set; false if nothing moved.
  bool improve(double worst) {
    const std::size_t points = points_.size(), classes = qp_.classes;
    std::vector<float> values(points * points);
    std::vector<float*> rows;
    std::vector<Index> which(points);
    std::iota(which.begin(), which.end(), Index{0});
    for (std::size_t p = 0; p < points; ++p) rows.push_back(&values[p * points]);
    qp_.K->among(points_, which, rows, context_.threads);
    std::vector<double> local(points * classes), before;
    std::vector<std::size_t> position;
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t p = 0; p < points; ++p) local[k * points + p] = f_[k][points_[p]];
    for (const Index i : order_) {
      position.push_back(static_cast<std::size_t>(std::ranges::lower_bound(points_, qp_.row[i]) -
                                                  points_.begin()));
      for (std::size_t k = 0; k < classes; ++k) before.push_back(a_[i * classes + k]);
    }
    sweep(rows, position, local, inner_share * worst);
    std::vector<double> change(points * classes, 0.0);
    bool any = false;
    for (std::size_t w = 0; w < order_.size(); ++w)
      for (std::size_t k = 0; k < classes; ++k) {
        const double moved = a_[order_[w] * classes + k] - before[w * classes + k];
        change[position[w] * classes + k] += moved;
        any = any || moved != 0;
      }
    for (std::size_t k = 0; k < classes; ++k) add_to_f(change, k);
    return any;
  }

  /// One simplex after another, as often as it takes; those that violate little beside the worst of
  /// the last round wait. `local` are the values of f class by class.
  void sweep(std::span<float* const> rows, std::span<const std::size_t> position,
             std::vector<double>& local, double goal) {
    const std::size_t classes = qp_.classes, points = points_.size();
    std::vector<double> b(classes), next(classes), sorted;
    double least = goal / 4;
    for (int round = 0; round < most_sweeps; ++round) {
      double worst = 0;
      for (std::size_t w = 0; w < order_.size(); ++w) {
        const std::size_t i = order_[w], p = position[w];
        double* a = &a_[i * classes];
        const double diagonal = std::max<double>(rows[p][p], 1e-12);
        double largest = -infinity, lowest = infinity;
        for (std::size_t k = 0; k < classes; ++k) {
          const double value = qp_.error(i, k) + local[k * points + p];
          largest = std::max(largest, value);
          if (qp_.upper(i, k) > a[k]) lowest = std::min(lowest, value);
          b[k] = value - diagonal * a[k];
        }
        worst = std::max(worst, largest - lowest);
        if (!(largest - lowest > least)) continue;
        solve_simplex(diagonal, b, qp_.label[i], qp_.cost[i], next, sorted);
        const float* row = rows[p];
        for (std::size_t k = 0; k < classes; ++k) {
          const double by = next[k] - a[k];
          if (by != 0) add_scaled_rows({&row, 1}, {&by, 1}, points, &local[k * points]);
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
    for (std::size_t p = 0; p < points_.size(); ++p)
      if (const double each = change[p * qp_.classes + k]; each != 0) {
        which.push_back(points_[p]);
        coefficients.push_back(each);
      }
    if (which.empty()) return;
    RowCache::Wishes wishes;
    wishes.keep.assign(which.size(), true);
    wishes.precious.assign(qp_.K->size(), false);
    for (const Index point : points_) wishes.precious[point] = true;
    cache_.add(which, coefficients, wishes, f_[k], context_.threads);
  }

  const SimplexQp& qp_;
  const CrammerSinger& options_;
  const Run& context_;
  Limits limits_;
  std::size_t size_;
  RowCache cache_;
  std::vector<double> a_;
  std::vector<std::vector<double>> f_;
  std::vector<double> violation_;
  std::vector<Index> order_, points_;  ///< the working set, and its points in order
  double primal_ = infinity, dual_ = -infinity, relative_gap_ = infinity;
  std::size_t steps_ = 0;
};

}  // namespace

SimplexSolution run(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
                    std::vector<std::vector<double>> start_f) {
  return Method(qp, options, context, std::move(start_f)).solve();
}

}  // namespace maxmargin
