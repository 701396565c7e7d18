#include "maxmargin/model/verify/dual_pieces.hpp"

#include <algorithm>
#include <numeric>

namespace maxmargin {
namespace {

Extended t_log(Extended t, Extended ratio) { return t > 0 ? t * std::log(ratio) : 0; }

DualPiece piece(Extended begin, Extended end, Extended slope, Extended curvature) {
  DualPiece result;
  result.begin = begin;
  result.end = end;
  result.slope = slope;
  result.curvature = curvature;
  return result;
}

/// Straight pieces, best slope first.
void fill(Extended coefficient, std::span<DualPiece> pieces) {
  std::vector<DualPiece*> order;
  Extended left = coefficient;
  for (DualPiece& each : pieces) {
    order.push_back(&each);
    each.b = each.begin;
    left -= each.begin;
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, &DualPiece::slope);
  for (DualPiece* each : order) {
    const Extended part = std::min(left, each->end - each->begin);
    if (part <= 0) break;
    // Where all of a piece is filled it ends at its bound exactly.
    each->b = part == each->end - each->begin ? each->end : each->begin + part;
    left -= part;
  }
}

/// At the maximum all pieces have the same slope, the level: bisection for the one that gives the
/// sum.
void level(Extended coefficient, std::span<DualPiece> pieces) {
  const auto total = [&](Extended at) {
    Extended sum = 0;
    for (const DualPiece& each : pieces) sum += each.at(at);
    return sum;
  };
  Extended low = -1, high = 1;
  while (total(low) < coefficient && low > -1e300L) low *= 2;
  while (total(high) > coefficient && high < 1e300L) high *= 2;
  for (int n = 0; n < 1200; ++n) {
    const Extended middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (total(middle) >= coefficient ? low : high) = middle;
  }
  // Straight pieces may have any b between those of the last two levels.
  const Extended most = total(low), least = total(high);
  const Extended share =
      most > least ? std::clamp<Extended>((coefficient - least) / (most - least), 0, 1) : 0;
  Extended missing = coefficient;
  for (DualPiece& each : pieces) {
    each.b =
        std::clamp(each.at(high) + share * (each.at(low) - each.at(high)), each.begin, each.end);
    missing -= each.b.middle;
  }
  for (DualPiece& each : pieces) {
    const Extended b = std::clamp(each.b.middle + missing, each.begin, each.end);
    missing -= b - each.b.middle;
    each.b = b;
  }
}

}  // namespace

Extended DualPiece::at(Extended level) const {
  if (kind == Kind::logistic) return label * price / (1 + std::exp(label * level));
  if (kind == Kind::exponential) return label * price * std::exp(-label * level);
  if (curvature > 0) return std::clamp((slope - level) / curvature, begin, end);
  return level < slope ? end : begin;
}

Enclosed DualPiece::value(const Enclosed& where) const {
  if (kind == Kind::plain) {
    if (where.middle == 0 && where.radius == 0) return 0;
    return Enclosed(slope) * where - Enclosed(curvature) * where * where * Enclosed(0.5L);
  }
  const Extended a = label * where.middle;
  const bool is_logistic = kind == Kind::logistic;
  const Extended first = is_logistic ? 0 : a, second = t_log(a, a / price);
  const Extended third = is_logistic && a < price ? (price - a) * std::log1p(-a / price) : 0;
  Extended radius =
      16 * extended_rounding * (std::abs(first) + std::abs(second) + std::abs(third) + std::abs(a));
  if (where.radius > 0)
    radius += where.radius *
              std::max(std::abs(derivative(where.low())), std::abs(derivative(where.high())));
  return {first - second - third, radius};
}

Extended DualPiece::derivative(Extended where) const {
  const Extended a = label * where;
  if (kind == Kind::logistic) return -label * std::log(a / (price - a));
  if (kind == Kind::exponential) return -label * std::log(a / price);
  return slope - curvature * where;
}

DualPiece::Derivative DualPiece::derivative_within(Extended share, Extended lost) const {
  const Extended at = b.middle, here = derivative(at);
  if (kind == Kind::plain || share == 0) return {here, here, here, here};
  Derivative found{here, here, 0, 0};
  for (const Extended other : {at * (1 - share), std::clamp(at / (1 - share), begin, end)}) {
    found.least = std::min(found.least, derivative(other));
    found.most = std::max(found.most, derivative(other));
  }
  found.least_possible = std::min(found.least, derivative(std::min(at + lost, end)));
  found.most_possible = std::max(found.most, derivative(std::max(at - lost, begin)));
  return found;
}

namespace {

/// A row with its label or target, and its price.
struct Priced {
  Extended y, price;
};

// The definition of each loss: what a decision value f costs.

Extended margin_error(const Priced& row, Extended f) {
  return std::max<Extended>(0, 1 - row.y * f);
}
Extended low_error(Extended y, Extended f, Extended width) {
  return std::max<Extended>(0, y - f - width);
}
Extended high_error(Extended y, Extended f, Extended width) {
  return std::max<Extended>(0, f - y - width);
}
/// A square up to sigma, then straight.
Extended rounded(Extended error, Extended sigma) {
  return error < sigma ? error * error / (2 * sigma) : error - sigma / 2;
}

Extended cost(const Hinge&, const Priced& row, Extended f, Extended) {
  const Extended error = margin_error(row, f);
  return error == 0 ? 0 : row.price * error;
}
Extended cost(const SquaredHinge&, const Priced& row, Extended f, Extended) {
  return row.price * margin_error(row, f) * margin_error(row, f);
}
Extended cost(const HuberisedHinge& loss, const Priced& row, Extended f, Extended) {
  return row.price * rounded(margin_error(row, f), loss.sigma);
}
Extended cost(const Logistic&, const Priced& row, Extended f, Extended) {
  return row.price * (std::max<Extended>(0, -row.y * f) + std::log1p(std::exp(-std::abs(f))));
}
Extended cost(const Exponential&, const Priced& row, Extended f, Extended) {
  return row.price * std::exp(-row.y * f);
}
Extended cost(const EpsilonInsensitive& loss, const Priced& row, Extended f, Extended) {
  return row.price * (loss.under * low_error(row.y, f, loss.epsilon) +
                      loss.over * high_error(row.y, f, loss.epsilon));
}
Extended cost(const SquaredEpsilonInsensitive& loss, const Priced& row, Extended f, Extended) {
  const Extended low = low_error(row.y, f, loss.epsilon), high = high_error(row.y, f, loss.epsilon);
  return row.price * (loss.under * low * low + loss.over * high * high);
}
Extended cost(const Huber& loss, const Priced& row, Extended f, Extended) {
  return row.price * rounded(std::abs(row.y - f), loss.sigma);
}
Extended cost(const Squared&, const Priced& row, Extended f, Extended) {
  return row.price * (row.y - f) * (row.y - f) / 2;
}
Extended cost(const Pinball& loss, const Priced& row, Extended f, Extended) {
  const Extended tau = loss.tau;
  return row.price * (row.y > f ? tau * (row.y - f) : (1 - tau) * (f - row.y));
}
Extended cost(const Novelty&, const Priced& row, Extended f, Extended) {
  return row.price * std::max<Extended>(0, -f);
}
Extended cost(const NuMargin&, const Priced& row, Extended f, Extended width) {
  return row.price * std::max<Extended>(0, width - row.y * f);
}
Extended cost(const OwnLoss&, const Priced&, Extended, Extended) { return extended_infinity; }
Extended cost(const NuTube&, const Priced& row, Extended f, Extended width) {
  return row.price * (low_error(row.y, f, width) + high_error(row.y, f, width));
}

// The dual of each loss.

using Pieces = std::vector<DualPiece>;
constexpr Extended endless = extended_infinity;

DualPiece side(const Priced& row, Extended length, Extended slope, Extended curvature) {
  return row.y > 0 ? piece(0, length, slope, curvature) : piece(-length, 0, -slope, curvature);
}
DualPiece entropy(const Priced& row, DualPiece::Kind kind, Extended length) {
  DualPiece smooth;
  smooth.kind = kind;
  smooth.label = row.y;
  smooth.price = row.price;
  (row.y > 0 ? smooth.end : smooth.begin) = row.y > 0 ? length : -length;
  return smooth;
}

Pieces dual_of(const Hinge&, const Priced& row) { return {side(row, row.price, 1, 0)}; }
Pieces dual_of(const SquaredHinge&, const Priced& row) {
  return {side(row, endless, 1, 1 / (2 * row.price))};
}
Pieces dual_of(const HuberisedHinge& loss, const Priced& row) {
  return {side(row, row.price, 1, loss.sigma / row.price)};
}
Pieces dual_of(const Logistic&, const Priced& row) {
  return {entropy(row, DualPiece::Kind::logistic, row.price)};
}
Pieces dual_of(const Exponential&, const Priced& row) {
  return {entropy(row, DualPiece::Kind::exponential, endless)};
}
Pieces dual_of(const EpsilonInsensitive& loss, const Priced& row) {
  const Extended eps = loss.epsilon;
  return {piece(-row.price * loss.over, 0, row.y + eps, 0),
          piece(0, row.price * loss.under, row.y - eps, 0)};
}
Pieces dual_of(const SquaredEpsilonInsensitive& loss, const Priced& row) {
  const Extended eps = loss.epsilon;
  return {piece(-endless, 0, row.y + eps, 1 / (2 * row.price * loss.over)),
          piece(0, endless, row.y - eps, 1 / (2 * row.price * loss.under))};
}
Pieces dual_of(const Huber& loss, const Priced& row) {
  return {piece(-row.price, row.price, row.y, loss.sigma / row.price)};
}
Pieces dual_of(const Squared&, const Priced& row) {
  return {piece(-endless, endless, row.y, 1 / row.price)};
}
Pieces dual_of(const Pinball& loss, const Priced& row) {
  const Extended tau = loss.tau;
  return {piece(-(1 - tau) * row.price, tau * row.price, row.y, 0)};
}
Pieces dual_of(const Novelty&, const Priced& row) { return {piece(0, row.price, 0, 0)}; }
Pieces dual_of(const NuMargin&, const Priced& row) {
  DualPiece own = side(row, row.price, 0, 0);
  own.group = row.y > 0 ? 0 : 1;
  return {own};
}
Pieces dual_of(const OwnLoss&, const Priced&) { return {}; }  // refused before
Pieces dual_of(const NuTube&, const Priced& row) {
  DualPiece below = piece(-row.price, 0, row.y, 0);
  below.group = 1;
  return {below, piece(0, row.price, row.y, 0)};
}

}  // namespace

Extended TextbookLoss::value(Extended y, Extended f, Extended price, Extended width) const {
  return visit_list([&](const auto& loss) { return cost(loss, {y, price}, f, width); }, loss_);
}

std::vector<DualPiece> TextbookLoss::dual(Extended y, Extended price) const {
  return visit_list([&](const auto& loss) { return dual_of(loss, {y, price}); }, loss_);
}

std::vector<DualPiece> TextbookLoss::dual(Extended y, Extended under, Extended over) const {
  std::vector<DualPiece> pieces;
  const auto take = [&](Extended price, bool above) {
    if (price == 0) return;
    for (DualPiece each : dual(y, price)) {
      each.begin = above ? std::max<Extended>(each.begin, 0) : each.begin;
      each.end = above ? each.end : std::min<Extended>(each.end, 0);
      if (each.begin < each.end) pieces.push_back(each);
    }
  };
  take(over, false);
  take(under, true);
  return pieces;
}

Extended TextbookLoss::tube() const {
  return visit_list(
      [](const auto& loss) -> Extended {
        if constexpr (requires { loss.epsilon; }) return loss.epsilon;
        return 0;
      },
      loss_);
}

Extended TextbookLoss::largest_factor() const {
  return visit_list(
      [](const auto& loss) -> Extended {
        if constexpr (requires { loss.over; }) return std::max(loss.over, loss.under);
        return 1;
      },
      loss_);
}

Extended distribute(Extended coefficient, std::size_t rows, std::span<DualPiece> pieces) {
  Extended least = 0, most = 0;
  for (const DualPiece& each : pieces) {
    least += each.begin;
    most += each.end;
  }
  const Extended inside = std::clamp(coefficient, least, most);
  if (inside == least || inside == most) {
    for (DualPiece& each : pieces) each.b = inside == least ? each.begin : each.end;
  } else if (rows == 1) {
    // One row's pieces meet at 0: what is above fills the last of them, what is below the first.
    for (DualPiece& each : pieces) each.b = std::clamp(inside, each.begin, each.end);
  } else if (std::ranges::all_of(pieces, &DualPiece::is_straight) && least > -extended_infinity) {
    fill(inside, pieces);
  } else {
    level(inside, pieces);
  }
  return std::abs(coefficient - inside);
}

}  // namespace maxmargin
