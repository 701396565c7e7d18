#pragma once

#include <vector>

#include "maxmargin/structured/plane_problem.hpp"
#include "maxmargin/structured/solvers/feature_sums.hpp"
#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// What one look at all examples with the same w tells.
struct ExactPass {
  std::vector<Structure> violators;
  std::vector<double> terms;      ///< each example's share of the gap
  std::vector<double> violation;  ///< m_i
  double primal = 0, dual = 0, gap = 0, largest_violation = 0;
};

/// The most violated structures at w, and what the planes' alpha makes of the gap. Where w is not
/// sum a psi, only the primal counts.
ExactPass look_at_all(const Structured& problem, const Planes& planes, const StructuredWeights& w,
                      const Threads& threads);

/// The planes of every example, w = sum a psi, and the steps that improve them. Inner products of
/// an example's planes are kept, k^2 numbers where it has k; their vectors only where these are no
/// longer than `few_dimensions`, and so no larger than what they save.
class PlaneBlocks {
 public:
  PlaneBlocks(const Structured& problem, Planes start);

  struct Visit {
    double gap = 0;        ///< the example's share before, by the planes known now
    double violation = 0;  ///< of the pair that violated most
    double gain = 0;       ///< of the dual
    bool added = false;
  };
  /// Solves the dual over the planes of one example; `found` joins them first if it is new.
  Visit visit(std::size_t i, const Structure* found = nullptr);
  /// The same of several, with what was found for each, or nothing. Up to 16 at a time are solved
  /// at the same w, in parallel; then each in its turn goes as far towards its solution as gains.
  std::vector<Visit> visit(std::span<const std::size_t> which, std::span<const Structure> found,
                           const Threads& threads);

  ExactPass exact_pass(const Threads& threads) const {
    return look_at_all(problem_, planes_, w_, threads);
  }

  /// With a metric, visits between these two see w by a surrogate; at the end, all that changed
  /// goes as far as the dual gains. Returns that gain; without a metric nothing happens.
  void begin_steps();
  double end_steps();
  /// Before an oracle is asked for these examples.
  void update(std::span<const std::size_t> examples, const Threads& threads);
  /// Fast values of a metric would not do for a relative gap as small as that.
  void meet(double relative_gap) {
    if (relative_gap < 1e-4) w_.make_exact();
  }

  /// Drops planes that had no alpha at so many visits in a row.
  void drop_idle(std::size_t visits);

  /// Whether the planes' vectors are kept.
  bool keeps_vectors() const {
    return problem_.oracle.metric() == nullptr && problem_.oracle.dimensions() <= few_dimensions;
  }
  const StructuredWeights& w() const { return w_; }
  const Planes& planes() const { return planes_; }
  Planes take() { return std::move(planes_); }
  std::uint64_t count() const;

 private:
  static constexpr std::size_t few_dimensions = 256;

  /// The dual of a block over its planes at some w, and the way there.
  struct BlockStep {
    PlaneProblem work;
    std::vector<StructureView> views;
    std::vector<double> first, scale;  ///< s where it began, room
    JointFeatures psi;                 ///< by which w changes
    double slope = 0, bend = 0;        ///< of the dual along it
    double at_w = 0;                   ///< psi.w where it began
    Visit visit;
    JointFeatures plane, other;  ///< room for add()
    FeatureSums sums;
  };
  void solve_block(std::size_t i, BlockStep& step) const;
  /// Goes the part t of it.
  void move(std::size_t i, BlockStep& step, double t);
  /// Whether it was new.
  bool take_in(std::size_t i, const Structure& y, BlockStep& step);
  void count_idle(std::size_t i);
  void add(std::size_t i, const Structure& y, BlockStep& step);
  std::span<const double> vector_of(std::size_t i, std::size_t k) const {
    const std::size_t d = problem_.oracle.dimensions();
    return std::span(vectors_[i]).subspan(k * d, d);
  }

  const Structured& problem_;
  Planes planes_;
  std::vector<std::vector<double>> G_;        ///< of each example
  std::vector<std::vector<double>> vectors_;  ///< of each example, or empty
  StructuredWeights w_;
  std::vector<BlockStep> steps_{1};
  std::vector<std::vector<double>> alpha_before_;  ///< at begin_steps()
};

/// Throws Error for an answer of an oracle that no exact oracle gives.
void refuse_answer(const Structured& problem, std::size_t i, const std::string& what,
                   const std::string& mend);

}  // namespace maxmargin
