#pragma once

#include <memory>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/context.hpp"

namespace maxmargin {

/// Decremental unlearning (Cauwenberghs and Poggio, NIPS 13, 2000): a solved problem is solved
/// again with a variable or two taken away or bounded closer, by following the solution while they
/// go. All such problems share the inverse of the free variables, the columns of its tableau and
/// the kernel rows of support vectors, in double; each costs O(positions) for every variable that
/// changes sides. What comes out is judged by kernel rows: its violation and its gap, with
/// rounding, have to be as small as is asked for. For piecewise quadratic blocks and at most one
/// equality row.
class Decremental {
 public:
  /// Of a problem and its solution, which is made exact first. Nothing where the blocks are others,
  /// where no variable is free or the free ones do not determine the others, and where it takes
  /// more than `bytes`. Keeps a reference to `qp`.
  static std::unique_ptr<Decremental> make(const DualQp& qp, const Certified& solved,
                                           const Stop& stop, std::size_t bytes,
                                           const Context& context);
  virtual ~Decremental() = default;

  /// The bounds of a variable afterwards, within those it has.
  struct Bounds {
    Index variable;
    double lower, upper;
  };
  /// f, lambda included, at the points of the first variable of each change; NaN where what came
  /// out did not pass, or `go_on` said no.
  virtual std::vector<double> values(std::span<const std::vector<Bounds>> changes,
                                     const Threads& threads, const GoOn& go_on) const = 0;
};

}  // namespace maxmargin
