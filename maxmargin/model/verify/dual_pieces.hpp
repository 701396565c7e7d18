#pragma once

#include <span>
#include <vector>

#include "maxmargin/loss/losses.hpp"
#include "maxmargin/model/verify/enclosed.hpp"

namespace maxmargin {

/// A share of a row's dual: psi as a function of its part b of the row's coefficient, concave on
/// [begin, end]. For straight and curved ones psi = slope b - curvature b^2 / 2. For entropies of
/// class y, a = y b: logistic -(a log a + (C - a) log(C - a) - C log C), exponential a - a log(a /
/// C).
struct DualPiece {
  enum class Kind { plain, logistic, exponential } kind = Kind::plain;
  Extended begin = 0, end = 0, slope = 0, curvature = 0;
  Extended label = 1, price = 0;
  int group = 0;    ///< of the equality constraint that it stands in
  Enclosed b = {};  ///< what the model gives it

  bool is_straight() const { return kind == Kind::plain && curvature == 0; }
  /// The b that makes psi(b) - level b largest.
  Extended at(Extended level) const;
  Enclosed value(const Enclosed& at) const;
  Extended derivative(Extended at) const;
  /// The derivative at b where a coefficient that was rounded tells b to a share of itself only. In
  /// a sum of equal rows a small b is lost beside a large one, up to `lost`: then it need not be 0.
  struct Derivative {
    Extended least, most, least_possible, most_possible;
  };
  Derivative derivative_within(Extended share, Extended lost) const;
  Extended room_above() const { return end - b.high(); }
  Extended room_below() const { return b.low() - begin; }
};

/// The definition of each loss twice: what an error costs, and the dual that belongs to it.
class TextbookLoss {
 public:
  explicit TextbookLoss(const Loss& loss) : loss_(loss) {}

  /// The cost of a decision value f; that of nu machines takes the sides' own thresholds.
  Extended value(Extended y, Extended f, Extended price, Extended width) const;
  /// The pieces of one row, in order of b.
  std::vector<DualPiece> dual(Extended y, Extended price) const;
  /// Of a regression whose errors have two prices: of what is too small, and of what is too large.
  std::vector<DualPiece> dual(Extended y, Extended under, Extended over) const;
  /// Half the width of a tube that the loss itself has; 0 where it has none.
  Extended tube() const;
  /// Of the prices of both sides, beside that of the row.
  Extended largest_factor() const;

 private:
  const Loss& loss_;
};

/// Gives the pieces of a point's `rows` rows the b that add up to its coefficient and make the sum
/// of psi largest; a coefficient beyond all bounds becomes that of the bounds. Returns the excess.
Extended distribute(Extended coefficient, std::size_t rows, std::span<DualPiece> pieces);

}  // namespace maxmargin
