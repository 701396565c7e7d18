#pragma once

#include <functional>
#include <vector>

#include "maxmargin/certify/certify.hpp"
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

/// The second pass piece by piece, for a pass that has other work too: parts as in streamed.hpp.
class StreamedExaminer {
 public:
  StreamedExaminer(const StreamedProblem& problem, std::vector<double> point);

  /// `f`: decision values at the rows of the chunk.
  void add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
           std::span<const double> f);
  /// Without the residuals and the rounding, which w alone does not tell.
  Certificate certificate() const;

 private:
  struct Sums {
    double values = 0, conjugates = 0, gap = 0;
    double highest = -infinity, lowest = infinity;  ///< levels of the free constant's row
    double violation = 0;
  };
  void add_variable(Sums& sums, const Block& block, double a, double f) const;

  const StreamedProblem& problem_;
  std::vector<double> point_;
  double bias_, quadratic_;
  std::vector<Sums> parts_;
};

}  // namespace maxmargin
