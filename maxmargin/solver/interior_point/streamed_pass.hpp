#pragma once

#include <array>
#include <vector>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/streamed.hpp"

namespace maxmargin {

/// Whether a path keeps the variable from its bounds: it has two of them. Others are curved.
inline bool has_barrier(const Block& block) {
  return block.entropy == Entropy::none && block.upper < infinity && block.lower > -infinity;
}
/// The corner of a block lies where -slope_at_corner = h: where its variable goes from one bound to
/// the other. Only blocks without curvature have one.
inline bool has_corner(const Block& block) {
  return block.curvature == 0 && block.entropy == Entropy::none;
}
/// How far h = sign f is on the side of `upper`.
inline double beyond_corner(const Block& block, double h) { return -(h + block.linear); }

/// One variable on the path, as a function of h: phi'(t) + h - mu W / (t - l) + mu W / (u - t) = 0
/// with W = u - l, so that mu is a distance of h whatever the cost of the row. Curved blocks
/// without bounds need no barrier.
struct OnPath {
  double t;
  double give;   ///< -dt/dh
  double drift;  ///< dt/dmu
};
OnPath on_path(const Block& block, double h, double mu);

/// The end of the path, where it comes to corners. A point on the path tells which rows these are:
/// variables within `reach` of a corner there are between their bounds at the end, all others at
/// the bound on whose side they were. On the way h differed from the corner by mu times sign
/// x'beside; that direction is what is left for mu = 0, where h itself tells no more.
struct Corners {
  std::span<const double> on_path;
  double reach;
  std::span<const double> end;
};
/// At a corner, or not: h on the path, and `aside` = sign x'beside.
OnPath at_corner(const Block& block, double h, double aside, double reach);

/// Counts distances from corners, in steps of about an eighth of an octave.
class Distances {
 public:
  void add(double distance);
  void add(const Distances& others);
  std::size_t within(double distance) const;
  /// A distance within which there are at most so many, at most `most`.
  double holding(std::size_t count, double most) const;
  /// A place in the first stretch between these that nothing is in and that is at least this share
  /// of the widest one, in octaves.
  double gap(double from, double to, double share) const;

 private:
  static constexpr int per_octave = 8, octaves = 160;
  static constexpr int first_step = (1023 - octaves / 2) * per_octave;
  static std::size_t step_of(double distance);
  static double end_of(std::size_t step);
  std::array<std::size_t, per_octave * octaves> count_{};
};

/// What one pass over the rows sums up at a point and a mu, or at corners.
struct Newton {
  explicit Newton(std::size_t numbers)
      : matrix(numbers * numbers, 0.0), gradient(numbers, 0.0), drift(numbers, 0.0) {}

  bool complete = true;        ///< false: the pass was stopped
  std::vector<double> matrix;  ///< 1 + Z'D^-1 Z (at corners without the 1), lower triangle by rows
  std::vector<double> gradient;  ///< w - X'beta and what belongs to c and b
  std::vector<double> drift;     ///< Z' dbeta/dmu
  double primal = 0, dual = 0;   ///< the latter is a bound only where that of c and b is 0
  double longest = 0;            ///< a row's length
  double gives = 0;              ///< -dt/dh, summed: how much stands near its corners
  double off_corners = 0;        ///< how far f at the end is from where Corners has it, at most
  Distances distances;           ///< of rows from their nearest corner
  RowFile::Traffic traffic;
  double seconds = 0;
};
Newton newton_pass(const StreamedProblem& problem, std::span<const double> point, double mu,
                   const Threads& threads, const GoOn& go_on);
/// The same equations where `beside` is what is looked for, and w and b stay; without a drift.
Newton corner_pass(const StreamedProblem& problem, const Corners& corners,
                   std::span<const double> beside, const Threads& threads, const GoOn& go_on);
/// Of the rows on corners, Z_S: `matrix` is Z_S'Z_S and `gradient` Z_S'r, where r is what f lacks
/// of its corner.
Newton corner_fit_pass(const StreamedProblem& problem, const Corners& corners,
                       const Threads& threads, const GoOn& go_on);

}  // namespace maxmargin
