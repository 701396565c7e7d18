#include "maxmargin/solver/lagrangian/streamed_lagrangian.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

// Passes before the first look at the equations of the variables inside; later looks are rarer.
constexpr std::size_t first_pass_to_look = 8;
constexpr double passes_between_looks = 0.25;
// So many passes that together bring the violation down by less than this: stalled. That of the
// start, no function at all, may be less than any for long.
constexpr double enough_progress = 0.99;
constexpr int streamed_patience = 200;

class StreamedIteration {
 public:
  StreamedIteration(const StreamedProblem& problem, const Lagrangian& options, const Run& run)
      : problem_(problem),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        N_(problem.numbers()),
        factor_(N_),
        inside_(N_) {}

  StreamedLagrangianSolution solve() {
    count_variables();
    if (!make_equations(factor_)) return finished(*limits_.stopped());
    for (std::size_t look = first_pass_to_look;;) {
      if (const auto ended = pass()) return finished(*ended);
      if (result_.iterations < look) continue;
      // From the equations of other variables than those of the solution it may go on anywhere,
      // farther away each time.
      if (const bool same = std::exchange(at_last_look_, at_bound_) == at_bound_; same)
        if (const auto ended = solve_inside()) return finished(*ended);
      look =
          result_.iterations + first_pass_to_look +
          static_cast<std::size_t>(passes_between_looks * static_cast<double>(result_.iterations));
    }
  }

 private:
  /// Sums of one part of the rows, and room for some of these.
  struct LagrangianPart {
    explicit LagrangianPart(std::size_t numbers)
        : Z(rows_at_once * numbers), right(numbers, 0.0), w(numbers, 0.0) {}
    std::vector<double> Z, right, w;
    std::vector<double> matrix{}, scaled{};
    double beta[rows_at_once] = {}, share[rows_at_once] = {}, f[rows_at_once] = {};
  };

  /// Of one row: r/c for the next right side, and beta.
  struct Shares {
    double right = 0, beta = 0;
  };

  void count_variables() {
    Block block[2];
    std::size_t chunk = 0, count = 0;
    result_.before.resize(problem_.rows->chunks());
    problem_.rows->read_labels([&](std::span<const double> label, const double* weight) {
      result_.before[chunk++] = count;
      for (std::size_t i = 0; i < label.size(); ++i) {
        const std::size_t blocks =
            problem_.blocks(label[i], weight != nullptr ? weight[i] : 1, block);
        for (std::size_t k = 0; k < blocks; ++k) require_fitting(block[k]);
        count += blocks;
      }
    });
    result_.a.assign(count, 0.0);
    r_.assign(count, 0.0);
    at_bound_.assign(count, 0);
  }

  static void require_fitting(const Block& block) {
    if (block.lower != 0 || block.upper != infinity || !(block.curvature > 0))
      throw Error(Fault::usage, "the solver 'lagrangian' needs squared losses",
                  "choose --loss squared-hinge or squared-epsilon-insensitive, or another solver");
  }

  /// Calls body(part, rows in hand, their first block) for a few rows at a time.
  template <class Body>
  bool for_each_rows(std::vector<LagrangianPart>& parts, const Body& body) {
    const Stopwatch clock;
    bool complete = true;
    const RowFile::Traffic traffic = for_each_chunk(
        *problem_.rows, run_.threads,
        {[&](std::size_t part, const RowChunk& chunk) {
           LagrangianPart& own = parts[part % parts.size()];
           std::size_t variable = result_.before[chunk.number];
           for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
             const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
             widen(problem_, chunk, begin, count, own.Z.data());
             body(own, chunk, begin, count, variable);
           }
         },
         [&](std::span<const RowChunk>) { return complete = within_limits(); }, parts.size()});
    result_.traffic.bytes += traffic.bytes;
    result_.traffic.waiting += traffic.waiting;
    result_.seconds_passing += clock.seconds();
    ++result_.iterations;
    return complete;
  }

  /// 1 + Z'diag(1/c)Z over the variables that are not at their bounds, factored, and as right side
  /// what these would be if nothing were bounded: r = -p, Z'S(r/c).
  bool make_equations(Factor& factor) {
    std::vector<LagrangianPart> parts(stream_lanes(N_), LagrangianPart(N_));
    for (LagrangianPart& part : parts) {
      part.matrix.assign(N_ * N_, 0.0);
      part.scaled.resize(rows_at_once * N_);
    }
    const bool complete =
        for_each_rows(parts, [&](LagrangianPart& part, const RowChunk& chunk, std::size_t begin,
                                 std::size_t count, std::size_t& variable) {
          Block block[2];
          for (std::size_t i = 0; i < count; ++i) {
            const std::size_t blocks = problem_.blocks_of(chunk, begin + i, block);
            double softness = 0;
            part.share[i] = 0;
            for (std::size_t k = 0; k < blocks; ++k, ++variable) {
              r_[variable] = -block[k].linear;
              if (at_bound_[variable]) continue;
              softness += 1 / block[k].curvature;
              part.share[i] += block[k].sign * r_[variable] / block[k].curvature;
            }
            for (std::size_t j = 0; j < N_; ++j)
              part.scaled[i * N_ + j] = std::sqrt(softness) * part.Z[i * N_ + j];
          }
          gather_rows(part.Z.data(), count, part.share, part.right);
          if (N_ > 0)
            blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, as_int(N_), as_int(count), 1,
                               part.scaled.data(), as_int(N_), 1, part.matrix.data(), as_int(N_));
        });
    if (!complete) return false;
    factor.require_cholesky(
        [&] {
          for (std::size_t i = 0; i < N_; ++i) {
            double* row = factor.matrix().row(i);
            std::fill_n(row, i + 1, 0.0);
            row[i] = 1;
            for (const LagrangianPart& part : parts)
              for (std::size_t j = 0; j <= i; ++j) row[j] += part.matrix[i * N_ + j];
          }
        },
        run_.threads);
    take_sums(parts);
    return true;
  }

  /// The variables that the last pass did not put to their bounds (lemma 10.6), from their own
  /// equations, as the method in memory does: with the right ones this is the solution. The
  /// iteration goes on from there.
  std::optional<Ended> solve_inside() {
    if (!make_equations(inside_)) return limits_.stopped();
    if (N_ > 0) inside_.solve(y_.data(), 1, run_.threads);
    std::vector<LagrangianPart> parts(stream_lanes(N_), LagrangianPart(N_));
    if (!for_each_variable(parts, y_, [&](const Block& block, double f, std::size_t v, Shares& to) {
          result_.a[v] = std::max(0.0, -(block.linear + block.sign * f) / block.curvature);
          to.beta += block.sign * result_.a[v];
        }))
      return limits_.stopped();
    take_sums(parts);
    parts.assign(stream_lanes(N_), LagrangianPart(N_));
    StreamedExaminer examiner(problem_, w_);
    // Qa of these variables, from which the iteration goes on.
    if (!for_each_variable(
            parts, w_,
            [&](const Block& block, double f, std::size_t v, Shares& to) {
              r_[v] = block.curvature * result_.a[v] + block.sign * f;
              to.right += block.sign * r_[v] / block.curvature;
              to.beta += block.sign * result_.a[v];
            },
            &examiner))
      return limits_.stopped();
    take_sums(parts);
    return judged(examiner.certificate(), 1);
  }

  void take_sums(const std::vector<LagrangianPart>& parts) {
    y_.assign(N_, 0.0);
    w_.assign(N_, 0.0);
    for (const LagrangianPart& part : parts)
      for (std::size_t j = 0; j < N_; ++j) {
        y_[j] += part.right[j];
        w_[j] += part.w[j];
      }
  }

  /// Calls body(block, f of its row at a point, number, what it adds to the sums) for each
  /// variable. The examiner is shown a before the body changes it.
  template <class Body>
  bool for_each_variable(std::vector<LagrangianPart>& parts, std::span<const double> point,
                         const Body& body, StreamedExaminer* examiner = nullptr) {
    return for_each_rows(parts, [&](LagrangianPart& part, const RowChunk& chunk, std::size_t begin,
                                    std::size_t count, std::size_t& variable) {
      if (examiner != nullptr && begin == 0)
        examiner->add(static_cast<std::size_t>(&part - parts.data()), chunk,
                      result_.of(problem_, chunk), {decision_values(problem_, chunk, w_)});
      multiply_rows(part.Z.data(), count, point, part.f);
      Block block[2];
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t blocks = problem_.blocks_of(chunk, begin + i, block);
        Shares shares;
        for (std::size_t k = 0; k < blocks; ++k, ++variable)
          body(block[k], part.f[i], variable, shares);
        part.share[i] = shares.right;
        part.beta[i] = shares.beta;
      }
      gather_rows(part.Z.data(), count, part.share, part.right);
      gather_rows(part.Z.data(), count, part.beta, part.w);
    });
  }

  /// a of this iteration, the r after it, and how good the a before was.
  std::optional<Ended> pass() {
    if (N_ > 0) factor_.solve(y_.data(), 1, run_.threads);
    std::vector<LagrangianPart> parts(stream_lanes(N_), LagrangianPart(N_));
    StreamedExaminer examiner(problem_, w_);
    // (10.110): ((Qa + p) - gamma c a)_+ - p, with Qa = r.
    const auto step = [&](const Block& block, double f, std::size_t v, Shares& to) {
      const double a = (r_[v] - block.sign * f) / block.curvature;
      const double inside = r_[v] + block.linear - options_.relaxation * block.curvature * a;
      at_bound_[v] = inside > 0;
      r_[v] = std::max(0.0, inside) - block.linear;
      result_.a[v] = std::max(0.0, a);
      to.right += block.sign * r_[v] / block.curvature;
      to.beta += block.sign * result_.a[v];
    };
    if (!for_each_variable(parts, y_, step, &examiner)) return limits_.stopped();
    take_sums(parts);
    // The variables have gone a step further since then.
    constexpr double share = 0.9;
    if (const auto ended = judged(examiner.certificate(), share)) return ended;
    if (result_.iterations >= options_.stop.iterations) return Ended::iteration_limit;
    return std::nullopt;
  }

  std::optional<Ended> judged(const Certificate& last, double share) {
    progress_.primal = last.primal;
    progress_.dual = last.dual;
    progress_.relative_gap = last.relative_gap;
    progress_.kkt = last.kkt;
    if (last.kkt <= share * options_.stop.kkt &&
        last.relative_gap <= share * options_.stop.relative_gap)
      return Ended::converged;
    if (++passes_since_ < streamed_patience) return std::nullopt;
    passes_since_ = 0;
    const bool better = last.kkt < enough_progress * std::exchange(kkt_then_, last.kkt);
    return better ? std::nullopt : std::optional(Ended::stalled);
  }

  bool within_limits() {
    progress_.iteration = result_.iterations;
    progress_.size = progress_.active = r_.size();
    return limits_.allow(progress_);
  }

  StreamedLagrangianSolution finished(Ended ended) {
    result_.ended = ended;
    return std::move(result_);
  }

  const StreamedProblem& problem_;
  const Lagrangian& options_;
  const Run& run_;
  Limits limits_;
  const std::size_t N_;
  Factor factor_, inside_;
  std::vector<char> at_bound_, at_last_look_;
  std::vector<double> r_, y_, w_;  ///< w = Z'beta of the variables of the last pass
  StreamedLagrangianSolution result_;
  Progress progress_;
  double kkt_then_ = infinity;  ///< so many passes ago
  int passes_since_ = 0;
};

}  // namespace

std::vector<double> StreamedLagrangianSolution::of(const StreamedProblem& problem,
                                                   const RowChunk& chunk) const {
  Block block[2];
  std::size_t count = 0;
  for (std::size_t i = 0; i < chunk.rows; ++i) count += problem.blocks_of(chunk, i, block);
  const auto first = a.begin() + static_cast<std::ptrdiff_t>(before[chunk.number]);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

StreamedLagrangianSolution run(const StreamedProblem& problem, const Lagrangian& options,
                               const Run& run) {
  validate(options);
  if (problem.constant == StreamedProblem::Constant::free)
    throw Error(Fault::usage, "the solver 'lagrangian' takes no free bias",
                "choose --bias penalised or none");
  if (problem.functions > 0)
    throw Error(Fault::usage, "the solver 'lagrangian' takes no functions beside the kernel part",
                "choose --solver interior-point");
  return StreamedIteration(problem, options, run).solve();
}

}  // namespace maxmargin
