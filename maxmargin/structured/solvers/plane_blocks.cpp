#include "maxmargin/structured/solvers/plane_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/error.hpp"

namespace maxmargin {

void refuse_answer(const Structured& problem, std::size_t i, const std::string& what,
                   const std::string& mend) {
  throw Error(Fault::data, problem.oracle.example_name(i) + ": " + what, mend);
}

ExactPass exact_pass(const Structured& problem, const Planes& planes, const StructuredWeights& w,
                     const Threads& threads) {
  const std::size_t n = planes.size();
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  ExactPass pass;
  pass.violators = problem.oracle.most_violated(all, w.scores(), problem.ask(), threads);
  pass.terms.resize(n);
  pass.violation.resize(n);
  std::vector<double> losses(n), squares(n);
  threads.split(n, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<StructureView> ys;
    std::vector<double> margins;
    for (std::size_t i = begin; i < end; ++i) {
      ys.assign(1, pass.violators[i]);
      for (const Plane& plane : planes[i]) ys.push_back(plane.y);
      margins.resize(ys.size());
      problem.oracle.margins(i, ys, w.scores(), margins);
      const double loss = problem.oracle.loss(i, pass.violators[i]);
      double A = 0, sum_as = 0;
      double most = std::max(0.0, loss - problem.plane_scale(loss) * margins[0]);
      for (std::size_t k = 0; k < planes[i].size(); ++k) {
        const Plane& plane = planes[i][k];
        const double s = plane.loss - problem.plane_scale(plane.loss) * margins[k + 1];
        most = std::max(most, s);
        A += plane.alpha;
        sum_as += plane.alpha * s;
        losses[i] += plane.alpha * plane.loss;
      }
      squares[i] = problem.curvature() / 2 * A * A;
      pass.violation[i] = most;
      pass.terms[i] = problem.gap_term(most, A, sum_as);
    }
  });
  const double half_norm = w.squared_norm() / 2;
  pass.primal = half_norm;
  pass.dual = -half_norm;
  for (std::size_t i = 0; i < n; ++i) {
    pass.primal += problem.cost(pass.violation[i]);
    pass.dual += losses[i] - squares[i];
    pass.gap += pass.terms[i];
    if (problem.slack == Slack::none)
      pass.largest_violation = std::max(pass.largest_violation, pass.violation[i]);
  }
  if (!std::isfinite(pass.primal))
    throw Error(Fault::data, "the objective is not finite", "look for huge features or losses");
  return pass;
}

namespace {

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

PlaneBlocks::PlaneBlocks(const Structured& problem, Planes start, const CostModel& costs)
    : problem_(problem),
      few_dimensions_(costs.structured.few_dimensions),
      planes_(std::move(start)),
      G_(problem.oracle.examples()),
      vectors_(problem.oracle.examples()),
      w_(problem.oracle, plane_coefficients(problem, planes_), Precision::fast) {
  planes_.resize(problem.oracle.examples());
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    std::vector<Plane> known = std::move(planes_[i]);
    planes_[i].clear();
    for (Plane& plane : known) {
      add(i, plane.y, steps_[0]);
      planes_[i].back().alpha = plane.alpha;
    }
  }
}

void PlaneBlocks::add(std::size_t i, const Structure& y, BlockStep& step) {
  std::vector<Plane>& planes = planes_[i];
  const Oracle& oracle = problem_.oracle;
  const double loss = oracle.loss(i, y);
  if (!std::isfinite(loss) || loss < 0)
    refuse_answer(problem_, i, "the oracle gives a structure the loss " + std::to_string(loss),
                  "a loss is a finite number and not negative");
  planes.push_back({y, loss, 0, 0});
  const std::size_t k = planes.size();
  JointFeatures& psi = step.plane;
  psi.clear();
  oracle.difference(i, y, problem_.plane_scale(loss), psi);
  for (const Index feature : psi.index)
    if (feature >= oracle.dimensions())
      refuse_answer(
          problem_, i,
          "the oracle names feature " + std::to_string(feature) + ", beyond its dimensions",
          "mend the oracle");
  std::vector<double> grown(k * k);
  for (std::size_t r = 0; r + 1 < k; ++r)
    for (std::size_t c = 0; c + 1 < k; ++c) grown[r * k + c] = G_[i][r * (k - 1) + c];
  const bool stored = stores_vectors();
  if (stored) {
    vectors_[i].resize(k * oracle.dimensions(), 0.0);
    double* vector = vectors_[i].data() + (k - 1) * oracle.dimensions();
    for (std::size_t j = 0; j < psi.size(); ++j) vector[psi.index[j]] += psi.value[j];
  } else if (oracle.metric() == nullptr) {
    step.sums.assign(psi);
  }
  for (std::size_t r = 0; r < k; ++r) {
    double& value = grown[r * k + k - 1];
    if (stored) {
      value = product(vector_of(i, r), vector_of(i, k - 1));
    } else {
      step.other.clear();
      if (r + 1 < k)
        oracle.difference(i, planes[r].y, problem_.plane_scale(planes[r].loss), step.other);
      const JointFeatures& other = r + 1 < k ? step.other : psi;
      value = oracle.metric() == nullptr ? step.sums.dot(other) : w_.inner(psi, other);
    }
    grown[(k - 1) * k + r] = value;
  }
  G_[i] = std::move(grown);
}

bool PlaneBlocks::add_if_new(std::size_t i, const Structure& y, BlockStep& step) {
  const bool known =
      std::ranges::any_of(planes_[i], [&](const Plane& each) { return each.y == y; });
  if (known || y == problem_.oracle.truth(i)) return false;
  add(i, y, step);
  return true;
}

void PlaneBlocks::solve_block(std::size_t i, BlockStep& step) const {
  const std::vector<Plane>& planes = planes_[i];
  const std::size_t size = planes.size();
  PlaneProblem& work = step.work;
  step.visit = {};
  step.psi.clear();
  step.slope = step.curvature = step.at_w = 0;
  if (size == 0) return;
  work.G = G_[i];
  work.s.resize(size);
  work.alpha.resize(size);
  work.capacity = problem_.capacity();
  work.curvature = problem_.curvature();
  step.views.assign(size, {});
  step.scale.resize(size);
  for (std::size_t k = 0; k < size; ++k) step.views[k] = planes[k].y;
  const bool stored = stores_vectors();
  std::vector<double>& margins = step.scale;
  if (!stored) problem_.oracle.margins(i, step.views, w_.scores(), margins);
  double A = 0, sum_as = 0, most = 0;
  for (std::size_t k = 0; k < size; ++k) {
    // Stored vectors contain the rescaling.
    margins[k] = stored ? product(vector_of(i, k), w_.scores())
                        : problem_.plane_scale(planes[k].loss) * margins[k];
    work.s[k] = planes[k].loss - margins[k];
    work.alpha[k] = planes[k].alpha;
    A += planes[k].alpha;
    sum_as += planes[k].alpha * work.s[k];
    most = std::max(most, work.s[k]);
  }
  if (!std::isfinite(sum_as) || !std::isfinite(most))
    refuse_answer(problem_, i, "a score is not finite", "look for infinite or huge features");
  step.visit.gap = problem_.gap_term(most, A, sum_as);
  for (double& s : work.s) s -= work.curvature * A;
  step.first = work.s;
  step.visit.violation = solve_by_pairs(work, 1e-3, 20 + 10 * size);
  for (std::size_t k = 0; k < size; ++k) {
    const double change = work.alpha[k] - planes[k].alpha;
    step.slope += change * step.first[k];
    step.curvature += change * (step.first[k] - work.s[k]);
    step.at_w += change * margins[k];
    step.scale[k] = change * (stored ? 1 : problem_.plane_scale(planes[k].loss));
  }
  if (!stored) {
    problem_.oracle.combine(i, step.views, step.scale, step.psi);
    return;
  }
  for (std::size_t j = 0; j < problem_.oracle.dimensions(); ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += step.scale[k] * vector_of(i, k)[j];
    if (sum != 0) step.psi.add(j, sum);
  }
}

void PlaneBlocks::move(std::size_t i, BlockStep& step, double t) {
  std::vector<Plane>& planes = planes_[i];
  for (std::size_t k = 0; k < planes.size(); ++k) {
    const double goal = step.work.alpha[k];
    planes[k].alpha = t == 1 ? goal : planes[k].alpha + t * (goal - planes[k].alpha);
    if (planes[k].alpha != 0) planes[k].idle = 0;
  }
  w_.add(step.psi, t);
  step.visit.gain = t * (step.slope - t / 2 * step.curvature);
}

PlaneBlocks::Visit PlaneBlocks::visit(std::size_t i, const Structure* found) {
  const bool added = found != nullptr && add_if_new(i, *found, steps_[0]);
  if (planes_[i].empty()) return {};
  BlockStep& step = steps_[0];
  w_.update(i);
  solve_block(i, step);
  move(i, step, 1);
  if (found != nullptr) count_idle(i);
  step.visit.added = added;
  return step.visit;
}

std::vector<PlaneBlocks::Visit> PlaneBlocks::visit(std::span<const std::size_t> which,
                                                   std::span<const Structure> found,
                                                   const Threads& threads) {
  std::vector<Visit> visits(which.size());
  const std::size_t most =
      stores_vectors() ? 1 : std::clamp<std::size_t>(planes_.size() / 32, 1, 16);
  if (steps_.size() < most) steps_.resize(most);
  for (std::size_t begin = 0; begin < which.size(); begin += most) {
    const std::size_t count = std::min(most, which.size() - begin);
    threads.split(count, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t i = which[begin + k];
        if (!found.empty()) visits[begin + k].added = add_if_new(i, found[begin + k], steps_[k]);
        w_.update(i);
        solve_block(i, steps_[k]);
      }
    });
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = which[begin + k];
      BlockStep& step = steps_[k];
      // Earlier steps have changed w. The dual is a parabola along the step: t is its maximum.
      // Where only rounding is left both may be negative.
      if (k > 0) w_.update(i);
      if (k > 0) step.slope -= step.psi.dot(w_.scores()) - step.at_w;
      const double t = k == 0 || step.slope > (1 - 1e-6) * step.curvature
                           ? 1
                           : std::max(0.0, step.slope) / step.curvature;
      step.visit.added = visits[begin + k].added;
      if (t > 0) move(i, step, t);
      if (!found.empty()) count_idle(i);
      visits[begin + k] = step.visit;
    }
  }
  return visits;
}

void PlaneBlocks::begin_steps() {
  if (problem_.oracle.metric() == nullptr) return;
  alpha_before_.assign(planes_.size(), {});
  for (std::size_t i = 0; i < planes_.size(); ++i)
    for (const Plane& plane : planes_[i]) alpha_before_[i].push_back(plane.alpha);
  w_.begin_steps(problem_.oracle);
}

double PlaneBlocks::end_steps() {
  if (problem_.oracle.metric() == nullptr) return 0;
  const StructuredWeights::Step step = w_.sum_of_steps();
  double slope = -step.at_w, curvature = step.square;
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    alpha_before_[i].resize(planes_[i].size(), 0.0);
    double A = 0, change = 0;
    for (std::size_t k = 0; k < planes_[i].size(); ++k) {
      const double before = alpha_before_[i][k], moved = planes_[i][k].alpha - before;
      A += before;
      change += moved;
      slope += moved * planes_[i][k].loss;
    }
    slope -= problem_.curvature() * A * change;
    curvature += problem_.curvature() * change * change;
  }
  const double t = slope <= 0 ? 0 : slope >= curvature ? 1 : slope / curvature;
  for (std::size_t i = 0; i < planes_.size() && t < 1; ++i)
    for (std::size_t k = 0; k < planes_[i].size(); ++k) {
      const double before = alpha_before_[i][k];
      planes_[i][k].alpha = before + t * (planes_[i][k].alpha - before);
      if (planes_[i][k].alpha != 0) planes_[i][k].idle = 0;
    }
  w_.end_steps(t);
  return t * (slope - t / 2 * curvature);
}

double best_stretch(double L, double squared_norm) {
  constexpr double worthwhile = 2, most = 100;
  const double t = L > 0 ? std::min(most, L / squared_norm) : 1;
  return t > worthwhile ? t : 1;
}

double PlaneBlocks::stretch() {
  if (problem_.slack != Slack::none) return 0;
  double L = 0;
  for (const auto& planes : planes_)
    for (const Plane& plane : planes) L += plane.alpha * plane.loss;
  const double squared = w_.squared_norm(), t = best_stretch(L, squared);
  if (t == 1) return 0;
  for (auto& planes : planes_)
    for (Plane& plane : planes) plane.alpha *= t;
  w_.scale(t);
  return (t - 1) * (L - (t + 1) / 2 * squared);
}

void PlaneBlocks::update(std::span<const std::size_t> examples, const Threads& threads) {
  if (problem_.oracle.metric() == nullptr) return;
  threads.split(examples.size(), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) w_.update(examples[k]);
  });
}

void PlaneBlocks::count_idle(std::size_t i) {
  for (Plane& plane : planes_[i])
    if (plane.alpha == 0) ++plane.idle;
}

void PlaneBlocks::drop_idle(std::size_t visits) {
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    std::vector<Plane>& planes = planes_[i];
    std::vector<std::size_t> active;
    for (std::size_t k = 0; k < planes.size(); ++k)
      if (planes[k].idle < visits) active.push_back(k);
    const std::size_t size = planes.size();
    if (active.size() == size) continue;
    std::vector<double> G;
    for (const std::size_t r : active)
      for (const std::size_t c : active) G.push_back(G_[i][r * size + c]);
    G_[i] = std::move(G);
    if (stores_vectors()) {
      std::vector<double> vectors;
      for (const std::size_t k : active) {
        const auto vector = vector_of(i, k);
        vectors.insert(vectors.end(), vector.begin(), vector.end());
      }
      vectors_[i] = std::move(vectors);
    }
    for (std::size_t k = 0; k < active.size(); ++k)
      if (active[k] != k) planes[k] = std::move(planes[active[k]]);
    planes.resize(active.size());
  }
}

std::uint64_t PlaneBlocks::count() const {
  std::uint64_t count = 0;
  for (const auto& planes : planes_) count += planes.size();
  return count;
}

}  // namespace maxmargin
