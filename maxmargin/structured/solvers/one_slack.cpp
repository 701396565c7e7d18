#include <algorithm>

#include "maxmargin/structured/plane_problem.hpp"
#include "maxmargin/structured/solvers/rounds.hpp"

namespace maxmargin {
namespace {

/// A cutting plane of the sum of all slack costs: sum_t weight_t s_t(w) + offset, a lower bound of
/// it that is linear in w.
struct JointPlane {
  struct Term {
    std::size_t example;
    Structure y;
    double loss, weight;
  };
  std::vector<Term> terms;
  double offset = 0;
  double beta = 0;
  std::size_t idle = 0;

  double loss() const {
    double sum = offset;
    for (const Term& term : terms) sum += term.weight * term.loss;
    return sum;
  }
};

class OneSlackRun {
 public:
  OneSlackRun(const Structured& problem, const OneSlack& options, const StructuredRun& run,
              Planes start, Rounds& rounds)
      : problem_(problem),
        options_(options),
        run_(run),
        start_(std::move(start)),
        rounds_(rounds),
        w_(problem.oracle) {}

  StructuredSolution solve() {
    if (!start_.empty()) add(of_start());
    double gained = 1;
    while (true) {
      const auto made = rounds_.pass([&](const Threads& threads) { return exact_pass(threads); });
      if (!made || !rounds_.record(*made, w_, planes_.size())) break;
      const ExactPass& pass = *made;
      if (run_.checkpoint) run_.checkpoint(exported());
      add(tangent(pass));
      gained = solve_dual();
      rounds_.record_gain(gained, false);
      drop_idle();
    }
    if (!rounds_.resume_after_stall()) return rounds_.finish(exported(), w_);
    // Tangents of squares that hardly differ give half of the digits. n-slack cutting planes, from
    // the same structures, have no such limit.
    PlaneBlocks blocks(problem_, exported(), run_.costs);
    cut_planes(blocks, rounds_, options_.idle);
    return rounds_.finish(blocks);
  }

 private:
  /// The most violated structures at w, the primal there, and the dual of the current alpha.
  ExactPass exact_pass(const Threads& threads) {
    const Planes none(problem_.oracle.examples());
    ExactPass pass = maxmargin::exact_pass(problem_, none, w_, threads);
    // The n-slack dual at the same alpha, no less than the 1-slack one.
    double dual = -w_.squared_norm() / 2;
    std::vector<double> A(problem_.oracle.examples(), 0.0);
    for (const JointPlane& plane : planes_)
      for (const JointPlane::Term& term : plane.terms) {
        dual += plane.beta * term.weight * term.loss;
        A[term.example] += plane.beta * term.weight;
      }
    for (const double each : A) dual -= problem_.curvature() / 2 * each * each;
    pass.dual = dual;
    pass.gap = pass.primal - dual;
    if (problem_.slack == Slack::none) {
      pass.gap = 0;
      for (std::size_t j = 0; j < planes_.size(); ++j) pass.gap -= planes_[j].beta * sub_.s[j];
      double violation = 0, beta = 0;
      for (const double m : pass.violation) violation += m;
      for (const JointPlane& plane : planes_) beta += plane.beta;
      pass.gap += beta * violation;
    }
    return pass;
  }

  /// The tangent of the sum of all slack costs at the w of this pass.
  JointPlane tangent(const ExactPass& pass) const {
    JointPlane plane;
    for (std::size_t i = 0; i < pass.violators.size(); ++i) {
      const double m = pass.violation[i];
      if (m <= 0) continue;
      const double weight = problem_.slack == Slack::linear    ? problem_.share()
                            : problem_.slack == Slack::squared ? 2 * problem_.share() * m
                                                               : 1;
      if (problem_.slack == Slack::squared) plane.offset -= problem_.share() * m * m;
      plane.terms.push_back(
          {i, pass.violators[i], problem_.oracle.loss(i, pass.violators[i]), weight});
    }
    return plane;
  }

  /// The planes to start from as one plane.
  JointPlane of_start() const {
    JointPlane plane;
    for (std::size_t i = 0; i < start_.size(); ++i) {
      double A = 0;
      for (const Plane& each : start_[i]) {
        A += each.alpha;
        if (each.alpha > 0)
          plane.terms.push_back({i, each.y, problem_.oracle.loss(i, each.y), each.alpha});
      }
      plane.offset -= problem_.curvature() / 2 * A * A;
    }
    plane.beta = 1;
    return plane;
  }

  JointFeatures vector_of(const JointPlane& plane) const {
    JointFeatures psi;
    for (const JointPlane::Term& term : plane.terms)
      problem_.oracle.difference(term.example, term.y,
                                 term.weight * problem_.plane_scale(term.loss), psi);
    return psi;
  }

  /// Adds a plane. Only the first can have a beta.
  void add(JointPlane plane) {
    const std::size_t k = planes_.size() + 1;
    StructuredWeights of_new(problem_.oracle);
    const JointFeatures psi = vector_of(plane);
    of_new.add(psi, 1);
    if (plane.beta > 0) w_.add(psi, plane.beta);
    std::vector<double> inner(k);
    run_.threads.run(k - 1,
                     [&](std::size_t j) { inner[j] = vector_of(planes_[j]).dot(of_new.scores()); });
    inner[k - 1] = of_new.squared_norm();
    std::vector<double> G(k * k);
    for (std::size_t r = 0; r + 1 < k; ++r)
      for (std::size_t c = 0; c + 1 < k; ++c) G[r * k + c] = sub_.G[r * (k - 1) + c];
    for (std::size_t r = 0; r < k; ++r) G[r * k + k - 1] = G[(k - 1) * k + r] = inner[r];
    sub_.G = std::move(G);
    sub_.s.push_back(plane.loss() - psi.dot(w_.scores()));
    sub_.alpha.push_back(plane.beta);
    planes_.push_back(std::move(plane));
  }

  double solve_dual() {
    sub_.capacity = problem_.slack == Slack::none ? infinity : 1;
    const std::vector<double> first = sub_.s;
    solve_by_pairs(sub_, 1e-4, 1000 + 20 * planes_.size());
    double gained = 0;
    JointFeatures moved;  // one change of w in all: with a kernel, each costs kernel rows
    for (std::size_t j = 0; j < planes_.size(); ++j) {
      const double change = sub_.alpha[j] - planes_[j].beta;
      planes_[j].idle = sub_.alpha[j] == 0 ? planes_[j].idle + 1 : 0;
      planes_[j].beta = sub_.alpha[j];
      if (change == 0) continue;
      gained += change * (first[j] + sub_.s[j]) / 2;
      const JointFeatures psi = vector_of(planes_[j]);
      for (std::size_t k = 0; k < psi.size(); ++k) moved.add(psi.index[k], change * psi.value[k]);
    }
    w_.add(moved, 1);
    return gained + stretch();
  }

  /// As PlaneBlocks::stretch().
  double stretch() {
    if (problem_.slack != Slack::none) return 0;
    double L = 0;
    for (const JointPlane& plane : planes_) L += plane.beta * plane.loss();
    const double squared = w_.squared_norm(), t = best_stretch(L, squared);
    if (t == 1) return 0;
    for (std::size_t j = 0; j < planes_.size(); ++j) {
      const double loss = planes_[j].loss();
      sub_.s[j] = loss - t * (loss - sub_.s[j]);
      sub_.alpha[j] = planes_[j].beta *= t;
    }
    w_.scale(t);
    return (t - 1) * (L - (t + 1) / 2 * squared);
  }

  void drop_idle() {
    std::vector<std::size_t> active;
    for (std::size_t j = 0; j < planes_.size(); ++j)
      if (planes_[j].idle < options_.idle) active.push_back(j);
    if (active.size() == planes_.size()) return;
    PlaneProblem smaller;
    for (const std::size_t r : active)
      for (const std::size_t c : active) smaller.G.push_back(sub_.G[r * planes_.size() + c]);
    for (std::size_t k = 0; k < active.size(); ++k) {
      smaller.s.push_back(sub_.s[active[k]]);
      smaller.alpha.push_back(sub_.alpha[active[k]]);
      if (active[k] != k) planes_[k] = std::move(planes_[active[k]]);
    }
    planes_.resize(active.size());
    sub_ = std::move(smaller);
  }

  /// The same solution as planes of the examples, equal structures merged.
  Planes exported() const {
    Planes all(problem_.oracle.examples());
    for (const JointPlane& plane : planes_) {
      if (plane.beta == 0) continue;
      for (const JointPlane::Term& term : plane.terms) {
        std::vector<Plane>& mine = all[term.example];
        const auto same =
            std::ranges::find_if(mine, [&](const Plane& each) { return each.y == term.y; });
        if (same != mine.end())
          same->alpha += plane.beta * term.weight;
        else
          mine.push_back({term.y, term.loss, plane.beta * term.weight, 0});
      }
    }
    return all;
  }

  const Structured& problem_;
  const OneSlack& options_;
  const StructuredRun& run_;
  const Planes start_;
  Rounds& rounds_;
  StructuredWeights w_;
  std::vector<JointPlane> planes_;
  PlaneProblem sub_;
};

}  // namespace

StructuredSolution run(const Structured& problem, const OneSlack& options, const Stop& stop,
                       const StructuredRun& how) {
  Rounds rounds(problem, stop, how);
  return OneSlackRun(problem, options, how, how.start, rounds).solve();
}

StructuredSolution cut_joint_planes(const Structured& problem, const StructuredRun& how,
                                    Planes start, Rounds& rounds) {
  return OneSlackRun(problem, OneSlack{}, how, std::move(start), rounds).solve();
}

}  // namespace maxmargin
