#include <algorithm>

#include "maxmargin/structured/plane_problem.hpp"
#include "maxmargin/structured/solvers/rounds.hpp"

namespace maxmargin {
namespace {

/// A lower bound of all slacks' cost that is linear in w, as the structures it is made of:
/// sum_t weight_t s_t(w) + offset.
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
  OneSlackRun(const Structured& problem, const OneSlack& options, const Stop& stop,
              const StructuredRun& run)
      : problem_(problem),
        options_(options),
        run_(run),
        rounds_(problem, stop, run),
        w_(problem.oracle) {}

  StructuredSolution solve() {
    if (!run_.start.empty()) add(of_start());
    double gained = 1;
    while (true) {
      const ExactPass pass = look();
      if (!rounds_.next(pass, w_, planes_.size())) break;
      if (run_.checkpoint) run_.checkpoint(exported());
      add(tangent(pass));
      gained = solve_dual();
      rounds_.progress(gained, false);
      drop_idle();
    }
    if (!rounds_.go_on_after_stall()) return rounds_.finish(exported(), w_);
    // Tangents of squares that hardly differ leave half of the digits; the examples' planes do not.
    PlaneBlocks blocks(problem_, exported());
    cut_planes(blocks, rounds_, options_.idle, run_.threads);
    return rounds_.finish(blocks);
  }

 private:
  /// The structures most violated at w: P there, and D of the last dual.
  ExactPass look() {
    const Planes none(problem_.oracle.examples());
    ExactPass pass = look_at_all(problem_, none, w_, run_.threads);
    // The examples' dual at the same alpha: no less than that of the planes.
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

  /// The tangent of all slacks' cost where the oracle looked.
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

  /// Planes to start from, as one plane.
  JointPlane of_start() const {
    JointPlane plane;
    for (std::size_t i = 0; i < run_.start.size(); ++i) {
      double A = 0;
      for (const Plane& each : run_.start[i]) {
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

  /// Takes a plane in; one with beta is the first.
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
    JointFeatures moved;  // all at once: with a kernel, each change of w costs kernel rows
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
    return gained;
  }

  void drop_idle() {
    std::vector<std::size_t> kept;
    for (std::size_t j = 0; j < planes_.size(); ++j)
      if (planes_[j].idle < options_.idle) kept.push_back(j);
    if (kept.size() == planes_.size()) return;
    PlaneProblem smaller;
    for (const std::size_t r : kept)
      for (const std::size_t c : kept) smaller.G.push_back(sub_.G[r * planes_.size() + c]);
    for (std::size_t k = 0; k < kept.size(); ++k) {
      smaller.s.push_back(sub_.s[kept[k]]);
      smaller.alpha.push_back(sub_.alpha[kept[k]]);
      if (kept[k] != k) planes_[k] = std::move(planes_[kept[k]]);
    }
    planes_.resize(kept.size());
    sub_ = std::move(smaller);
  }

  /// As planes of the examples, equal structures together.
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
  Rounds rounds_;
  StructuredWeights w_;
  std::vector<JointPlane> planes_;
  PlaneProblem sub_;
};

}  // namespace

StructuredSolution run(const Structured& problem, const OneSlack& options, const Stop& stop,
                       const StructuredRun& how) {
  return OneSlackRun(problem, options, stop, how).solve();
}

}  // namespace maxmargin
