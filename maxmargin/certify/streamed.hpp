#pragma once

#include <functional>
#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/streamed.hpp"

namespace maxmargin {

/// The variables of a chunk, for each row in the order of its blocks; rows without blocks have
/// none. Called by several threads, and the same each time.
using StreamedVariables = std::function<std::vector<double>(const RowChunk&)>;

struct StreamedCertified {
  Certificate certificate;
  std::vector<double> point;  ///< w = X'beta, and b behind it where there is a constant
  double seconds = 0;
};

/// How good variables are, by two passes over the rows that know no solver: w = X'beta from the
/// variables alone, then the terms of the gap at each row. `bias` is b where it is free; where it
/// is penalised b follows from the variables.
StreamedCertified certify(const StreamedProblem& problem, const StreamedVariables& variables,
                          double bias, const Threads& threads);

/// What the first pass tells of w = X'beta, in doubles.
struct StreamedSums {
  double reach = 0;                         ///< sum |beta| |x|
  double count = 0;                         ///< of rows
  double residual = 0, residual_error = 0;  ///< sum of beta where the constant is free
};

/// The second pass piece by piece, for a pass that has other work too: parts as in streamed.hpp.
class StreamedExaminer {
 public:
  /// Of the variables whose w is `point`, as far as doubles tell; without `sums` the objectives are
  /// no bounds.
  StreamedExaminer(const StreamedProblem& problem, std::vector<double> point,
                   const StreamedSums& sums = {});

  /// `f`: decision values at the rows of the chunk; `length`: of these rows, at least; may be
  /// empty.
  void add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
           std::span<const double> f, std::span<const double> length = {});
  /// Without the residuals and the rounding, which w alone does not tell.
  Certificate certificate() const;

 private:
  /// A variable that could take over what the equality row misses.
  struct Room {
    double width = 0, slope = 0, bend = 0;  ///< half of its room, and the most on its way
  };
  struct Sums {
    EnclosedSum values, conjugates;
    double highest = -infinity, lowest = infinity;  ///< multipliers of the free constant's row
    double violation = 0;
    Room adding, taking;  ///< the widest to make the sum of beta larger, and smaller
  };
  void add_variable(Sums& sums, const Block& block, double a, double f, double length) const;
  double equality_price(const Sums& all) const;

  const StreamedProblem& problem_;
  std::vector<double> point_;
  StreamedSums first_;
  double bias_, norm_;
  std::vector<Sums> parts_;
};

}  // namespace maxmargin
