#include <algorithm>
#include <cmath>
#include <string>

#include "maxmargin/problem/approximate.hpp"
#include "maxmargin/solver/equations/memory.hpp"
#include "maxmargin/solver/smo/coupled_rows.hpp"
#include "maxmargin/solver/solvers.hpp"

// The decision tree of figure 10.1, with what was measured here at its branches: bench/solvers
// makes the tables, docs/solvers.md shows them and draws the tree.
namespace maxmargin {
namespace {

// Asked for less than this, a fixed number of Newton steps costs less than many small ones.
constexpr double tight_precision = 1e-5;
// A matrix of full rank: up to so many points its factors cost less than many small steps.
constexpr std::size_t few_points = 500;
// The same for the one system that the Lagrangian method factors.
constexpr std::size_t few_points_of_one_system = 3000;
// A thin matrix: path following takes time in proportion to the points, and all variables move at
// once. From where on that is faster than pairs for squared losses,
constexpr std::size_t some_points = 1000;
// and than single variables for losses with corners.
constexpr std::size_t many_points = 10000, many_points_a_column = 200;
// What path following is expected to take, for limits of time: its iterations, and how fast it
// factors a full matrix and sums the squares of a thin one.
constexpr double path_iterations = 30;
constexpr double full_operations_a_second = 1e10, thin_operations_a_second = 1e9;

// What is left of the trace by the basis functions that a nonlinear kernel is said to need, as a
// share of the precision asked for; double numbers tell no smaller one.
constexpr double share_of_precision = 1e-3;
constexpr double least_residual = 1e-9;

/// What the branches ask about.
struct Shape {
  std::size_t points, columns;
  bool thin;    ///< K = Z Z' with few columns
  bool curved;  ///< every variable has a curvature: squared losses
  bool entropy;
  bool tight;
  double precision;
  std::optional<std::size_t> needed;  ///< columns, by an estimate

  Shape(const DualQp& qp, const Stop& stop)
      : points(qp.K->size()),
        columns(qp.K->columns()),
        thin(columns <= low_rank_columns(*qp.K)),
        curved(std::ranges::all_of(qp.block, [](const Block& b) { return b.curvature > 0; })),
        entropy(std::ranges::any_of(qp.block,
                                    [](const Block& b) { return b.entropy != Entropy::none; })),
        precision(std::min(stop.kkt, stop.relative_gap)) {
    tight = precision < tight_precision;
    // Where all variables could move at once, if the rank were low: measured, pairs are as fast.
    if (curved && !thin && points >= some_points)
      needed = estimated_rank(*qp.K, std::max(least_residual, share_of_precision * precision),
                              Threads(1));
  }

  double path_seconds() const {
    const auto m = static_cast<double>(points), n = static_cast<double>(columns);
    return path_iterations * (thin ? m * n * (n + 10) / thin_operations_a_second
                                   : m * m * m / 3 / full_operations_a_second);
  }

  std::string text() const {
    std::string facts = std::to_string(points) + " points, ";
    facts += thin     ? "rank " + std::to_string(columns)
             : needed ? "rank needed about " + std::to_string(*needed)
                      : std::string("full rank");
    if (tight) facts += ", high precision";
    return " (" + facts + ")";
  }
};

class Tree {
 public:
  Tree(const DualQp& qp, const Stop& stop, std::size_t memory_bytes)
      : qp_(qp), stop_(stop), memory_bytes_(memory_bytes), shape_(qp, stop) {}

  Choice choose() const {
    if (shape_.entropy) return take(InteriorPoint{}, "the only one for costs of this shape");
    if (qp_.A.empty()) return without_rows();
    if (accepts(Smo{}) && covers_all(sort_rows(qp_))) return with_a_bias();
    return with_any_rows();
  }

 private:
  Choice without_rows() const {
    if (accepts(Lagrangian{}) &&
        (shape_.thin || (shape_.tight && shape_.points <= few_points_of_one_system)))
      return take(Lagrangian{}, shape_.thin ? "squared loss, no equality row, few columns"
                                            : "squared loss, no equality row, small enough");
    if (squared_and_thin()) return take(InteriorPoint{}, "squared loss, few columns");
    if (long_and_thin()) return take(InteriorPoint{}, "many points, few columns");
    if (accepts(GaussSeidel{})) return take(GaussSeidel{}, "no equality row");
    return with_any_rows();
  }

  Choice with_a_bias() const {
    if (squared_and_thin()) return take(InteriorPoint{}, "squared loss, few columns");
    return take(Smo{}, qp_.A.size() == 1 ? "one equality row, that of the bias"
                                         : std::to_string(qp_.A.size()) + " equality rows");
  }

  Choice with_any_rows() const {
    const bool small = shape_.thin || (shape_.tight && shape_.points <= few_points);
    if (!accepts(PrimalDual{}) || (small && fits(InteriorPoint{})))
      return take(InteriorPoint{}, small ? "any equality rows, small system of equations"
                                         : "the only one that might take it");
    if (accepts(Smo{})) return take(Smo{}, "equality rows without a bias");
    return take(PrimalDual{}, "any equality rows");
  }

  bool squared_and_thin() const {
    return shape_.thin && shape_.curved && shape_.points >= some_points && fits(InteriorPoint{});
  }
  bool long_and_thin() const {
    return shape_.thin && fits(InteriorPoint{}) &&
           shape_.points >= std::max(many_points, many_points_a_column * shape_.columns);
  }

  /// A path that is cut short has come nowhere, so that it must end well within the limit.
  bool fits(const InteriorPoint& path) const {
    return accepts(path) && shape_.path_seconds() < stop_.seconds / 2;
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
};

}  // namespace

Choice choose_solver(const DualQp& qp, const Stop& stop, std::size_t memory_bytes) {
  return Tree(qp, stop, memory_bytes).choose();
}

}  // namespace maxmargin
