#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {

/// The problem of a kernel K, solved over the span of few basis functions of which there are more
/// in every round, until the function found is as good as asked for among all functions of K
/// ("Iterative improvement" and "Stopping rule" of section 10.3.4):
///
///   1. Solve with K~ of rank n. Rows that are out of play take no part: their variables stay at
///      their bounds, with their share in f.
///   2. f~ over all rows gives the primal, an upper bound on the optimum with K; the dual with K in
///      place of K~ is a lower bound. The two are apart by what the problem with K~ was solved to,
///      and 1/2 |g - f~|^2, where g = sum_i beta_i k(x_i, .) and f~ is its projection on the span.
///   3. Rows whose multipliers are far from where f may still change go out of play; those that
///      were wrongly out come back. The basis grows by the functions that take most of g - f~.
///
/// Bases are nested, so that the primal falls from round to round. Z of the rows in play and the
/// basis is all that is stored: as rows leave, the memory has room for more columns. A round costs
/// a solution of rank n, the kernel values of the basis functions at all rows twice, and those of
/// the rows that have a coefficient at all rows.
struct Improve {
  double relative_gap = 1e-2;    ///< between the two bounds on the optimum with K
  Approximate first{};           ///< its rank, if any, is the most that there may be
  Stop stop{};                   ///< of the problems with K~, their gap aside; the time is of all
  std::size_t memory_bytes = 0;  ///< for Z
};

/// Why there were no further rounds.
enum class ImproveLimit { gap, rank, memory, time, cancelled, solver, span };
std::string_view to_string(ImproveLimit limit);

struct ImproveRound {
  std::size_t rank = 0;
  std::size_t rows = 0;      ///< in play, the basis included
  std::size_t returned = 0;  ///< to play, having been out of it wrongly
  double primal = infinity;  ///< of f~
  double true_dual = -infinity;
  double relative_gap = infinity;  ///< between the best of both so far
  double seconds = 0;              ///< since the start
};

struct Improved {
  Certified certified;               ///< for K~ over all rows; f is f~
  std::vector<Index> basis;          ///< points of K
  std::vector<double> coefficients;  ///< f = sum_j coefficients_j k(x_basis_j, .) + ...
  double residual = 1;  ///< of the trace of K over the rows in play, the share that is left
  double true_dual = -infinity;
  ImproveLimit limit = ImproveLimit::solver;
  std::vector<ImproveRound> rounds;
  std::string solver, reason;  ///< of the last round
};

/// Chooses the solver of a round.
using ChooseRound = std::function<Choice(const DualQp&, const Stop&, std::size_t memory_bytes)>;

/// Throws Error when K is not positive semi-definite.
Improved improve(const DualQp& qp, const Improve& options, const ChooseRound& choose,
                 const Context& context);

}  // namespace maxmargin
