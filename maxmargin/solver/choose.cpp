#include <algorithm>
#include <cmath>
#include <string>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/solver/equations/memory.hpp"
#include "maxmargin/solver/smo/coupled_rows.hpp"
#include "maxmargin/solver/solvers.hpp"

// The decision tree of figure 10.1, with what was measured here at its branches: bench/solvers
// makes the tables, docs/solvers.md shows them and draws the tree.
namespace maxmargin {
namespace {

// Low-rank columns in place of a full matrix. Residual of the trace: at most, and relative to the
// least curvature; corrections make up for it, so that it does not depend on the tolerance.
constexpr double most_residual = 1e-5, share_of_curvature = 0.25, least_residual = 1e-11;
constexpr double most_residual_of_entropies = 0.9e-2;

/// The expected number of support vectors of a problem with a bias, from a pilot machine.
double expected_support(const DualQp& qp, const Stop& stop, std::size_t memory_bytes,
                        const CostModel& costs) {
  const std::size_t every = std::max<std::size_t>(1, qp.K->size() / costs.solvers.points_of_pilot);
  constexpr Index none = 0xffffffffu;
  // Drawn at random in each block of `every` points, because classes may alternate.
  Rng rng(1);
  std::vector<Index> points, position(qp.K->size(), none);
  for (std::size_t p = 0; p + every <= qp.K->size(); p += every) {
    points.push_back(static_cast<Index>(p + rng.below(every)));
    position[points.back()] = static_cast<Index>(points.size() - 1);
  }
  DualQp part;
  part.K = qp.K->restrict_to(points);
  part.A.resize(1);
  part.d.push_back(0);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (position[qp.row[v]] == none) continue;
    part.row.push_back(position[qp.row[v]]);
    part.block.push_back(qp.block[v]);
    part.A[0].push_back(qp.A[0][v]);
  }
  const Threads alone(1);
  Stop rough;
  rough.kkt = stop.kkt;
  rough.relative_gap = infinity;
  rough.iterations = 100 * points.size();
  const Solution solution =
      run(part, std::get<Smo>(with_settings(Solver(Smo{}), part, rough, memory_bytes)),
          Run{Context(alone).with_costs(costs)});
  const auto support = std::ranges::count_if(solution.a, [](double a) { return a != 0; });
  return static_cast<double>(static_cast<std::size_t>(support) * every);
}

/// The properties of a problem that the tree branches on.
struct Shape {
  std::size_t points, columns;
  bool low_rank;  ///< K = Z Z' with few columns
  bool curved;    ///< every variable has a curvature: squared losses
  bool bounded;   ///< some have a bound
  bool entropy;
  bool tight;
  double value_cost;                  ///< of K
  double residual = 0;                ///< of the trace, that columns in the place of K may leave
  std::optional<std::size_t> needed;  ///< such columns, by an estimate
  CostModel costs;

  Shape(const DualQp& qp, const Stop& stop, const CostModel& model)
      : points(qp.K->size()),
        columns(qp.K->columns()),
        low_rank(columns <= low_rank_columns(*qp.K)),
        curved(std::ranges::all_of(qp.block, [](const Block& b) { return b.curvature > 0; })),
        bounded(std::ranges::any_of(
            qp.block, [](const Block& b) { return b.lower > -infinity || b.upper < infinity; })),
        entropy(std::ranges::any_of(qp.block,
                                    [](const Block& b) { return b.entropy != Entropy::none; })),
        tight(std::min(stop.kkt, stop.relative_gap) < model.solvers.tight_precision),
        value_cost(qp.K->value_cost()),
        costs(model) {
    // Where all variables can move at once.
    if (!(curved || entropy) || low_rank || points < model.solvers.some_points) return;
    double trace = 0, least = infinity;
    for (const double value : qp.K->diagonal()) trace += value;
    for (const Block& block : qp.block) least = std::min(least, least_bend(block));
    residual = std::min(most_residual, share_of_curvature * least / trace);
    if (residual > least_residual) needed = estimated_rank(*qp.K, residual, Threads(1));
    // The residual is spread over many directions, so that a larger one may do; the alternative is
    // a factorisation of all of K.
    for (; entropy && !needed && residual < most_residual_of_entropies; residual *= 10)
      needed = estimated_rank(*qp.K, 10 * residual, Threads(1));
  }

  static double least_bend(const Block& block) {
    if (block.entropy == Entropy::logistic) return 4 / block.upper;
    if (block.entropy == Entropy::own) return block.own->least_bend / block.scale;
    return block.entropy == Entropy::exponential ? 1 / block.scale : block.curvature;
  }

  /// With the low-rank columns in place of K.
  double low_rank_seconds() const {
    if (!needed) return infinity;
    const auto m = static_cast<double>(points), n = static_cast<double>(*needed);
    const double uses = bounded ? costs.solvers.uses_on_a_path : costs.solvers.uses_without_bounds;
    return 1e-9 *
           (uses * m * n * n * costs.make_columns + costs.solvers.products * m * m * value_cost);
  }
  /// The time of pairs with squared losses, which leave most variables free.
  double pairs_seconds() const {
    const auto m = static_cast<double>(points);
    return 1e-9 * costs.pairs_of_free_variables * m * m;
  }

  double path_seconds() const { return costs.solvers.path_iterations * system_seconds(); }
  double newton_seconds() const { return costs.solvers.newton_iterations * system_seconds(); }
  double system_seconds() const {
    return 1e-9 * (low_rank ? costs.low_rank_system(points, columns) : costs.newton(points));
  }

  std::string text() const {
    std::string facts = std::to_string(points) + " points, ";
    facts += low_rank ? "rank " + std::to_string(columns)
             : needed ? "rank needed about " + std::to_string(*needed)
                      : std::string("full rank");
    if (tight) facts += ", high precision";
    return " (" + facts + ")";
  }
};

class Tree {
 public:
  Tree(const DualQp& qp, const Stop& stop, std::size_t memory_bytes, const CostModel& costs)
      : qp_(qp), stop_(stop), memory_bytes_(memory_bytes), shape_(qp, stop, costs) {}

  Choice choose() const {
    if (shape_.entropy) return with_entropy();
    if (shape_.curved && shape_.low_rank_seconds() < shape_.pairs_seconds() / 2 &&
        fits(by_low_rank()))
      return take(by_low_rank(), "squared loss, few columns are close to the kernel");
    if (qp_.A.empty()) return without_rows();
    if (accepts(Smo{}) && covers_all(sort_rows(qp_))) return with_a_bias();
    return with_any_rows();
  }

  /// Path following and Newton's method move all variables at once, so that they get along with
  /// matrices in which steps of few variables are too small.
  std::optional<Choice> choose_after(std::string_view stalled) const {
    const std::string why = "after " + std::string(stalled) + " has stalled";
    if (stalled != InteriorPoint::name &&
        shape_.path_seconds() < solvers_.most_seconds_after_a_stall && fits(InteriorPoint{}))
      return take(InteriorPoint{}, why);
    if (stalled != PrimalNewton::name &&
        shape_.newton_seconds() < solvers_.most_seconds_after_a_stall && accepts(PrimalNewton{}))
      return take(PrimalNewton{}, why);
    return std::nullopt;
  }

 private:
  Choice with_entropy() const {
    const bool dense = accepts(InteriorPoint{});
    if (accepts(by_low_rank()) && shape_.needed &&
        (!dense || shape_.low_rank_seconds() < shape_.path_seconds()))
      return take(by_low_rank(),
                  "the only one for costs of this shape, few columns are close to the "
                  "kernel");
    return take(InteriorPoint{}, "the only one for costs of this shape");
  }

  InteriorPoint by_low_rank() const {
    InteriorPoint path;
    path.low_rank = shape_.residual;
    return path;
  }

  Choice without_rows() const {
    if (accepts(Lagrangian{}) &&
        (shape_.low_rank || (shape_.tight && shape_.points <= solvers_.few_points_of_one_system)))
      return take(Lagrangian{}, shape_.low_rank ? "squared loss, no equality row, few columns"
                                                : "squared loss, no equality row, small enough");
    if (squared_with_few_columns()) return take(InteriorPoint{}, "squared loss, few columns");
    if (many_points_few_columns()) return take(InteriorPoint{}, "many points, few columns");
    if (!shape_.low_rank && accepts(Smo{})) return take(Smo{}, "no equality row, full rank");
    if (accepts(GaussSeidel{})) return take(GaussSeidel{}, "no equality row");
    return with_any_rows();
  }

  Choice with_a_bias() const {
    // Both solve systems of the same size.
    if (shape_.low_rank && shape_.curved && !shape_.tight &&
        shape_.points >= solvers_.some_points && accepts(InteriorPoint{}) &&
        accepts(PrimalNewton{}) && shape_.newton_seconds() < stop_.seconds / 2)
      return take(PrimalNewton{}, "squared loss, few columns, few digits");
    if (squared_with_few_columns()) return take(InteriorPoint{}, "squared loss, few columns");
    if (much_support())
      return take(InteriorPoint{}, "few columns, many support vectors for each of them");
    return take(Smo{}, qp_.A.size() == 1 ? "one equality row, that of the bias"
                                         : std::to_string(qp_.A.size()) + " equality rows");
  }

  Choice with_any_rows() const {
    const bool small = shape_.low_rank || (shape_.tight && shape_.points <= solvers_.few_points);
    if (!accepts(PrimalDual{}) || (small && fits(InteriorPoint{})))
      return take(InteriorPoint{}, small ? "any equality rows, small system of equations"
                                         : "the only one that might take it");
    if (accepts(Smo{})) return take(Smo{}, "equality rows without a bias");
    return take(PrimalDual{}, "any equality rows");
  }

  bool squared_with_few_columns() const {
    return shape_.low_rank && shape_.curved && shape_.points >= solvers_.some_points &&
           fits(InteriorPoint{});
  }
  bool much_support() const {
    return shape_.low_rank && shape_.points >= solvers_.least_points_of_pilot &&
           qp_.A.size() == 1 && qp_.d[0] == 0 &&
           shape_.value_cost >= solvers_.least_value_of_pilot && fits(InteriorPoint{}) &&
           expected_support(qp_, stop_, memory_bytes_, shape_.costs) * shape_.value_cost *
                   static_cast<double>(shape_.points) >
               1e9 * shape_.path_seconds();
  }
  bool many_points_few_columns() const {
    return shape_.low_rank && fits(InteriorPoint{}) &&
           shape_.points >=
               std::max(solvers_.many_points, solvers_.many_points_a_column * shape_.columns);
  }

  /// A path that is cut short is of no use, so it must be expected to end well within the limit.
  bool fits(const InteriorPoint& path) const {
    const double seconds = path.low_rank > 0 ? shape_.low_rank_seconds() : shape_.path_seconds();
    return accepts(path) && seconds < stop_.seconds / 2;
  }

  template <class Options>
  bool accepts(const Options& options) const {
    return !refusal(qp_, with_settings(options, qp_, stop_, memory_bytes_));
  }
  template <class Options>
  Choice take(const Options& options, const std::string& why) const {
    return {with_settings(options, qp_, stop_, memory_bytes_), why + shape_.text()};
  }

  const DualQp& qp_;
  const Stop& stop_;
  const std::size_t memory_bytes_;
  const Shape shape_;
  const SolverChoice& solvers_ = shape_.costs.solvers;
};

}  // namespace

Choice choose_solver(const DualQp& qp, const Stop& stop, std::size_t memory_bytes,
                     const CostModel& costs) {
  return Tree(qp, stop, memory_bytes, costs).choose();
}

std::optional<Choice> choose_after_stall(const DualQp& qp, const Stop& stop,
                                         std::size_t memory_bytes, const Solver& stalled,
                                         const CostModel& costs) {
  return Tree(qp, stop, memory_bytes, costs).choose_after(name_of(stalled));
}

}  // namespace maxmargin
