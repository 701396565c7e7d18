#pragma once

#include "maxmargin/certify/simplex.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

struct SimplexSolution {
  std::vector<double> a;  ///< a[example * classes + class]; empty where there was no time to begin
  Ended ended = Ended::stalled;
  std::uint64_t iterations = 0;  ///< simplices solved
  double dual = -infinity;       ///< as the solver has it
};

/// Solves a SimplexQp (Crammer and Singer, JMLR 2, 2001). Examples that violate the optimality
/// conditions are chosen, and stay chosen as long as there is room, with K among them. Of these a
/// working set, those that violate most, is solved one simplex after another, always the worst one,
/// exactly, a projection in O(classes log classes); where that takes many steps, by Newton's steps
/// among the classes that are free. Then g of the chosen ones is updated and the next set is taken.
/// When they are optimal to a share of the violation they began with, f of all points is updated by
/// kernel rows from the cache. Needs rows and products of K. A step costs the working set times the
/// classes.
struct CrammerSinger {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  static constexpr std::string_view name = "crammer-singer";
};
SimplexSolution run(const SimplexQp& qp, const CrammerSinger& options, const Run& context,
                    std::vector<std::vector<double>> start_f = {});

/// The same for the linear kernel, on the rows themselves: simplices one after another in random
/// order, w of all classes updated at each (Keerthi and others, KDD 2008); those that stand at a
/// corner of their simplex for good reasons are left out until the others have converged. Needs
/// classes x features numbers; a step costs the non-zeros of a row times the classes.
/// `x.row(point)` are the rows of the points of K.
struct LinearCrammerSinger {
  Stop stop;
  std::uint64_t seed = 0;
  static constexpr std::string_view name = "linear crammer-singer";
};
SimplexSolution run(const SimplexQp& qp, const Rows& x, const LinearCrammerSinger& options,
                    const Run& context);

/// The least 1/2 diagonal |a|^2 + b'a over a with sum a = 0, a_k <= cost [k = label]. `sorted` is
/// room for as many numbers.
void solve_simplex(double diagonal, std::span<const double> b, std::size_t label, double cost,
                   std::span<double> a, std::vector<double>& sorted);

struct SimplexSolved {
  SimplexSolution solution;
  SimplexCertified certified;
  std::string_view solver;
};

/// What either of the two is asked for.
struct ClassesAtOnce {
  Stop stop;
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::uint64_t seed = 0;
};

/// run and certify, in double where that is needed for what was asked; after a signal or a limit
/// only as far as a moment lasts. `x`: the rows of the points,
/// where the kernel is the linear one; may be null.
SimplexSolved solve(const SimplexQp& qp, const Rows* x, const ClassesAtOnce& how,
                    const Context& context);

}  // namespace maxmargin
