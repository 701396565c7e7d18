#include "maxmargin/solver/interior_point/streamed.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/linalg/small.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/interior_point/corner_span.hpp"
#include "maxmargin/solver/interior_point/streamed_pass.hpp"
#include "maxmargin/solver/interior_point/streamed_polish.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

// mu at the start, in terms of the losses' slopes, and where it has no more to tell.
constexpr double first_mu = 0.1;
constexpr double last_mu = 1e-15;
// The path has been reached when what Newton's step could still gain is this share of the gap that
// mu leaves.
constexpr double on_the_path = 0.02;
// Below this mu rows that share a corner may be all that is left near one: they have to be as near
// to the path as that, by the square of their distance from it in terms of mu.
constexpr double crowded_mu = 1e-3, near_the_path = 0.02;
// mu is lowered by a factor between these, more the faster the path is reached.
constexpr double least_factor = 1e-3, most_factor = 0.5;
// A step is short enough when the slope along it has fallen to this share.
constexpr double slope_left = 0.5;
// Rows within so many mu of a corner may still change sides.
constexpr double undecided = 20;
// Their number is known from the point before: some more than expected are let in.
constexpr double slack = 1.5;
constexpr int streamed_rounds = 6;
// At corners: so many passes at most, each of which has to leave no more than this share.
constexpr int corner_rounds = 40;
constexpr double corner_progress = 0.7;
// Of a free number: the share that rows on corners have to see of it.
constexpr double least_seen = 1e-12;
constexpr std::size_t most_passes = 300;
// So many passes for one mu and it was lowered too fast.
constexpr int lost_after = 12;
// So many passes for one mu and the run has stalled.
constexpr int most_streamed_steps = 60;
// From here on Newton steps without the path are tried for curved losses with bounds.
constexpr double curved_mu = 1e-2;
// From here on the rows near their corners will not become fewer: as many as fit are tried.
constexpr double small_mu = 1e-6;

double product(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
  return sum;
}

std::vector<double> moved(std::span<const double> x, double length, std::span<const double> step) {
  std::vector<double> y(x.begin(), x.end());
  for (std::size_t j = 0; j < y.size(); ++j) y[j] += length * step[j];
  return y;
}

/// What the labels alone tell of a problem.
struct Outline {
  std::size_t rows = 0;
  bool corners = false;
  bool barriers = false;
  double widths = 0;  ///< summed over the blocks with a barrier
  double slope = 0;   ///< mean |linear| of these
};

Outline outline_of(const StreamedProblem& problem) {
  Outline outline;
  std::size_t count = 0;
  Block block[2];
  problem.rows->read_labels([&](std::span<const double> label, const double* weight) {
    for (std::size_t i = 0; i < label.size(); ++i) {
      const std::size_t blocks = problem.blocks(label[i], weight != nullptr ? weight[i] : 1, block);
      outline.rows += blocks > 0;
      for (std::size_t k = 0; k < blocks; ++k) {
        if (const auto reason = refuses(block[k]))
          throw Error(Fault::usage, "the solver for rows on disk cannot take this loss: " + *reason,
                      "choose another loss, or more memory");
        outline.corners = outline.corners || has_corner(block[k]);
        if (!has_barrier(block[k])) continue;
        outline.widths += block[k].upper - block[k].lower;
        outline.slope += std::abs(block[k].linear);
        ++count;
      }
    }
  });
  outline.barriers = count > 0;
  if (count > 0) outline.slope /= static_cast<double>(count);
  if (!(outline.slope > 0)) outline.slope = 1;
  return outline;
}

class StreamedFollower {
 public:
  StreamedFollower(const StreamedProblem& problem, const StreamedInteriorPoint& options,
                   const Run& run)
      : problem_(problem),
        options_(options),
        run_(run),
        factor_(problem.numbers()),
        outline_(outline_of(problem)),
        point_(problem.numbers(), 0.0),
        mu_(outline_.barriers ? first_mu * outline_.slope : 0),
        limits_(run, options.stop) {
    const std::size_t fit = options.working_bytes / streamed_row_bytes(problem.numbers());
    const StreamedChoice& choice = run.costs.streamed;
    const std::size_t worth =
        std::max({choice.working_rows, choice.working_rows_a_feature * problem.numbers(),
                  outline_.rows / choice.rows_a_working_row});
    const auto without_slack = [](std::size_t rows) {
      return static_cast<std::size_t>(static_cast<double>(rows) / slack);
    };
    most_rows_ = options.working_rows > 0 ? options.working_rows : without_slack(fit);
    working_rows_ = std::min(worth, most_rows_);
  }

  StreamedSolution solve() {
    solution_.ended = follow();
    if (solution_.position.point.empty()) keep(on_path_here(), point_, infinity);
    return std::move(solution_);
  }

 private:
  Ended follow() {
    for (;;) {
      const Newton pass = newton_pass(problem_, point_, mu_, run_.threads, go_on());
      count(pass.traffic, pass.seconds);
      if (!pass.complete) return *limits_.stopped();
      if (is_too_long(pass)) continue;
      keep(on_path_here(), point_, lacks(pass));
      report(pass);
      if (!within_limits()) return *limits_.stopped();
      if (solution_.iterations >= options_.stop.iterations) return Ended::iteration_limit;
      if (is_lost()) {
        go_back();
        continue;
      }
      if (solution_.iterations >= most_passes ||
          passes_here_ + short_steps_ > most_streamed_steps || !factor(pass))
        return Ended::stalled;
      if (const auto ended = advance(pass)) return *ended;
    }
  }

  StreamedPosition on_path_here() const { return {point_, mu_, -1, {}, {}, {}}; }

  /// The answer is X'beta and not w: what lies between them counts with the gap.
  double lacks(const Newton& pass) const {
    // Without barriers the gap is soon all rounding, and only what is amiss still tells.
    return std::abs(pass.primal - pass.dual) + std::max(outline_.widths, 1.0) * amiss(pass);
  }
  /// How far f(x) may be from that of X'beta.
  static double amiss(const Newton& pass) {
    return std::sqrt(product(pass.gradient, pass.gradient)) * pass.longest;
  }

  /// Of all positions the one with the smallest gap is the answer; 0 stands for one that is good
  /// enough.
  void keep(StreamedPosition position, std::span<const double> point, double gap) {
    if (!solution_.position.point.empty() && gap != 0 && !(gap < best_gap_)) return;
    best_gap_ = gap;
    solution_.position = std::move(position);
    const std::span<const double> free = point.subspan(problem_.penalised());
    solution_.free.assign(free.begin(), free.end());
  }

  /// Whether the last step went too far; then it is shortened.
  bool is_too_long(const Newton& pass) {
    if (step_.empty()) return false;
    const double slope = product(pass.gradient, step_);
    const bool good = slope <= slope_left * -slope_;
    if (good || length_ < 1e-10) return false;
    // Where the two slopes say it is zero, but not much nearer than where a slope that comes to its
    // end beyond the corners would put it.
    const double where = std::isfinite(slope) ? -slope_ / (slope - slope_) : 0;
    length_ *= std::clamp(where, 0.25, 0.7);
    point_ = moved(base_, length_, step_);
    ++short_steps_;
    return true;
  }

  bool factor(const Newton& pass) {
    const std::size_t N = point_.size();
    const auto fill = [&] {
      for (std::size_t i = 0; i < N; ++i) {
        std::copy_n(pass.matrix.data() + i * N, i + 1, factor_.matrix().row(i));
        // Without rows near a corner nothing else would hold what is free.
        factor_.matrix().row(i)[i] += 1e-14 * pass.matrix[i * N + i] + 1e-100;
      }
    };
    fill();
    if (factor_.cholesky(run_.threads) == Factor::Outcome::done) return true;
    fill();
    return factor_.bunch_kaufman() == Factor::Outcome::done;
  }

  std::vector<double> solved(std::vector<double> right) const {
    if (!right.empty()) factor_.solve(right.data(), 1, run_.threads);
    return right;
  }

  /// From a point that was accepted to the next.
  std::optional<Ended> advance(const Newton& pass) {
    std::vector<double> step = solved(pass.gradient);
    for (double& value : step) value = -value;
    const double gain = -product(pass.gradient, step);
    if (!std::isfinite(gain)) return Ended::stalled;
    ++passes_here_;
    if (!outline_.barriers) {
      if (is_enough(pass)) {
        keep(on_path_here(), point_, 0);
        return Ended::converged;
      }
      // Only rounding is left.
      if (gain <= 1e-28 * std::abs(pass.primal)) return Ended::stalled;
      take(pass, std::move(step));
      return std::nullopt;
    }
    if (gain > most_gain(pass)) {
      take(pass, std::move(step));
      return std::nullopt;
    }
    // On the path: along it, or to its end.
    const std::vector<double> drift = solved(pass.drift);
    if (mu_ <= last_mu * outline_.slope) return Ended::stalled;
    if (const auto ended = polish(pass, moved(point_, 1, step), drift)) return ended;
    follow_path(std::move(step), drift);
    return std::nullopt;
  }

  /// From a point on the path to its end, if that can be told from here.
  std::optional<Ended> polish(const Newton& pass, std::vector<double> here,
                              std::span<const double> drift) {
    const double reach = undecided * mu_;
    if (!(reach < next_try_)) return std::nullopt;
    std::vector<double> end = moved(here, -mu_, drift);
    if (!outline_.corners) {
      if (mu_ > curved_mu * outline_.slope) return std::nullopt;
      next_try_ = reach / 4;
      return polish_on_curves(std::move(end));
    }
    const bool late = mu_ <= small_mu * outline_.slope;
    const std::size_t room = late ? most_rows_ : working_rows_;
    // Rows that stand on a corner by chance approach it more slowly: they may or may not be apart.
    const double apart =
        late ? pass.distances.gap(mu_, outline_.slope, tries_++ % 2 == 0 ? 1 : 0.5) : 0;
    const bool fits = pass.distances.within(std::max(reach, apart)) <= room;
    if (!fits && !late) return std::nullopt;
    next_try_ = reach / 4;
    return fits ? polish_in_memory(std::move(end), pass, std::max(reach, apart), room)
                : polish_on_corners(here, std::move(end), apart);
  }

  /// What a step may still gain on the path.
  double most_gain(const Newton& pass) const {
    const double most = on_the_path * 2 * mu_ * outline_.widths;
    if (mu_ > crowded_mu * outline_.slope && !went_back_) return most;
    return std::min(most, near_the_path * mu_ * mu_ * pass.gives);
  }

  void take(const Newton& pass, std::vector<double> step) {
    base_ = point_;
    slope_ = product(pass.gradient, step);
    step_ = std::move(step);
    length_ = 1;
    point_ = moved(base_, 1, step_);
  }

  void follow_path(std::vector<double> step, std::span<const double> drift) {
    if (passes_here_ <= 1 && short_steps_ == 0)
      lowering_ = std::max(least_factor_, lowering_ * lowering_);
    else if (passes_here_ > 2 || short_steps_ > 0)
      lowering_ = std::min(most_factor, std::sqrt(lowering_));
    passes_here_ = short_steps_ = 0;
    const double mu = mu_ * lowering_;
    point_ = moved(point_, 1, step);
    left_ = point_;
    point_ = moved(point_, mu - mu_, drift);
    mu_ = mu;
    step_.clear();
  }

  /// The path was left for a mu where it is not found again.
  bool is_lost() const {
    return passes_here_ + short_steps_ > lost_after && !left_.empty() && lowering_ < most_factor;
  }
  void go_back() {
    point_ = std::move(left_);
    left_.clear();
    mu_ /= lowering_;
    lowering_ = least_factor_ = std::min(most_factor, std::sqrt(lowering_));
    passes_here_ = short_steps_ = 0;
    went_back_ = true;
    step_.clear();
  }

  /// Rows far from their corners stay at their bounds, the others are solved for in memory, and a
  /// pass tells whether that was right; if not, again from there.
  std::optional<Ended> polish_in_memory(std::vector<double> point, const Newton& pass, double least,
                                        std::size_t room) {
    const double reach = std::max(least, pass.distances.holding(room, 64 * undecided * mu_));
    const auto most = static_cast<std::size_t>(slack * static_cast<double>(room));
    std::optional<Restricted> before;
    for (int round = 0; round <= streamed_rounds; ++round) {
      CornerRows near =
          collect_corner_rows(problem_, {point, reach, most, before ? &before->position : nullptr},
                              run_.threads, go_on());
      count(near.traffic, near.seconds);
      if (!near.complete) return limits_.stopped();
      if (near.examined) {
        const bool enough = is_enough(*near.examined);
        report(*near.examined);
        keep(before->position, before->point, enough ? 0 : near.examined->gap);
        if (enough) return Ended::converged;
      }
      if (near.too_many || round == streamed_rounds) break;
      solution_.rows_in_memory = near.row.empty() ? 0 : near.row.back() + std::size_t{1};
      const Run inner{run_.watched_by([this](const Progress&) {
        return within_limits() ? Control::proceed : Control::finish;
      })};
      before = solve_restricted(problem_, std::move(near), inner);
      if (!before || limits_.stopped()) break;
      point = before->point;
    }
    return limits_.stopped();
  }

  /// The rows on their corners are too many for the memory, but their variables follow from a
  /// direction beside the end of the path, which the path has shown already: a few Newton steps
  /// give its last digits. The end itself is moved to where these rows are exactly on their
  /// corners, and then only along what they do not see. If that does not polish, these were not the
  /// rows and the path is followed further.
  std::optional<Ended> polish_on_corners(const std::vector<double>& here, std::vector<double> end,
                                         double apart) {
    const Newton fit = corner_fit_pass(problem_, {here, apart, end}, run_.threads, go_on());
    count(fit.traffic, fit.seconds);
    if (!fit.complete) return limits_.stopped();
    const CornerSpan span(fit.matrix, end.size());
    end = moved(end, 1, span.fit(fit.gradient));
    std::vector<double> beside(end.size());
    for (std::size_t j = 0; j < end.size(); ++j) beside[j] = (here[j] - end[j]) / mu_;
    beside = moved(beside, -1, span.unseen(beside));
    double before = infinity;
    for (int round = 0; round < corner_rounds; ++round) {
      Newton pass = corner_pass(problem_, {here, apart, end}, beside, run_.threads, go_on());
      count(pass.traffic, pass.seconds);
      if (!pass.complete) return limits_.stopped();
      report(pass);
      const bool enough = is_enough(pass);
      keep({here, 0, apart, beside, {}, {}}, end, enough ? 0 : lacks(pass));
      if (enough) return Ended::converged;
      const double rest = amiss(pass);
      if (!(rest < corner_progress * before) || pass.off_corners > apart) break;
      before = rest;
      const std::vector<double> unseen = span.unseen(pass.gradient);
      end = moved(end, -1, without_seen(span, unseen));
      pass.gradient = moved(pass.gradient, -1, unseen);
      span.complete(pass.matrix);
      if (!factor(pass)) break;
      beside = moved(beside, -1, solved(pass.gradient));
    }
    return limits_.stopped();
  }

  /// The move of a point among what rows on corners do not see that changes w - X'beta by `unseen`.
  std::vector<double> without_seen(const CornerSpan& span, std::vector<double> unseen) const {
    // What is free stands in no such equation of its own: d = unseen + U e d_free for the projector
    // U on what is not seen, where d_free are the free numbers of d themselves.
    const std::size_t first = problem_.penalised(), count = problem_.free();
    std::vector<std::vector<double>> directions;
    SmallMatrix rest(count);
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<double> unit(unseen.size(), 0.0);
      unit[first + j] = 1;
      directions.push_back(span.unseen(unit));
      for (std::size_t k = 0; k < count; ++k)
        rest(j, k) = (j == k ? 1 : 0) - directions[j][first + k];
    }
    const std::vector<double> own = solve_cholesky(
        rest, {unseen.begin() + static_cast<std::ptrdiff_t>(first), unseen.end()}, least_seen);
    for (std::size_t j = 0; j < count; ++j) unseen = moved(unseen, own[j], directions[j]);
    return unseen;
  }

  /// Losses that are curved between two bounds: near its end the path is no longer needed, as
  /// Newton steps find the rows on each piece.
  std::optional<Ended> polish_on_curves(std::vector<double> end) {
    double before = infinity;
    for (int round = 0; round < corner_rounds; ++round) {
      const Newton pass = newton_pass(problem_, end, 0, run_.threads, go_on());
      count(pass.traffic, pass.seconds);
      if (!pass.complete) return limits_.stopped();
      report(pass);
      const bool enough = is_enough(pass);
      keep({end, 0, -1, {}, {}, {}}, end, enough ? 0 : lacks(pass));
      if (enough) return Ended::converged;
      const double rest = amiss(pass);
      if (!(rest < corner_progress * before) || !factor(pass)) break;
      before = rest;
      end = moved(end, -1, solved(pass.gradient));
    }
    return limits_.stopped();
  }

  bool is_enough(const Certificate& examined) const {
    return examined.kkt <= options_.stop.kkt && examined.relative_gap <= options_.stop.relative_gap;
  }
  /// Where the variables are what f asks for, but for what corners would have it otherwise, only
  /// w - X'beta is amiss, which moves f.
  bool is_enough(const Newton& pass) const {
    return 2 * (amiss(pass) + pass.off_corners) <= options_.stop.kkt &&
           relative_gap(pass.primal, pass.dual) <= options_.stop.relative_gap;
  }

  void count(const RowFile::Traffic& traffic, double seconds) {
    ++solution_.iterations;
    solution_.traffic.bytes += traffic.bytes;
    solution_.traffic.reading += traffic.reading;
    solution_.traffic.waiting += traffic.waiting;
    solution_.seconds_passing += seconds;
  }

  GoOn go_on() {
    return [this] { return within_limits(); };
  }

  bool within_limits() {
    progress_.size = progress_.active = outline_.rows;
    progress_.iteration = solution_.iterations;
    return limits_.allow(progress_);
  }

  void report(const Certificate& examined) {
    progress_.primal = examined.primal;
    progress_.dual = examined.dual;
    progress_.relative_gap = examined.relative_gap;
    progress_.kkt = examined.kkt;
  }

  void report(const Newton& pass) {
    progress_.primal = pass.primal;
    progress_.dual = pass.dual;
    progress_.relative_gap = relative_gap(pass.primal, pass.dual);
    const double goal = std::max(options_.stop.relative_gap * 1e-2, 1e-8);
    progress_.done = std::clamp(std::log(std::min(1.0, progress_.relative_gap)) / std::log(goal),
                                progress_.done, 1.0);
  }

  const StreamedProblem& problem_;
  const StreamedInteriorPoint& options_;
  const Run& run_;
  Factor factor_;
  const Outline outline_;
  std::size_t working_rows_ = 0, most_rows_ = 0;
  std::vector<double> point_;
  double best_gap_ = infinity;  ///< of the position in solution_
  double mu_;
  double lowering_ = 0.1;                  ///< the factor of mu
  double least_factor_ = least_factor;     ///< that it may have
  std::vector<double> left_;               ///< the point on the path before this mu
  bool went_back_ = false;                 ///< once at least: the path has to be reached nearer
  int passes_here_ = 0, short_steps_ = 0;  ///< at this mu
  int tries_ = 0;
  double next_try_ = infinity;  ///< the reach below which rows are taken into memory again
  // The step under way, if any: it is judged by the slope along it.
  std::vector<double> base_, step_;
  double slope_ = 0, length_ = 1;
  StreamedSolution solution_;
  Limits limits_;
  Progress progress_;
};

}  // namespace

std::optional<std::string> refuses(const Block& block) {
  if (block.is_hard()) return "a variable has neither bounds nor curvature (hard margin)";
  return std::nullopt;
}

std::size_t streamed_sum_bytes(std::size_t numbers) {
  const std::size_t doubles = numbers * numbers + 2 * numbers + rows_at_once * (2 * numbers + 24);
  return (stream_lanes(numbers) + 3) * doubles * sizeof(double);
}

std::size_t streamed_pass_bytes(const RowFile& rows, std::size_t numbers) {
  return 2 * stream_parts * rows.largest_chunk_bytes() + streamed_sum_bytes(numbers);
}

std::size_t streamed_row_bytes(std::size_t numbers) { return 2 * numbers * sizeof(double) + 512; }

StreamedSolution run(const StreamedProblem& problem, const StreamedInteriorPoint& options,
                     const Run& run) {
  return StreamedFollower(problem, options, run).solve();
}

}  // namespace maxmargin
