#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/class_sums.hpp"
#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/patience.hpp"

namespace maxmargin {
namespace {

// Violations below this share of the values they are differences of are rounding.
constexpr double rounding = 1e-13;
// Numbers of classes that steps go through between two looks at the limits.
constexpr std::size_t numbers_between_looks = std::size_t{1} << 20;

class LinearMethod {
 public:
  LinearMethod(const SimplexQp& qp, const Rows& x, const LinearCrammerSinger& options,
               const Run& context)
      : qp_(qp),
        x_(x),
        options_(options),
        limits_(context, options.stop),
        rng_(options.seed),
        stride_(stride_for(qp.classes)),
        w_(x.columns * stride_, 0.0),
        sum_(stride_),
        a_(context.start),
        g_(qp.classes),
        next_(qp.classes),
        looks_(1 + numbers_between_looks / qp.classes) {
    order_.resize(qp.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    if (a_.empty())
      a_.assign(qp.size() * qp.classes, 0.0);
    else
      for (std::size_t i = 0; i < qp.size(); ++i) add_row(i, &a_[i * qp.classes]);
  }

  SimplexSolution solve() {
    SimplexSolution solution;
    std::optional<Ended> ended;
    double tolerance = options_.stop.kkt;
    while (!ended) {
      const double worst = pass();
      ended = limits_.stopped();
      if (!ended) ended = stopped(worst);
      const double least = rounding * (1 + largest_value_);
      if (ended || worst > std::max(tolerance, least)) continue;
      if (active_ < order_.size()) {
        active_ = 0;  // all of them again
        last_worst_ = infinity;
        continue;
      }
      if (!examine()) {
        ended = limits_.stopped();
        continue;
      }
      if (relative_gap_ <= options_.stop.relative_gap && worst <= options_.stop.kkt)
        ended = Ended::converged;
      else if (tolerance < least)
        ended = Ended::stalled;
      tolerance = std::min(tolerance, worst) / 2;
    }
    solution.a = std::move(a_);
    solution.ended = *ended;
    solution.iterations = steps_;
    solution.dual = dual_;
    return solution;
  }

 private:
  std::optional<Ended> stopped(double worst) {
    if (steps_ >= options_.stop.iterations) return Ended::iteration_limit;
    may_go_on(worst);
    return limits_.stopped();
  }
  bool may_go_on(double worst) {
    return limits_.allow_by([&] {
      Progress progress;
      progress.iteration = steps_;
      progress.primal = primal_;
      progress.dual = dual_;
      progress.relative_gap = relative_gap_;
      progress.kkt = worst;
      progress.active = active_;
      progress.size = qp_.size();
      return progress;
    });
  }

  /// Whole vectors of classes: w has zeros in the place of those that are wanting.
  static std::size_t stride_for(std::size_t classes) {
    constexpr std::size_t widest = 8;
    return classes < widest ? classes : (classes + widest - 1) / widest * widest;
  }

  ClassRow values_in(std::size_t i) const {
    const std::uint64_t first = x_.first(qp_.row[i]);
    return {x_.sparse() ? x_.index + first : nullptr,
            x_.floats == nullptr ? nullptr : x_.floats + first,
            x_.floats == nullptr ? x_.doubles + first : nullptr, x_.stored(qp_.row[i])};
  }
  void add_row(std::size_t i, const double* change) {
    std::copy_n(change, qp_.classes, sum_.begin());
    std::fill(sum_.begin() + static_cast<std::ptrdiff_t>(qp_.classes), sum_.end(), 0.0);
    add_to_classes(w_.data(), values_in(i), stride_, sum_.data());
  }
  void values_of(std::size_t i) {
    class_sums(w_.data(), values_in(i), stride_, sum_.data());
    for (std::size_t k = 0; k < qp_.classes; ++k) g_[k] = qp_.error(i, k) + sum_[k];
  }

  /// One step for each example in play, unless all has to end; the largest violation among them.
  double pass() {
    if (active_ == 0) active_ = order_.size();
    for (std::size_t s = 0; s < active_; ++s)
      std::swap(order_[s], order_[s + rng_.below(active_ - s)]);
    double worst = 0;
    for (std::size_t s = 0, visits = 0; s < active_; ++visits) {
      if (visits % looks_ == looks_ - 1 && !may_go_on(last_worst_)) return worst;
      const std::size_t i = order_[s];
      const double violation = step(i);
      worst = std::max(worst, violation);
      // At the corner of its label by more than anything has moved by in the last pass.
      if (violation == 0 && corner_slack_ > last_worst_) {
        std::swap(order_[s], order_[--active_]);
        continue;
      }
      ++s;
    }
    last_worst_ = std::max(worst, options_.stop.kkt);
    // No example is left over to tell: all of them again.
    if (active_ == 0) active_ = order_.size();
    return worst;
  }

  double step(std::size_t i) {
    values_of(i);
    double* a = &a_[i * qp_.classes];
    const std::size_t label = qp_.label[i];
    double largest = -infinity, lowest = infinity, other = -infinity;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      largest = std::max(largest, g_[k]);
      if (k != label) other = std::max(other, g_[k]);
      if (qp_.upper(i, k) > a[k]) lowest = std::min(lowest, g_[k]);
    }
    largest_value_ = std::max({largest_value_, std::abs(largest), std::abs(lowest)});
    const double violation = largest - lowest;
    corner_slack_ = a[label] == 0 ? g_[label] - other : -infinity;
    if (!(violation > 1e-15 * (1 + std::abs(largest)))) return 0;
    const double diagonal = std::max(qp_.K->diagonal()[qp_.row[i]], 1e-12);
    for (std::size_t k = 0; k < qp_.classes; ++k) g_[k] -= diagonal * a[k];
    solve_simplex(diagonal, g_, label, qp_.cost[i], next_, sorted_);
    bool moved = false;
    for (std::size_t k = 0; k < qp_.classes; ++k) {
      const double change = next_[k] - a[k];
      a[k] = next_[k];
      next_[k] = change;
      moved = moved || change != 0;
    }
    ++steps_;
    if (moved) add_row(i, next_.data());
    return violation;
  }

  /// Both objectives; false where all has to end before they are known.
  bool examine() {
    double half = 0, loss = 0, linear = 0;
    for (const double w : w_) half += w * w / 2;
    for (std::size_t i = 0; i < qp_.size(); ++i) {
      if (i % looks_ == looks_ - 1 && !may_go_on(last_worst_)) return false;
      values_of(i);
      loss += qp_.cost[i] * (*std::max_element(g_.begin(), g_.end()) - g_[qp_.label[i]]);
      for (std::size_t k = 0; k < qp_.classes; ++k)
        linear += qp_.error(i, k) * a_[i * qp_.classes + k];
    }
    primal_ = half + loss;
    dual_ = -half - linear;
    const double sizes = std::abs(primal_) + std::abs(dual_);
    relative_gap_ = sizes > 0 ? 2 * std::max(0.0, primal_ - dual_) / sizes : 0;
    return true;
  }

  const SimplexQp& qp_;
  const Rows& x_;
  const LinearCrammerSinger& options_;
  Limits limits_;
  Rng rng_;
  std::size_t stride_;       ///< of classes
  std::vector<double> w_;    ///< w[feature * stride + class]
  std::vector<double> sum_;  ///< of all classes of w
  std::vector<double> a_, g_, next_, sorted_;
  std::size_t looks_;         ///< so many examples are looked at between two looks at the limits
  std::vector<Index> order_;  ///< those in play first
  std::size_t active_ = 0, steps_ = 0;
  double last_worst_ = infinity, corner_slack_ = 0;
  double largest_value_ = 0;  ///< of any g so far, which rounding is a share of
  double primal_ = infinity, dual_ = -infinity, relative_gap_ = infinity;
};

}  // namespace

SimplexSolution run(const SimplexQp& qp, const Rows& x, const LinearCrammerSinger& options,
                    const Run& context) {
  return LinearMethod(qp, x, options, context).solve();
}

namespace {

/// Violation or gap in units of what is asked for, the larger one: 1 or less is enough.
double shortfall(const Certificate& certificate, const Stop& stop) {
  const double gap = certificate.mercer ? certificate.relative_gap / stop.relative_gap : 0;
  return std::max(certificate.kkt / stop.kkt, gap);
}

/// What float kernel values leave unknown is little beside what is asked for: of the violation, and
/// of the gap, where the support vectors pay for it.
bool float_is_enough(const SimplexQp& qp, const SimplexSolution& solution, const Stop& stop,
                     const Threads& threads) {
  const double error = rounding_of(qp, solution.a, Precision::fast, threads);
  double cost = 0;
  for (std::size_t i = 0; i < qp.size(); ++i)
    if (solution.a[i * qp.classes + qp.label[i]] != 0) cost += qp.cost[i];
  return stop.kkt >= 4 * error && cost * error <= stop.relative_gap * std::abs(solution.dual);
}

/// The certificates of a run, as long as there is time for them.
class Hurry {
 public:
  Hurry(const Context& given, const Stop& stop)
      : given_(given),
        patience_(given_.observer, std::min(given.seconds, stop.seconds)),
        hurried_(given.threads.interrupted_by([this] { return patience_.is_exhausted(); })) {}

  bool is_over() { return patience_.is_over(); }
  Ended ended() const { return *patience_.ended(); }

  /// Of what a run has come to; in double, from now on, where that is needed for what was asked.
  SimplexCertified certified(const SimplexQp& qp, SimplexSolution& solution, Run& context,
                             const Stop& stop) {
    if (solution.iterations == 0 && context.start.empty()) return certify_nothing(qp);
    const bool has_ended =
        solution.ended == Ended::cancelled || solution.ended == Ended::time_limit;
    if (has_ended)
      patience_.end(solution.ended == Ended::cancelled ? Control::cancel : Control::proceed);
    try {
      if (has_ended || !float_is_enough(qp, solution, stop, hurried_))
        context.precision = Precision::exact;
      SimplexCertified certified = certify(qp, solution.a, context.precision, hurried_);
      return has_ended ? certified
                       : finer(qp, std::move(certified), solution.a, context.precision, stop);
    } catch (const Threads::Interrupted&) {
      return uncertified(qp);
    }
  }

 private:
  SimplexCertified finer(const SimplexQp& qp, SimplexCertified certified, std::vector<double>& a,
                         Precision& precision, const Stop& stop) {
    try {
      // Another round starts from the f that it will be judged by.
      if (precision == Precision::fast && shortfall(certified.certificate, stop) > 1) {
        precision = Precision::exact;
        certified = certify(qp, a, precision, hurried_);
      }
      // Doubles may be too coarse for what large costs make of them.
      if (shortfall(certified.certificate, stop) > 1)
        if (auto extended = certify_extended(qp, a, given_.on(hurried_));
            extended &&
            shortfall(extended->certificate, stop) < shortfall(certified.certificate, stop))
          certified = *std::move(extended);
    } catch (const Threads::Interrupted&) {
      // The first one will have to do.
    }
    return certified;
  }

  const Context given_;
  Patience patience_;
  const Threads hurried_;
};

}  // namespace

SimplexSolved solve(const SimplexQp& qp, const Rows* x, const ClassesAtOnce& how,
                    const Context& given) {
  const auto& [stop, memory, seed] = how;
  constexpr int most_refinements = 6;
  const bool linear =
      x != nullptr &&
      x->columns * (qp.classes + 7) * sizeof(double) <= MemoryBudget{memory}.one_of_two().bytes &&
      x->columns > 0;
  SimplexSolved best;
  if (linear) given.note(Way::linear_simplices);
  best.solver = linear ? LinearCrammerSinger::name : CrammerSinger::name;
  Run context{given};
  const Stopwatch clock;
  Hurry hurry(given, stop);
  if (hurry.is_over()) {
    best.solution.ended = hurry.ended();
    best.certified = certify_nothing(qp);
    return best;
  }
  std::vector<std::vector<double>> f;
  std::uint64_t iterations = 0;
  double least = infinity;
  // Steps later in a pass change what was seen earlier in it: another round has to leave less.
  Stop asked = stop;
  for (int round = 0; round < most_refinements; ++round, asked.kkt /= 2) {
    SimplexSolution solution =
        linear ? run(qp, *x, LinearCrammerSinger{asked, seed}, context)
               : run(qp, CrammerSinger{asked, memory - std::min(memory, qp.K->bytes())}, context,
                     std::move(f));
    iterations += solution.iterations;
    SimplexCertified certified = hurry.certified(qp, solution, context, stop);
    const double left = shortfall(certified.certificate, stop);
    const bool better = round == 0 || left < least;
    const Ended ended = solution.ended;
    if (better) {
      least = left;
      best.solution = std::move(solution);
      best.certified = std::move(certified);
    }
    best.solution.ended = ended;
    if (least <= 1 || ended != Ended::converged || !better || hurry.is_over()) break;
    context.start = best.solution.a;
    f = std::move(best.certified.f);
    context.seconds_before = clock.seconds();
  }
  best.solution.iterations = iterations;
  if (best.solution.ended == Ended::converged && !(least <= 1))
    best.solution.ended = hurry.is_over() ? hurry.ended() : Ended::stalled;
  if (best.solution.ended == Ended::stalled && least <= 1) best.solution.ended = Ended::converged;
  return best;
}

}  // namespace maxmargin
