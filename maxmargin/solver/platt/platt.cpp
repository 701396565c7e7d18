#include "maxmargin/solver/platt/platt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/platt/decision_values.hpp"
#include "maxmargin/solver/platt/site.hpp"
#include "maxmargin/solver/smo/first_point.hpp"

namespace maxmargin {
namespace {

// Steps after which f is recomputed: the rounding of so many float rows adds up.
constexpr std::size_t steps_between_refreshes = 200000;
// Times that f is recomputed at what looks like the end before its rounding is taken as the reason.
constexpr int most_refreshes = 20;
// A step has to gain more than this share of what counts as a violation.
constexpr double least_gain = 0.05;
constexpr double step_rounding = 1e-15;
// Looks at variables between two looks at the clock.
constexpr std::size_t looks_between_reports = 256;
constexpr double tail_factor = 0.3;
// Adapted zeta: where both coefficients go on in the direction of their last two steps, of the last
// one, and otherwise.
constexpr double zeta_far_ahead = 1.6, zeta_ahead = 1.3, zeta_otherwise = 1.0;

/// Equality row of each variable, among those that pairs keep.
std::vector<std::uint32_t> groups_of(const DualQp& qp, const RowKinds& kinds) {
  std::vector<std::uint32_t> group(qp.size(), 0);
  for (std::size_t r = 0; r < kinds.pair.size(); ++r)
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (qp.A[kinds.pair[r]][v] != 0) group[v] = static_cast<std::uint32_t>(r);
  return group;
}

/// Entropies have infinite slopes at their bounds: half of what the smaller side can give, on both.
std::vector<double> inner_point(const DualQp& qp, std::span<const std::uint32_t> group_of,
                                std::size_t groups) {
  const auto room = [](const Block& block) {
    if (block.lower < 0) return 0.0;  // 0 is inside
    return std::isinf(block.upper) ? block.scale : block.upper;
  };
  std::vector<double> positive(groups, 0.0), negative(groups, 0.0), a;
  for (std::size_t v = 0; v < qp.size(); ++v)
    (qp.block[v].sign > 0 ? positive : negative)[group_of[v]] += room(qp.block[v]);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const std::uint32_t g = group_of[v];
    const double least = std::min(positive[g], negative[g]);
    const double all = qp.block[v].sign > 0 ? positive[g] : negative[g];
    a.push_back(all > 0 ? 0.5 * room(qp.block[v]) * least / all : 0);
  }
  return a;
}

/// The ends of the interval in which the multiplier of a row may lie, (10.88): optimal where
/// lo <= hi.
struct Interval {
  double hi = infinity, lo = -infinity;
  std::uint32_t hi_at = Site::none, lo_at = Site::none;
  double middle() const {
    if (std::isinf(hi) || std::isinf(lo)) return std::isinf(hi) ? (std::isinf(lo) ? 0 : lo) : hi;
    return lo + (hi - lo) / 2;
  }
};

class Sweeps {
 public:
  Sweeps(const DualQp& qp, const Platt& options, const Run& run)
      : qp_(qp),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        kinds_(sort_rows(qp)),
        group_of_(groups_of(qp, kinds_)),
        sites_(sites_of(qp, group_of_)),
        beta_(to_sites(qp, sites_, start())),
        values_(qp.K, {options.cache_bytes, options.cache},
                qp.coefficients(to_variables(qp, sites_, beta_)), known_f(), run.precision,
                run.threads),
        rng_(options.seed),
        tolerance_(options.stop.kkt / 2),
        interval_(kinds_.pair.size()),
        one_(kinds_.pair.size(), 0.0),
        position_(sites_.size(), Site::none),
        straight_(sites_.size(), 0),
        hard_(has_hard_margin(qp)),
        homogeneous_(is_homogeneous(qp)) {
    for (std::uint32_t k = 0; k < sites_.size(); ++k) update_free(k);
  }

  Solution solve() {
    measure();
    first_violation_ = std::max(largest_violation(), tolerance_);
    bool all = true;
    while (!ended_) {
      const std::size_t changed = sweep(all);
      if (ended_) break;
      if (all && changed == 0) {
        check_convergence();
        continue;
      }
      if (hard_ && all) watch_margin();
      all = !all &&
            static_cast<double>(changed) <= options_.full_sweep * static_cast<double>(free_.size());
    }
    Solution solution;
    solution.a = to_variables(qp_, sites_, beta_);
    solution.ended = *ended_;
    solution.iterations = steps_;
    solution.best_dual = best_dual_;
    solution.values_asked = values_.use().asked;
    solution.values_found = values_.use().found;
    if (values_.is_fresh()) solution.f = values_.all();
    return solution;
  }

 private:
  std::vector<double> start() const {
    if (!run_.start.empty()) return first_point(qp_, kinds_, run_.start);
    if (qp_.block.front().entropy != Entropy::none)
      return inner_point(qp_, group_of_, kinds_.pair.size());
    return first_point(qp_, kinds_, {});
  }
  /// A start that had to be moved into its bounds or rows has another f.
  std::vector<double> known_f() const {
    if (run_.start_f.empty()) return {};
    return to_variables(qp_, sites_, beta_) == run_.start ? run_.start_f : std::vector<double>{};
  }

  double error(std::uint32_t k) { return values_.at(sites_[k].point); }
  double up(std::uint32_t k, double f) const {
    return sites_[k].can_grow(beta_[k]) ? f + sites_[k].slope_right(beta_[k]) : infinity;
  }
  double down(std::uint32_t k, double f) const {
    return sites_[k].can_fall(beta_[k]) ? f + sites_[k].slope_left(beta_[k]) : -infinity;
  }

  std::size_t sweep(bool all) {
    std::size_t changed = 0;
    const std::vector<std::uint32_t> turn = all ? everyone() : free_in_turn();
    for (const std::uint32_t k : turn) {
      if (!within_limits()) return changed;
      // What has come to a bound in this sweep waits for the next look at all.
      if (!all && position_[k] == Site::none) continue;
      if (examine(k)) ++changed;
    }
    return changed;
  }

  /// From a random place on.
  std::vector<std::uint32_t> everyone() {
    std::vector<std::uint32_t> turn(sites_.size());
    std::iota(turn.begin(), turn.end(), 0u);
    if (options_.random_start && !turn.empty())
      std::rotate(turn.begin(), turn.begin() + static_cast<std::ptrdiff_t>(rng_.below(turn.size())),
                  turn.end());
    return turn;
  }
  std::vector<std::uint32_t> free_in_turn() {
    std::vector<std::uint32_t> turn = free_in_order();
    if (options_.order == Order::random && options_.random_start)
      for (std::size_t k = turn.size(); k > 1; --k) std::swap(turn[k - 1], turn[rng_.below(k)]);
    return turn;
  }

  std::vector<std::uint32_t> free_in_order() const {
    std::vector<std::uint32_t> turn = free_;
    std::sort(turn.begin(), turn.end());
    if (options_.order == Order::random) return turn;
    const bool grows = options_.order == Order::increasing;
    std::stable_sort(turn.begin(), turn.end(), [&](std::uint32_t x, std::uint32_t y) {
      return grows ? std::abs(beta_[x]) < std::abs(beta_[y])
                   : std::abs(beta_[x]) > std::abs(beta_[y]);
    });
    return turn;
  }

  /// ExamineExample: whether a step was made with this coefficient.
  bool examine(std::uint32_t k) {
    const std::uint32_t g = sites_[k].group;
    const double f = error(k), grow = up(k, f), fall = down(k, f);
    Interval& interval = interval_[g];
    const bool one = options_.thresholds == Thresholds::one;
    const double hi = one ? one_[g] - tolerance_ : interval.hi;
    const double lo = one ? one_[g] + tolerance_ : interval.lo;
    const double falls_by = fall - hi, grows_by = lo - grow;
    if (std::max(falls_by, grows_by) <= 2 * tolerance_) {
      if (position_[k] == Site::none) take_in(interval, k, f);
      return false;
    }
    const bool falls = falls_by > grows_by;
    // The error that differs most: the end of the interval on the other side.
    const std::uint32_t first = falls ? interval.hi_at : interval.lo_at;
    if (first != Site::none && try_pair(k, first, falls, f)) return true;
    return second_choice(k, falls, f);
  }

  /// The free ones, then all, from a random place on.
  bool second_choice(std::uint32_t k, bool falls, double f) {
    const std::vector<std::uint32_t> candidates = free_in_order();
    if (begin_somewhere(candidates.size(), options_.order == Order::random,
                        [&](std::size_t at) { return try_pair(k, candidates[at], falls, f); }))
      return true;
    return begin_somewhere(sites_.size(), true, [&](std::size_t at) {
      const auto other = static_cast<std::uint32_t>(at);
      return position_[other] == Site::none && try_pair(k, other, falls, f);
    });
  }
  template <class Try>
  bool begin_somewhere(std::size_t count, bool random, Try&& attempt) {
    if (count == 0) return false;
    const std::size_t begin = random && options_.random_start ? rng_.below(count) : 0;
    for (std::size_t n = 0; n < count; ++n) {
      if (attempt((begin + n) % count)) return true;
      if (n % looks_between_reports == 0 && !within_limits()) return false;
    }
    return false;
  }

  bool try_pair(std::uint32_t k, std::uint32_t other, bool falls, double f) {
    if (other == k || sites_[other].group != sites_[k].group) return false;
    const Site& site = sites_[other];
    if (falls ? !site.can_grow(beta_[other]) : !site.can_fall(beta_[other])) return false;
    const double other_f = error(other);
    return falls ? take_step(other, k, other_f, f) : take_step(k, other, f, other_f);
  }

  /// TakeStep: the best step of a pair times zeta; false where it gains nothing.
  bool take_step(std::uint32_t i, std::uint32_t j, double f_i, double f_j) {
    if (!(up(i, f_i) < down(j, f_j) - least_gain * tolerance_)) return false;
    const Index x = sites_[i].point, y = sites_[j].point;
    const auto diagonal = qp_.K->diagonal();
    const double chi =
        x == y ? 0 : std::max(0.0, diagonal[x] + diagonal[y] - 2 * values_.kernel(x, y));
    const Pair pair{sites_[i], sites_[j], beta_[i], beta_[j], f_i, f_j, chi};
    const double t = pair.best(zeta(i, j));
    if (std::isinf(t)) {
      ended_ = Ended::unbounded;
      return false;
    }
    const double new_i = t == sites_[i].high - beta_[i] ? sites_[i].high : beta_[i] + t;
    const double new_j = t == beta_[j] - sites_[j].low ? sites_[j].low : beta_[j] - t;
    // What is left of a coefficient by rounding still goes to its bound.
    const bool ends = new_i == sites_[i].high || new_j == sites_[j].low;
    if ((!ends && !(t > step_rounding * (std::abs(beta_[i]) + std::abs(beta_[j])))) ||
        (new_i == beta_[i] && new_j == beta_[j]))
      return false;
    beta_[i] = new_i;
    beta_[j] = new_j;
    straight_[i] = straight_[i] > 0 ? 2 : 1;
    straight_[j] = straight_[j] < 0 ? -2 : -1;
    values_.move(x, y, t);
    update_free(i);
    update_free(j);
    renew_thresholds(i, j);
    if (++steps_ % steps_between_refreshes == 0) values_.refresh();
    return true;
  }

  double zeta(std::uint32_t i, std::uint32_t j) const {
    if (!options_.zeta.adaptive) return options_.zeta.value;
    const int both = std::min<int>(straight_[i], -straight_[j]);
    return both > 1 ? zeta_far_ahead : both > 0 ? zeta_ahead : zeta_otherwise;
  }

  void update_free(std::uint32_t k) {
    const bool free = sites_[k].is_free(beta_[k]);
    if (free == (position_[k] != Site::none)) return;
    values_.keep(sites_[k].point, free);
    if (free) {
      position_[k] = static_cast<std::uint32_t>(free_.size());
      free_.push_back(k);
      return;
    }
    free_[position_[k]] = free_.back();
    position_[free_.back()] = position_[k];
    position_[k] = Site::none;
    free_.pop_back();
  }

  void take_in(Interval& interval, std::uint32_t k, double f) {
    const double grow = up(k, f), fall = down(k, f);
    if (grow < interval.hi) {
      interval.hi = grow;
      interval.hi_at = k;
    }
    if (fall > interval.lo) {
      interval.lo = fall;
      interval.lo_at = k;
    }
  }

  /// Over the free ones and the two that moved (Keerthi).
  void renew_thresholds(std::uint32_t i, std::uint32_t j) {
    const std::uint32_t g = sites_[i].group;
    Interval& interval = interval_[g] = Interval{};
    for (const std::uint32_t k : free_)
      if (sites_[k].group == g) take_in(interval, k, error(k));
    const double f_i = error(i), f_j = error(j);
    for (const auto& [k, f] : {std::pair{i, f_i}, std::pair{j, f_j}})
      if (position_[k] == Site::none) take_in(interval, k, f);
    if (options_.thresholds == Thresholds::two) return;
    // Platt: that of a free one of the two, or the middle of both.
    const double of_i = f_i + sites_[i].slope_right(beta_[i]);
    const double of_j = f_j + sites_[j].slope_left(beta_[j]);
    one_[g] = position_[i] != Site::none   ? of_i
              : position_[j] != Site::none ? of_j
                                           : of_i + (of_j - of_i) / 2;
  }

  /// The thresholds over all.
  void measure() {
    interval_.assign(interval_.size(), Interval{});
    for (std::uint32_t k = 0; k < sites_.size(); ++k)
      take_in(interval_[sites_[k].group], k, error(k));
    for (std::size_t g = 0; g < interval_.size(); ++g) one_[g] = interval_[g].middle();
  }
  double largest_violation() const {
    double largest = 0;
    for (const Interval& each : interval_)
      if (!std::isinf(each.hi) && !std::isinf(each.lo))
        largest = std::max(largest, each.lo - each.hi);
    return largest;
  }

  /// A look at all found nothing to do: is that true without the rounding of the steps, and is the
  /// gap small enough?
  void check_convergence() {
    const bool moved = !values_.is_fresh();
    if (moved) values_.refresh();
    measure();
    const double violation = largest_violation();
    if (violation > 2 * tolerance_ && (moved || violation > options_.stop.kkt) &&
        ++refreshes_ <= most_refreshes)
      return;
    const std::vector<double> a = to_variables(qp_, sites_, beta_);
    const Evaluation evaluation = evaluate(qp_, a, values_.all(), {});
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    last_gap_ = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    const bool gap_counts = qp_.K->definite() != Definite::no;
    if (!gap_counts || last_gap_ <= options_.stop.relative_gap || refreshes_ > most_refreshes) {
      // Float rows may allow for no less: whether it is enough is judged in double.
      const bool near = violation <= options_.stop.kkt || run_.precision == Precision::fast;
      ended_ = near ? Ended::converged : Ended::stalled;
      return;
    }
    if (homogeneous_ && Sizes(qp_, a, values_.all()).are_of_no_margin()) {
      ended_ = Ended::unbounded;
      return;
    }
    tolerance_ *= tail_factor;
    // The gradient's rounding error exceeds the goal.
    if (tolerance_ < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  void watch_margin() {
    if (sweeps_++ % 8 != 0) return;
    values_.refresh();
    measure();
    if (Sizes(qp_, to_variables(qp_, sites_, beta_), values_.all()).are_unbounded())
      ended_ = Ended::unbounded;
  }

  bool within_limits() {
    if (ended_) return false;
    if (steps_ >= options_.stop.iterations) {
      ended_ = Ended::iteration_limit;
      return false;
    }
    if (++looks_ % looks_between_reports != 0) return true;
    Progress progress;
    progress.iteration = steps_;
    progress.kkt = largest_violation();
    progress.active = free_.size();
    progress.size = sites_.size();
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = last_gap_;
    if (!limits_.allow(progress)) ended_ = limits_.stopped();
    return !ended_;
  }

  const DualQp& qp_;
  const Platt& options_;
  const Run& run_;
  Limits limits_;
  RowKinds kinds_;
  std::vector<std::uint32_t> group_of_;
  std::vector<Site> sites_;
  std::vector<double> beta_;  // of each site
  DecisionValues values_;
  Rng rng_;
  double tolerance_;
  std::vector<Interval> interval_;       // of each group, over the free ones and what was looked at
  std::vector<double> one_;              // Platt's threshold of each group
  std::vector<std::uint32_t> free_;      // sites strictly within their bounds
  std::vector<std::uint32_t> position_;  // of a site in free_
  std::vector<signed char> straight_;  // last steps in one direction, up to two; negative: it fell
  bool hard_, homogeneous_;
  std::optional<Ended> ended_;
  double first_violation_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity;
  std::size_t steps_ = 0, looks_ = looks_between_reports - 1, sweeps_ = 0;
  int refreshes_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Platt& options) {
  if (!options.zeta.is_valid())
    return "zeta = " + options.zeta.text() + " is not " + std::string(Zeta::accepts);
  const RowKinds kinds = sort_rows(qp);
  if (qp.A.empty() || !covers_all(kinds))
    return "it moves pairs, which the row of an unpenalised bias ties together: leave --bias out";
  if (!kinds.coupled.empty()) return "its pairs keep the row of the bias, or the two of nu, only";
  const auto is_endless = [](const Block& block) {
    return std::isinf(block.upper) || std::isinf(block.lower);
  };
  if (qp.K->definite() == Definite::no && std::ranges::any_of(qp.block, is_endless))
    return "with an indefinite kernel every variable needs bounds: take a loss that grows linearly";
  return kinds.refusal;
}

Solution run(const DualQp& qp, const Platt& options, const Run& run) {
  return Sweeps(qp, options, run).solve();
}

}  // namespace maxmargin
