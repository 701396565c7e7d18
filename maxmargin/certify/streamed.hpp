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
  std::vector<double> point;  ///< w = X'beta, and what else belongs to a point
  double seconds = 0;
};

/// How good variables are, by two passes over the rows that know no solver: w = X'beta from the
/// variables alone, then the terms of the gap at each row. `free` are the numbers of the point that
/// cost nothing; where b is penalised it follows from the variables.
StreamedCertified certify(const StreamedProblem& problem, const StreamedVariables& variables,
                          std::span<const double> free, const Threads& threads);

/// What the first pass tells of w = X'beta, in doubles.
struct StreamedSums {
  double reach = 0;                         ///< sum |beta| |x|
  double count = 0;                         ///< of rows
  double residual = 0, residual_error = 0;  ///< length of the sums of beta times what is free
};

/// The second pass piece by piece, for a pass that has other work too: parts as in streamed.hpp.
class StreamedExaminer {
 public:
  /// Of the variables whose w is `point`, as far as doubles tell; without `sums` the objectives are
  /// no bounds.
  StreamedExaminer(const StreamedProblem& problem, std::vector<double> point,
                   const StreamedSums& sums = {});

  /// Decision values at the rows of the chunk, and what bounds need besides.
  struct RowValues {
    std::span<const double> f;
    std::span<const double> length = {};  ///< of what is penalised of a row, at least
    std::span<const double> free = {};    ///< the free numbers of a row
  };
  void add(std::size_t part, const RowChunk& chunk, std::span<const double> a,
           const RowValues& rows);
  /// Without the residuals and the rounding, which w alone does not tell.
  Certificate certificate() const;

 private:
  /// A variable that can absorb the residual of the equality row.
  struct Room {
    double width = 0, slope = 0, bend = 0;  ///< half of its room; bounds of both on the way
  };
  /// All variables with room, where functions have equality rows: with G = sum room^2 psi psi' and
  /// G y = -residual, the moves room_v^2 s_v psi_v'y make all rows hold.
  struct SharedRoom {
    std::vector<double> gram;                ///< G
    double widest = 0;                       ///< room |psi|, at most
    double slope = 0, length = 0, bend = 0;  ///< bounds of what moves of |y| = 1 cost
  };
  struct RowAt {
    double f, length, free_length;
    std::span<const double> free;
  };
  struct Sums {
    EnclosedSum values, conjugates;
    double highest = -infinity, lowest = infinity;  ///< multipliers of the free constant's row
    double violation = 0;
    Room adding, taking;  ///< the widest to make the sum of beta larger, and smaller
    SharedRoom shared;
  };
  void add_variable(Sums& sums, const Block& block, double a, const RowAt& at) const;
  void add_room(SharedRoom& room, const Block& block, double a, const RowAt& at,
                double error) const;
  double equality_price(const Sums& all) const;
  double shared_price(const SharedRoom& room, double residual) const;

  const StreamedProblem& problem_;
  std::vector<double> point_;
  StreamedSums first_;
  double bias_, norm_, free_norm_;
  std::vector<Sums> parts_;
};

}  // namespace maxmargin
