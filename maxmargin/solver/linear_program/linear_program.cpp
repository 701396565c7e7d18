#include "maxmargin/solver/linear_program/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/patience.hpp"

namespace maxmargin {
namespace {

constexpr int most_iterations = 200;
constexpr std::size_t block_rows = 128;
// Columns of such a block that are multiplied at a time: between two tasks a run can be ended.
constexpr std::size_t columns_of_task = 1024;
// What an interior point leaves of zeros: coefficients whose share of the largest is below this
// times the slack of their dual constraint. Of those that are not zero the slack vanishes instead.
constexpr double zero_share = 1e-3;

/// The four groups of non-negative variables: beta+ and beta- of each point, xi and z of each
/// variable of the problem.
struct Group {
  std::vector<double> x, w;    ///< variables and the slacks of their dual constraints
  std::vector<double> dx, dw;  ///< steps
  std::vector<double> rd, rc;  ///< residuals of the dual constraints and of complementarity

  explicit Group(std::size_t size)
      : x(size, 1.0), w(size, 1.0), dx(size), dw(size), rd(size), rc(size) {}
  double ratio(std::size_t k) const { return x[k] / w[k]; }
};

class LpPath {
 public:
  LpPath(const DualQp& qp, const LinearProgram& options, const Context& context)
      : qp_(qp),
        options_(options),
        patience_(context.observer, std::min(context.seconds, options.stop.seconds)),
        threads_(context.threads.interrupted_by([this] { return patience_.is_over(); })),
        context_{context},
        limits_(context_, options.stop),
        points_(qp.K->size()),
        K_(points_ * points_),
        scaled_(points_ * points_),
        factor_(points_),
        plus_(points_),
        minus_(points_),
        over_(qp.size()),
        under_(qp.size()),
        y_(qp.size()),
        diagonal_(qp.size()),
        inner_(points_),
        at_point_(points_) {
    start();
  }

  ExpansionSolved solve() {
    ExpansionSolved best;
    try {
      compute_matrix();
      go(best);
    } catch (const Threads::Interrupted&) {
      best.ended = *patience_.ended();
      // Not even the start has been judged: no function at all.
      if (best.certified.expansion.beta.empty())
        best.certified = certify(qp_, nothing(), context_.threads);
    }
    return best;
  }

 private:
  void compute_matrix() {
    std::vector<Index> which(points_);
    std::iota(which.begin(), which.end(), Index{0});
    threads_.split(points_, block_rows, [&](std::size_t begin, std::size_t end) {
      qp_.K->exact_block(std::span(which).subspan(begin, end - begin), 0, points_,
                         &K_[begin * points_], points_);
    });
  }

  /// Iterates until the best answer so far is good enough, or all has to end.
  void go(ExpansionSolved& best) {
    for (int iteration = 0;; ++iteration) {
      ExpansionCertified now = certify(qp_, expansion(), threads_);
      const Certificate& found = now.certificate;
      const bool better = iteration == 0 || distance(found) < distance(best.certified.certificate);
      if (better) {
        best.certified = std::move(now);
        since_ = 0;
      } else if (++since_ > 15) {
        best.ended = Ended::stalled;
        break;
      }
      const Certificate& held = best.certified.certificate;
      best.iterations = static_cast<std::size_t>(iteration);
      if (held.relative_gap <= options_.stop.relative_gap && held.kkt <= options_.stop.kkt &&
          held.equality_residual <= 1e-11 * (1 + scale_)) {
        best.ended = Ended::converged;
        break;
      }
      if (best.iterations >= options_.stop.iterations || iteration == most_iterations) {
        best.ended = Ended::iteration_limit;
        break;
      }
      Progress progress;
      progress.phase = "train";
      progress.iteration = best.iterations;
      progress.primal = held.primal;
      progress.dual = held.dual;
      progress.relative_gap = held.relative_gap;
      progress.kkt = held.kkt;
      progress.active = progress.size = qp_.size();
      if (!limits_.allow(progress)) {
        best.ended = *limits_.stopped();
        break;
      }
      patience_.tell(progress, progress.seconds);
      if (!step()) {
        best.ended = Ended::stalled;
        break;
      }
    }
  }

  /// From the optimum: a dual point that misses the equality row proves nothing.
  double distance(const Certificate& found) const {
    return found.relative_gap + found.equality_residual / (1 + scale_);
  }

  void start() {
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const Block& block = qp_.block[v];
      y_[v] = (block.lower + block.upper) / 2;
      over_.w[v] = block.upper - y_[v];
      under_.w[v] = y_[v] - block.lower;
      scale_ = std::max(scale_, block.upper - block.lower);
      at_point_[qp_.row[v]].push_back(static_cast<Index>(v));
    }
  }

  ExpansionPoint nothing() const {
    return {std::vector<double>(points_), std::vector<double>(qp_.A.size()),
            std::vector<double>(qp_.size())};
  }

  /// What the path has come to, with zeros for what is nothing but rounding and a within bounds.
  ExpansionPoint expansion() const {
    ExpansionPoint made;
    double largest = 0;
    for (std::size_t p = 0; p < points_; ++p)
      largest = std::max(largest, std::abs(plus_.x[p] - minus_.x[p]));
    for (std::size_t p = 0; p < points_; ++p) {
      const double beta = plus_.x[p] - minus_.x[p];
      const double slack = std::min(plus_.w[p], minus_.w[p]);
      made.beta.push_back(std::abs(beta) > zero_share * slack * largest ? beta : 0);
    }
    made.lambda.assign(qp_.A.size(), b_);
    made.a = y_;
    for (std::size_t v = 0; v < y_.size(); ++v)
      made.a[v] = std::clamp(y_[v], qp_.block[v].lower, qp_.block[v].upper);
    if (has_bias()) meet_equality(made.a);
    return made;
  }

  /// What the equality row is missed by goes to the variable with most room on both sides.
  void meet_equality(std::vector<double>& a) const {
    double missed = 0, most = -1;
    std::size_t roomiest = 0;
    for (std::size_t v = 0; v < a.size(); ++v) {
      const Block& block = qp_.block[v];
      const double room = std::min(block.upper - a[v], a[v] - block.lower);
      missed += qp_.A[0][v] * a[v];
      if (room > most && qp_.A[0][v] != 0) {
        most = room;
        roomiest = v;
      }
    }
    if (const double change = missed / qp_.A[0][roomiest]; std::abs(change) <= most)
      a[roomiest] -= change;
  }

  std::vector<double> product(std::span<const double> x) const {
    std::vector<double> y(points_);
    const SerialBlas serial;
    threads_.split(points_, block_rows, [&](std::size_t begin, std::size_t end) {
      blas().cblas_dgemv(CblasRowMajor, CblasNoTrans, as_int(end - begin), as_int(points_), 1,
                         &K_[begin * points_], as_int(points_), x.data(), 1, 0, &y[begin], 1);
    });
    return y;
  }
  bool has_bias() const { return !qp_.A.empty(); }

  /// Both residuals and the mean complementarity.
  double residuals() {
    std::vector<double> beta(points_);
    for (std::size_t p = 0; p < points_; ++p) beta[p] = plus_.x[p] - minus_.x[p];
    const std::vector<double> f = product(beta);
    const std::vector<double> correlation = product(qp_.coefficients(y_));
    rp_.assign(qp_.size(), 0.0);
    rb_ = 0;
    double sum = 0;
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const Block& block = qp_.block[v];
      const double bias = has_bias() ? qp_.A[0][v] * b_ : 0;
      rp_[v] = -block.linear - block.sign * f[qp_.row[v]] - bias - over_.x[v] + under_.x[v];
      over_.rd[v] = block.upper - y_[v] - over_.w[v];
      under_.rd[v] = y_[v] - block.lower - under_.w[v];
      if (has_bias()) rb_ -= qp_.A[0][v] * y_[v];
      sum += over_.x[v] * over_.w[v] + under_.x[v] * under_.w[v];
    }
    for (std::size_t p = 0; p < points_; ++p) {
      plus_.rd[p] = 1 - correlation[p] - plus_.w[p];
      minus_.rd[p] = 1 + correlation[p] - minus_.w[p];
      sum += plus_.x[p] * plus_.w[p] + minus_.x[p] * minus_.w[p];
    }
    return sum / static_cast<double>(2 * (points_ + qp_.size()));
  }

  /// K D K' + H^-1, where H sums 1 / diagonal over the variables of a point.
  bool factor() {
    std::vector<double> root(points_), H(points_, 0.0);
    for (std::size_t p = 0; p < points_; ++p) root[p] = std::sqrt(plus_.ratio(p) + minus_.ratio(p));
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      diagonal_[v] = over_.ratio(v) + under_.ratio(v);
      H[qp_.row[v]] += 1 / diagonal_[v];
    }
    threads_.split(points_, block_rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::size_t j = 0; j < points_; ++j)
          scaled_[i * points_ + j] = K_[i * points_ + j] * root[j];
    });
    for (std::size_t p = 0; p < points_; ++p) inner_[p] = H[p] > 0 ? 1 / H[p] : 1;
    // Near the end the matrix may be definite but for rounding; what a ridge changes is made good
    // by refinement.
    for (const double ridge : {0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10})
      if (factor_with(ridge)) return true;
    return false;
  }

  bool factor_with(double ridge) {
    const auto n = static_cast<int>(points_);
    SymmetricMatrix& M = factor_.matrix();
    const SerialBlas serial;
    const std::size_t across = (points_ + columns_of_task - 1) / columns_of_task;
    const std::size_t down = (points_ + block_rows - 1) / block_rows;
    threads_.run(down * across, [&](std::size_t task) {
      const std::size_t begin = task / across * block_rows, first = task % across * columns_of_task;
      const std::size_t end = std::min(points_, begin + block_rows);
      if (first >= end) return;
      blas().cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, as_int(end - begin),
                         as_int(std::min(end, first + columns_of_task) - first), n, 1.0,
                         &scaled_[begin * points_], n, &scaled_[first * points_], n, 0.0,
                         M.row(begin) + first, as_int(M.stride()));
    });
    for (std::size_t p = 0; p < points_; ++p) {
      M.row(p)[p] += inner_[p];
      M.row(p)[p] *= 1 + ridge;
    }
    return factor_.cholesky(threads_) == Factor::Outcome::done;
  }

  /// (E G E' + diagonal)^-1 r, G = K D K', by the factor of G + H^-1. With g = H^-1 E' diagonal^-1
  /// r of a point, the variables of it have r - E g, which is summed without cancellation, and E
  /// H^-1 (G + H^-1)^-1 g.
  std::vector<double> solved_once(std::span<const double> r) const {
    std::vector<double> g(points_, 0.0), x(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v)
      g[qp_.row[v]] += qp_.block[v].sign * r[v] / diagonal_[v];
    for (std::size_t p = 0; p < points_; ++p) g[p] *= inner_[p];
    factor_.solve(g.data(), 1, threads_);
    for (const std::vector<Index>& variables : at_point_)
      for (const Index v : variables) {
        const double sign = qp_.block[v].sign;
        double apart = sign * g[qp_.row[v]];
        for (const Index w : variables)
          if (w != v) apart += (r[v] - sign * qp_.block[w].sign * r[w]) / diagonal_[w];
        x[v] = apart * inner_[qp_.row[v]] / diagonal_[v];
      }
    return x;
  }

  /// The same with what it leaves of r solved for again.
  std::vector<double> inverse(std::span<const double> r) const {
    constexpr int refinements = 3;
    std::vector<double> x = solved_once(r);
    for (int round = 0; round < refinements; ++round) {
      std::vector<double> middle = product(qp_.coefficients(x));
      for (std::size_t p = 0; p < points_; ++p) middle[p] *= plus_.ratio(p) + minus_.ratio(p);
      const std::vector<double> G = product(middle);
      std::vector<double> left(r.begin(), r.end());
      for (std::size_t v = 0; v < qp_.size(); ++v)
        left[v] -= qp_.block[v].sign * G[qp_.row[v]] + diagonal_[v] * x[v];
      const std::vector<double> more = solved_once(left);
      for (std::size_t v = 0; v < qp_.size(); ++v) x[v] += more[v];
    }
    return x;
  }

  /// The step for the given complementarity residuals.
  void solve_step() {
    std::vector<double> inside(points_), r1 = rp_;
    const auto free_part = [](const Group& group, std::size_t k) {
      return group.rc[k] / group.w[k] - group.ratio(k) * group.rd[k];
    };
    for (std::size_t p = 0; p < points_; ++p)
      inside[p] = free_part(plus_, p) - free_part(minus_, p);
    const std::vector<double> moved = product(inside);
    for (std::size_t v = 0; v < qp_.size(); ++v)
      r1[v] -= qp_.block[v].sign * moved[qp_.row[v]] + free_part(over_, v) - free_part(under_, v);
    dy_ = inverse(r1);
    db_ = 0;
    if (has_bias()) {
      const std::vector<double> border = inverse(qp_.A[0]);
      double along = 0, across = 0;
      for (std::size_t v = 0; v < qp_.size(); ++v) {
        along += qp_.A[0][v] * dy_[v];
        across += qp_.A[0][v] * border[v];
      }
      db_ = (along - rb_) / across;
      for (std::size_t v = 0; v < qp_.size(); ++v) dy_[v] -= db_ * border[v];
    }
    const std::vector<double> correlation = product(qp_.coefficients(dy_));
    const auto finish = [](Group& group, std::size_t k, double slope) {
      group.dw[k] = group.rd[k] - slope;
      group.dx[k] = group.rc[k] / group.w[k] - group.ratio(k) * group.dw[k];
    };
    for (std::size_t p = 0; p < points_; ++p) {
      finish(plus_, p, correlation[p]);
      finish(minus_, p, -correlation[p]);
    }
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      finish(over_, v, dy_[v]);
      finish(under_, v, -dy_[v]);
    }
  }

  template <class Visit>
  void for_each_pair(Visit&& visit) {
    for (Group* group : {&plus_, &minus_, &over_, &under_})
      for (std::size_t k = 0; k < group->x.size(); ++k) visit(*group, k);
  }

  struct Lengths {
    double primal = 1, dual = 1;
  };
  Lengths longest(double share) {
    Lengths lengths;
    for_each_pair([&](const Group& group, std::size_t k) {
      if (group.dx[k] < 0)
        lengths.primal = std::min(lengths.primal, -share * group.x[k] / group.dx[k]);
      if (group.dw[k] < 0) lengths.dual = std::min(lengths.dual, -share * group.w[k] / group.dw[k]);
    });
    return lengths;
  }

  bool step() {
    const double mu = residuals();
    if (!(mu > 0) || !factor()) return false;
    for_each_pair([](Group& group, std::size_t k) { group.rc[k] = -group.x[k] * group.w[k]; });
    solve_step();
    const Lengths trial = longest(1);
    double after = 0;
    for_each_pair([&](const Group& group, std::size_t k) {
      after += (group.x[k] + trial.primal * group.dx[k]) * (group.w[k] + trial.dual * group.dw[k]);
    });
    after /= static_cast<double>(2 * (points_ + qp_.size()));
    const double centre = std::pow(after / mu, 3) * mu;
    for_each_pair([&](Group& group, std::size_t k) {
      group.rc[k] = centre - group.x[k] * group.w[k] - group.dx[k] * group.dw[k];
    });
    solve_step();
    const Lengths lengths = longest(0.995);
    for_each_pair([&](Group& group, std::size_t k) {
      group.x[k] += lengths.primal * group.dx[k];
      group.w[k] += lengths.dual * group.dw[k];
    });
    for (std::size_t v = 0; v < y_.size(); ++v) y_[v] += lengths.dual * dy_[v];
    b_ += lengths.primal * db_;
    return std::isfinite(b_) && std::max(lengths.primal, lengths.dual) > 1e-10;
  }

  const DualQp& qp_;
  const LinearProgram& options_;
  Patience patience_;
  const Threads threads_;  ///< until all has to end
  const Run context_;
  Limits limits_;
  std::size_t points_;
  Buffer<double> K_, scaled_;
  Factor factor_;
  Group plus_, minus_, over_, under_;
  std::vector<double> y_, dy_, rp_, diagonal_, inner_;
  std::vector<std::vector<Index>> at_point_;  ///< the variables of each point
  double b_ = 0, db_ = 0, rb_ = 0, scale_ = 0;
  int since_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const LinearProgram& options) {
  for (const Block& block : qp.block) {
    if (block.entropy != Entropy::none || block.curvature > 0)
      return "its costs must be piecewise linear: a hinge, a tube or the pinball loss";
    if (std::isinf(block.upper) || std::isinf(block.lower)) return "its costs must be finite";
  }
  if (qp.A.size() > 1) return "it has room for a bias, and no other equality row";
  for (const double d : qp.d)
    if (d != 0) return "nu is not for it";
  const std::size_t points = qp.K->size();
  if (3 * points * points * sizeof(double) > options.memory_bytes)
    return "it needs " + std::to_string(3 * points * points * sizeof(double) / (1 << 20)) +
           " MiB of memory, three times the kernel matrix";
  return std::nullopt;
}

ExpansionSolved solve(const DualQp& qp, const LinearProgram& options, const Context& context) {
  if (const auto why = refuses(qp, options))
    throw Error(Fault::usage, "the linear-programming machine cannot do this: " + *why,
                "leave --regulariser l1 out");
  return LpPath(qp, options, context).solve();
}

}  // namespace maxmargin
