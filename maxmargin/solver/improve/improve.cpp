#include "maxmargin/solver/improve/improve.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/improve/rows_in_play.hpp"
#include "maxmargin/solver/solve_from.hpp"

namespace maxmargin {
namespace {

// Basis functions at first, and how many times as many in the next round.
constexpr std::size_t first_rank = 50;
constexpr double growth = 1.6;
// The share of the gap asked for that the problems with K~ may have.
constexpr double share_of_gap = 0.1;
// A multiplier has decided when it is so many times the violation that a solver may leave, and so
// many times what f changes where K takes the place of K~.
constexpr double decided = 10;
constexpr double times_the_change = 3;
// Solvers of low-rank problems keep something of the size of Z beside it.
constexpr std::size_t copies_of_Z = 2;
constexpr double seconds_between_reports = 0.1;

class Improver {
 public:
  Improver(const DualQp& qp, const Improve& options, const ChooseRound& choose,
           const Context& context)
      : qp_(qp),
        options_(options),
        choose_(choose),
        threads_(context.threads),
        costs_(context.costs),
        observer_(context.observer),
        points_(qp.K->size()) {
    most_rank_ = options.first.rank > 0 ? std::min(options.first.rank, points_) : points_;
    play_.resize(points_);
    std::iota(play_.begin(), play_.end(), Index{0});
  }

  Improved solve() {
    std::optional<ImproveLimit> limit = first_basis();
    while (!limit) {
      limit = round();
      if (!limit) limit = next();
    }
    result_.limit = *limit;
    Solution& solution = result_.certified.solution;
    solution.iterations = iterations_;
    if (limit == ImproveLimit::gap) solution.ended = Ended::converged;
    if (limit == ImproveLimit::time) solution.ended = Ended::time_limit;
    if (limit == ImproveLimit::cancelled) solution.ended = Ended::cancelled;
    const bool at_limit =
        limit == ImproveLimit::rank || limit == ImproveLimit::memory || limit == ImproveLimit::span;
    if (at_limit && solution.ended == Ended::converged) solution.ended = Ended::stalled;
    return std::move(result_);
  }

 private:
  std::size_t columns_that_fit(std::size_t rows) const {
    return options_.memory_bytes / (sizeof(double) * copies_of_Z * std::max<std::size_t>(1, rows));
  }

  Control ask(Progress progress) {
    progress.seconds = clock_.seconds();
    if (answer_ == Control::proceed && observer_) answer_ = observer_(progress);
    return answer_;
  }
  GoOn go_on() {
    return [this] {
      const double seconds = clock_.seconds();
      if (seconds >= options_.stop.seconds) return false;
      if (seconds - last_report_ < seconds_between_reports) return answer_ == Control::proceed;
      last_report_ = seconds;
      Progress progress;
      progress.phase = "approximate";
      progress.size = qp_.size();
      return ask(progress) == Control::proceed;
    };
  }
  ImproveLimit stopped() const {
    return answer_ == Control::cancel ? ImproveLimit::cancelled : ImproveLimit::time;
  }

  std::optional<ImproveLimit> first_basis() {
    Approximate how = options_.first;
    if (how.residual == 0) how.rank = std::min(most_rank_, first_rank);
    how.rank = std::min({how.rank > 0 ? how.rank : most_rank_, most_rank_,
                         std::max<std::size_t>(1, columns_that_fit(points_))});
    low_ = approximate(*qp_.K, how, threads_, go_on());
    basis_ = low_.basis;
    a_.resize(qp_.size());
    return std::nullopt;
  }

  /// Solves with what is in play and judges the result over all rows.
  std::optional<ImproveLimit> round() {
    const RowsInPlay rows(qp_, play_, low_, a_, Context(threads_).with_costs(costs_));
    Stop stop = options_.stop;
    stop.seconds = std::max(0.0, options_.stop.seconds - clock_.seconds());
    stop.relative_gap = std::min(stop.relative_gap, share_of_gap * options_.relative_gap);
    const Choice choice = choose_(rows.problem(), stop, options_.memory_bytes);
    result_.solver = name_of(choice.solver);
    result_.reason = choice.reason;
    const Known start = rows.start(a_);
    const Certified solved =
        solve_from(result_.rounds.empty() ? nullptr : &start, rows.problem(), choice.solver,
                   Context(threads_, [this](const Progress& progress) {
                     return ask(progress);
                   }).with_costs(costs_));
    iterations_ += solved.solution.iterations;
    rows.put_back(solved.solution.a, a_);
    judge(rows, solved);
    tell_round();
    if (answer_ == Control::cancel || solved.solution.ended == Ended::cancelled)
      return ImproveLimit::cancelled;
    if (answer_ == Control::finish || solved.solution.ended == Ended::time_limit)
      return ImproveLimit::time;
    if (result_.rounds.back().relative_gap <= options_.relative_gap) return ImproveLimit::gap;
    // A nu machine may have a margin only with more functions.
    if (solved.solution.ended == Ended::iteration_limit) return ImproveLimit::solver;
    return std::nullopt;
  }

  void tell_round() {
    const ImproveRound& last = result_.rounds.back();
    Progress progress;
    progress.phase = "train";
    progress.iteration = iterations_;
    progress.primal = result_.certified.certificate.primal;
    progress.dual = result_.true_dual;
    progress.relative_gap = last.relative_gap;
    progress.kkt = result_.certified.certificate.kkt;
    progress.active = last.rows;
    progress.size = points_;
    ask(progress);
  }

  void judge(const RowsInPlay& rows, const Certified& solved) {
    const Stopwatch clock;
    Projected function = rows.function(a_);
    lambda_ = solved.solution.lambda;
    Evaluation e = evaluate(qp_, a_, function.f, lambda_);
    lambda_ = e.lambda;
    const std::vector<double> beta = qp_.coefficients(a_);
    std::vector<double> g(points_);
    qp_.K->multiply(beta, g, Precision::fast, threads_);
    const double error = product_error(*qp_.K, beta, Precision::fast) + coefficient_error(qp_, a_);
    const double true_dual = enclose(qp_, a_, g, {error}, lambda_).dual;
    // f = Z (Z'beta): sums over the points and over the basis.
    const double roundings = static_cast<double>(points_ + basis_.size());
    const Enclosure within =
        enclose(qp_, a_, function.f, {roundings * coefficient_error(qp_, a_)}, lambda_);
    result_.true_dual = std::max(result_.true_dual, true_dual);
    rest_.resize(points_);
    for (std::size_t p = 0; p < points_; ++p) rest_[p] = g[p] - function.f[p];
    f_ = function.f;
    const bool better =
        result_.rounds.empty() || within.primal < result_.certified.certificate.primal;
    if (better) keep(solved, e, std::move(function), within);
    certifying_ += clock.seconds();
    result_.certified.seconds = certifying_;
    const double best = result_.certified.certificate.primal;
    result_.rounds.push_back({basis_.size(), play_.size(), returned_, within.primal, true_dual,
                              relative_gap(best, result_.true_dual), clock_.seconds()});
  }

  /// The best function so far.
  void keep(const Certified& solved, Evaluation& e, Projected function, const Enclosure& within) {
    Certificate& certificate = result_.certified.certificate;
    certificate = solved.certificate;
    certificate.primal = certificate.best_primal = within.primal;
    certificate.dual = certificate.best_dual = within.dual;
    certificate.gap = rounded_up(std::max(0.0, within.primal - within.dual));
    certificate.relative_gap = relative_gap(within.primal, within.dual);
    certificate.kkt = e.kkt;
    certificate.equality_residual = 0;
    for (std::size_t r = 0; r < qp_.A.size(); ++r) {
      double sum = -qp_.d[r];
      for (std::size_t v = 0; v < qp_.size(); ++v) sum += qp_.A[r][v] * a_[v];
      certificate.equality_residual = std::max(certificate.equality_residual, std::abs(sum));
    }
    result_.certified.solution = solved.solution;
    result_.certified.solution.a = a_;
    result_.certified.solution.lambda = std::move(e.lambda);
    result_.certified.f = std::move(function.f);
    result_.basis = basis_;
    result_.coefficients = std::move(function.coefficients);
    result_.residual =
        low_.residual.empty() || low_.trace <= 0 ? 1 : low_.residual.back() / low_.trace;
  }

  /// Who plays next, and with which basis; or why nobody does.
  std::optional<ImproveLimit> next() {
    const std::vector<double> distance = distances(qp_, a_, f_, lambda_);
    std::vector<char> in(points_, 0);
    for (const Index p : play_) in[p] = 1;
    returned_ = 0;
    for (std::size_t p = 0; p < points_; ++p)
      if (in[p] == 0 && distance[p] < -options_.stop.kkt) ++returned_;

    const std::size_t wanted =
        std::min(most_rank_, static_cast<std::size_t>(growth * static_cast<double>(rank())) + 1);
    const std::vector<Index> undecided = undecided_for(wanted, distance);
    const std::size_t rank_now = std::min(wanted, columns_that_fit(undecided.size() + wanted));
    const bool grows = rank_now > rank();
    if (!grows && returned_ == 0)
      return rank() >= most_rank_ ? ImproveLimit::rank : ImproveLimit::memory;

    // With the same basis nobody leaves, so that this comes to an end.
    if (grows) std::ranges::fill(in, 0);
    for (const Index p : undecided) in[p] = 1;
    for (const Index p : basis_) in[p] = 1;
    if (grows)
      for (const Index p : most_different(rank_now - rank(), in)) in[p] = 1;
    const auto many = static_cast<std::size_t>(std::ranges::count(in, 1));
    if (columns_that_fit(many) < rank()) return ImproveLimit::memory;
    play_.clear();
    for (std::size_t p = 0; p < points_; ++p)
      if (in[p] != 0) play_.push_back(static_cast<Index>(p));
    return extend_basis(std::max(rank_now, rank()));
  }

  /// The rows that f may still change; patterns against dimension: where there is no memory for so
  /// many columns, the most decided of them are left out, too.
  std::vector<Index> undecided_for(std::size_t columns, const std::vector<double>& distance) const {
    double squares = 0;
    for (const double value : rest_) squares += value * value;
    const double least = decided * options_.stop.kkt;
    const double change = std::sqrt(squares / static_cast<double>(points_));
    std::vector<Index> undecided = nearest(distance, std::max(least, times_the_change * change));
    // Decided rows stay in play where a problem without them is hardly smaller.
    if (static_cast<double>(undecided.size()) >
        costs_.restarts.undecided_rows * static_cast<double>(points_))
      undecided = nearest(distance, infinity);
    if (columns_that_fit(undecided.size() + columns) >= columns) return undecided;
    const std::size_t room = options_.memory_bytes / (sizeof(double) * copies_of_Z * columns);
    const std::size_t fewest = nearest(distance, least).size();
    if (room > fewest + columns && room - columns < undecided.size())
      undecided.resize(room - columns);
    return undecided;
  }

  std::size_t rank() const { return basis_.size(); }

  /// Decided rows, too, may have the basis functions that g needs: those out of play where K and K~
  /// differ most.
  std::vector<Index> most_different(std::size_t count, const std::vector<char>& in) const {
    std::vector<Index> which;
    for (std::size_t p = 0; p < points_; ++p)
      if (in[p] == 0 && rest_[p] != 0) which.push_back(static_cast<Index>(p));
    const std::span<const double> diagonal = qp_.K->diagonal();
    std::ranges::stable_sort(which, std::greater{}, [&](Index p) {
      return diagonal[p] > 0 ? rest_[p] * rest_[p] / diagonal[p] : 0.0;
    });
    which.resize(std::min(count, which.size()));
    return which;
  }

  /// Points by their distance, those within `bound`, the nearest first.
  static std::vector<Index> nearest(const std::vector<double>& distance, double bound) {
    std::vector<Index> which;
    for (std::size_t p = 0; p < distance.size(); ++p)
      if (distance[p] <= bound) which.push_back(static_cast<Index>(p));
    std::ranges::stable_sort(which, {}, [&](Index p) { return distance[p]; });
    return which;
  }

  std::optional<ImproveLimit> extend_basis(std::size_t rank_now) {
    std::vector<Index> position(points_, 0);
    for (std::size_t k = 0; k < play_.size(); ++k) position[play_[k]] = static_cast<Index>(k);
    std::vector<Index> basis;
    std::vector<double> rest;
    for (const Index p : basis_) basis.push_back(position[p]);
    for (const Index p : play_) rest.push_back(rest_[p]);
    Approximate how = options_.first;
    how.rank = rank_now;
    how.residual = 0;
    const std::size_t before = rank();
    low_ = extend(*qp_.K->restrict_to(play_), {basis, rest}, how, threads_, go_on());
    if (low_.stopped) return stopped();
    basis_.clear();
    for (const Index k : low_.basis) basis_.push_back(play_[k]);
    if (rank() <= before && returned_ == 0) return ImproveLimit::span;
    return std::nullopt;
  }

  const DualQp& qp_;
  const Improve& options_;
  const ChooseRound& choose_;
  const Threads& threads_;
  const CostModel costs_;
  const Observer& observer_;
  const std::size_t points_;
  std::size_t most_rank_ = 0;
  Stopwatch clock_;
  double last_report_ = 0, certifying_ = 0;
  Control answer_ = Control::proceed;
  std::vector<Index> play_;   // points in play, ascending
  std::vector<Index> basis_;  // points
  Approximated low_;          // over the points in play
  std::vector<double> a_, lambda_, f_, rest_;
  std::size_t returned_ = 0, iterations_ = 0;
  Improved result_;
};

}  // namespace

std::string_view to_string(ImproveLimit limit) {
  switch (limit) {
    case ImproveLimit::gap:
      return "gap";
    case ImproveLimit::rank:
      return "rank";
    case ImproveLimit::memory:
      return "memory";
    case ImproveLimit::time:
      return "time";
    case ImproveLimit::cancelled:
      return "cancelled";
    case ImproveLimit::solver:
      return "solver";
    case ImproveLimit::span:
      return "span";
  }
  return "";
}

Improved improve(const DualQp& qp, const Improve& options, const ChooseRound& choose,
                 const Context& context) {
  return Improver(qp, options, choose, context).solve();
}

}  // namespace maxmargin
