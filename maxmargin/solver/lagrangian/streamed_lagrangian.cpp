#include "maxmargin/solver/lagrangian/streamed_lagrangian.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

// The first passes tell little; looks that bring the violation down by less than this, so many in a
// row: stalled.
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
        factor_(N_) {}

  StreamedLagrangianSolution solve() {
    count_variables();
    if (!make_factor()) return finished(*limits_.stopped());
    for (;;) {
      if (const auto ended = pass()) return finished(*ended);
    }
  }

 private:
  /// Sums of one part of the rows, and room for some of these.
  struct LagrangianPart {
    explicit LagrangianPart(std::size_t numbers)
        : Z(rows_at_once * numbers), right(numbers, 0.0), w(numbers, 0.0) {}
    std::vector<double> Z, right, w;
    std::vector<double> matrix{};
    double beta[rows_at_once] = {}, share[rows_at_once] = {}, f[rows_at_once] = {};
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
    r_.resize(count);
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
    const RowFile::Traffic traffic =
        for_each_chunk(*problem_.rows, run_.threads,
                       {[&](std::size_t part, const RowChunk& chunk) {
                          std::size_t variable = result_.before[chunk.number];
                          for (std::size_t begin = 0; begin < chunk.rows; begin += rows_at_once) {
                            const std::size_t count = std::min(rows_at_once, chunk.rows - begin);
                            widen(problem_, chunk, begin, count, parts[part].Z.data());
                            body(parts[part], chunk, begin, count, variable);
                          }
                        },
                        [&](std::span<const RowChunk>) { return complete = within_limits(); }});
    result_.traffic.bytes += traffic.bytes;
    result_.traffic.waiting += traffic.waiting;
    result_.seconds_passing += clock.seconds();
    ++result_.iterations;
    return complete;
  }

  /// 1 + Z'diag(1/c)Z, and Z'S(r/c) of the first r, which is -p: as if nothing were bounded.
  bool make_factor() {
    std::vector<LagrangianPart> parts(stream_parts, LagrangianPart(N_));
    for (LagrangianPart& part : parts) part.matrix.assign(N_ * N_, 0.0);
    const bool complete =
        for_each_rows(parts, [&](LagrangianPart& part, const RowChunk& chunk, std::size_t begin,
                                 std::size_t count, std::size_t& variable) {
          std::vector<double> scaled(count * N_);
          Block block[2];
          for (std::size_t i = 0; i < count; ++i) {
            const std::size_t blocks = problem_.blocks_of(chunk, begin + i, block);
            double softness = 0;
            part.share[i] = 0;
            for (std::size_t k = 0; k < blocks; ++k, ++variable) {
              r_[variable] = -block[k].linear;
              softness += 1 / block[k].curvature;
              part.share[i] += block[k].sign * r_[variable] / block[k].curvature;
            }
            for (std::size_t j = 0; j < N_; ++j)
              scaled[i * N_ + j] = std::sqrt(softness) * part.Z[i * N_ + j];
          }
          gather_rows(part.Z.data(), count, part.share, part.right);
          if (N_ > 0)
            blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, as_int(N_), as_int(count), 1,
                               scaled.data(), as_int(N_), 1, part.matrix.data(), as_int(N_));
        });
    if (!complete) return false;
    for (std::size_t i = 0; i < N_; ++i) {
      double* row = factor_.matrix().row(i);
      std::fill_n(row, i + 1, 0.0);
      row[i] = 1;
      for (const LagrangianPart& part : parts)
        for (std::size_t j = 0; j <= i; ++j) row[j] += part.matrix[i * N_ + j];
    }
    // 1 + something positive semi-definite: it cannot break down.
    factor_.cholesky(run_.threads);
    take_sums(parts);
    return true;
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

  /// a of this iteration, the r after it, and how good the a before was.
  std::optional<Ended> pass() {
    if (N_ > 0) factor_.solve(y_.data(), 1, run_.threads);
    std::vector<LagrangianPart> parts(stream_parts, LagrangianPart(N_));
    StreamedExaminer examiner(problem_, w_);
    const bool knows = result_.iterations > 1;
    const auto step = [&](LagrangianPart& part, const RowChunk& chunk, std::size_t begin,
                          std::size_t count, std::size_t& variable) {
      multiply_rows(part.Z.data(), count, y_, part.f);
      Block block[2];
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t blocks = problem_.blocks_of(chunk, begin + i, block);
        part.share[i] = part.beta[i] = 0;
        for (std::size_t k = 0; k < blocks; ++k, ++variable)
          part_of(block[k], part.f[i], variable, part.share[i], part.beta[i]);
      }
      gather_rows(part.Z.data(), count, part.share, part.right);
      gather_rows(part.Z.data(), count, part.beta, part.w);
    };
    if (knows) {
      // Before the variables are overwritten: chunk by chunk, so that f is computed at once.
      const bool complete =
          for_each_rows(parts, [&](LagrangianPart& part, const RowChunk& chunk, std::size_t begin,
                                   std::size_t count, std::size_t& variable) {
            if (begin == 0)
              examiner.add(static_cast<std::size_t>(&part - parts.data()), chunk,
                           result_.of(problem_, chunk), decision_values(problem_, chunk, w_));
            step(part, chunk, begin, count, variable);
          });
      if (!complete) return limits_.stopped();
      if (const auto ended = judged(examiner.certificate())) return ended;
    } else if (!for_each_rows(parts, step)) {
      return limits_.stopped();
    }
    take_sums(parts);
    if (result_.iterations >= options_.stop.iterations) return Ended::iteration_limit;
    return std::nullopt;
  }

  /// (10.110): ((Qa + p) - gamma c a)_+ - p, with Qa = r.
  void part_of(const Block& block, double f, std::size_t v, double& share, double& beta) {
    const double a = (r_[v] - block.sign * f) / block.curvature;
    const double inside = r_[v] + block.linear - options_.relaxation * block.curvature * a;
    r_[v] = std::max(0.0, inside) - block.linear;
    result_.a[v] = std::max(0.0, a);
    share += block.sign * r_[v] / block.curvature;
    beta += block.sign * result_.a[v];
  }

  std::optional<Ended> judged(const Certificate& last) {
    progress_.primal = last.primal;
    progress_.dual = last.dual;
    progress_.relative_gap = last.relative_gap;
    progress_.kkt = last.kkt;
    // The variables have gone a step further since then.
    constexpr double share = 0.9;
    if (last.kkt <= share * options_.stop.kkt &&
        last.relative_gap <= share * options_.stop.relative_gap)
      return Ended::converged;
    idle_ = last.kkt < enough_progress * least_ ? 0 : idle_ + 1;
    least_ = std::min(least_, last.kkt);
    return idle_ > streamed_patience ? std::optional(Ended::stalled) : std::nullopt;
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
  Factor factor_;
  std::vector<double> r_, y_, w_;  ///< w = Z'beta of the variables of the last pass
  StreamedLagrangianSolution result_;
  Progress progress_;
  double least_ = infinity;
  int idle_ = 0;
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
  return StreamedIteration(problem, options, run).solve();
}

}  // namespace maxmargin
