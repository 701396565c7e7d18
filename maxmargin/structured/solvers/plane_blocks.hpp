#pragma once

#include <vector>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/structured/plane_problem.hpp"
#include "maxmargin/structured/solvers/feature_sums.hpp"
#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// The oracle's answers for all examples at the same w, and what follows from them.
struct ExactPass {
  std::vector<Structure> violators;
  std::vector<double> terms;      ///< each example's term of the gap
  std::vector<double> violation;  ///< m_i
  double primal = 0, dual = 0, gap = 0, largest_violation = 0;
};

/// Calls the oracle for all examples, and computes the gap of the planes' alpha. Where w is not
/// sum a psi, only the primal is meaningful.
ExactPass exact_pass(const Structured& problem, const Planes& planes, const StructuredWeights& w,
                     const Threads& threads);

/// The planes of every example, w = sum a psi, and the block steps that increase the dual. The Gram
/// matrix of an example's planes is stored, and in few dimensions (StructuredChoice) their vectors.
class PlaneBlocks {
 public:
  PlaneBlocks(const Structured& problem, Planes start, const CostModel& costs = {});

  struct Visit {
    double gap = 0;        ///< the example's term before the step, over the planes known now
    double violation = 0;  ///< of the most violating pair, before the step
    double gain = 0;       ///< increase of the dual
    bool added = false;    ///< the structure was new
  };
  /// Solves the dual over the planes of one example, to which `found` is added before.
  Visit visit(std::size_t i, const Structure* found = nullptr);
  /// The same for several examples, with what was found for each; `found` may be empty. Up to 16 at
  /// a time are solved in parallel at the same w; then, one after another, a line search decides
  /// how far each moves towards its solution.
  std::vector<Visit> visit(std::span<const std::size_t> which, std::span<const Structure> found,
                           const Threads& threads);

  ExactPass exact_pass(const Threads& threads) const {
    return maxmargin::exact_pass(problem_, planes_, w_, threads);
  }

  /// With a metric, visits between these two use its surrogate, and the sum of their steps is made
  /// with an exact line search at the end; returns the gain. Without a metric these do nothing.
  void begin_steps();
  double end_steps();
  /// Computes the scores of these examples; needed before their oracles are called.
  void update(std::span<const std::size_t> examples, const Threads& threads);
  /// The errors of a metric's fast values would hide a relative gap below 1e-4.
  void use_precision_for(double relative_gap) {
    if (relative_gap < 1e-4) w_.use_exact_values();
  }

  /// Without slack all alpha may grow together: multiplies them by what the dual gains most by, if
  /// that is much. Returns the gain. Where the margins contradict each other the dual grows without
  /// bound along such rays, which steps of single examples follow too slowly to tell.
  double stretch();
  /// Removes planes whose alpha was 0 after the last `visits` visits.
  void drop_idle(std::size_t visits);

  bool stores_vectors() const {
    return problem_.oracle.metric() == nullptr && problem_.oracle.dimensions() <= few_dimensions_;
  }
  const StructuredWeights& w() const { return w_; }
  const Planes& planes() const { return planes_; }
  Planes take() { return std::move(planes_); }
  std::uint64_t count() const;

 private:
  /// The solution of an example's dual over its planes at some w, and the step to it.
  struct BlockStep {
    PlaneProblem work;
    std::vector<StructureView> views;
    std::vector<double> first, scale;  ///< s before the step; scratch
    JointFeatures psi;                 ///< the change of w
    double slope = 0, curvature = 0;   ///< of the dual along the step
    double at_w = 0;                   ///< psi.w before the step
    Visit visit;
    JointFeatures plane, other;  ///< scratch of add()
    FeatureSums sums;
  };
  void solve_block(std::size_t i, BlockStep& step) const;
  /// Makes t times the step.
  void move(std::size_t i, BlockStep& step, double t);
  /// Adds a plane unless it is known; returns whether it was added.
  bool add_if_new(std::size_t i, const Structure& y, BlockStep& step);
  void count_idle(std::size_t i);
  void add(std::size_t i, const Structure& y, BlockStep& step);
  std::span<const double> vector_of(std::size_t i, std::size_t k) const {
    const std::size_t d = problem_.oracle.dimensions();
    return std::span(vectors_[i]).subspan(k * d, d);
  }

  const Structured& problem_;
  std::size_t few_dimensions_;
  Planes planes_;
  std::vector<std::vector<double>> G_;        ///< Gram matrix of each example's planes
  std::vector<std::vector<double>> vectors_;  ///< of each example's planes, where stored
  StructuredWeights w_;
  std::vector<BlockStep> steps_{1};
  std::vector<std::vector<double>> alpha_before_;  ///< at begin_steps()
};

/// The factor t of all alpha that maximises t L - t^2 |w|^2 / 2, where L = sum a Delta; 1 where it
/// is near to that.
double best_stretch(double L, double squared_norm);

/// Throws Error for an answer of an oracle that no exact oracle gives.
void refuse_answer(const Structured& problem, std::size_t i, const std::string& what,
                   const std::string& mend);

}  // namespace maxmargin
