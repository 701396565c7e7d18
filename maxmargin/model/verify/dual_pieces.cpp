#include "maxmargin/model/verify/dual_pieces.hpp"

#include <algorithm>
#include <numeric>

namespace maxmargin {
namespace {

using Lost = Formulation::Loss;
using Kind = Formulation::Kind;

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

/// All pieces have the same slope at the best: the level that gives the sum, found by halving.
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
  // Between the last two levels lies what straight pieces are free to choose.
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

Extended TextbookLoss::rounded(Extended error) const {
  const Extended sigma = stated_.sigma;
  return error < sigma ? error * error / (2 * sigma) : error - sigma / 2;
}

Extended TextbookLoss::value(Extended y, Extended f, Extended price, Extended width) const {
  if (stated_.kind == Kind::one_class) return price * std::max<Extended>(0, -f);
  if (stated_.kind == Kind::nu_svc) return price * std::max<Extended>(0, width - y * f);
  if (stated_.kind == Kind::nu_svr)
    return price * (std::max<Extended>(0, y - f - width) + std::max<Extended>(0, f - y - width));
  const Extended margin = std::max<Extended>(0, 1 - y * f), eps = stated_.epsilon;
  const Extended low = std::max<Extended>(0, y - f - eps),
                 high = std::max<Extended>(0, f - y - eps);
  const Extended under = stated_.under, over = stated_.over, tau = stated_.tau;
  switch (stated_.loss) {
    case Lost::hinge:
      return margin == 0 ? 0 : price * margin;
    case Lost::squared_hinge:
      return price * margin * margin;
    case Lost::huberised_hinge:
      return price * rounded(margin);
    case Lost::logistic:
      return price * (std::max<Extended>(0, -y * f) + std::log1p(std::exp(-std::abs(f))));
    case Lost::exponential:
      return price * std::exp(-y * f);
    case Lost::tube:
      return price * (under * low + over * high);
    case Lost::squared_tube:
      return price * (under * low * low + over * high * high);
    case Lost::huber:
      return price * rounded(std::abs(y - f));
    case Lost::squared:
      return price * (y - f) * (y - f) / 2;
    case Lost::pinball:
      return price * (y > f ? tau * (y - f) : (1 - tau) * (f - y));
  }
  return 0;
}

std::vector<DualPiece> TextbookLoss::dual(Extended y, Extended price) const {
  const Extended eps = stated_.epsilon, endless = extended_infinity;
  const Extended under = stated_.under, over = stated_.over, tau = stated_.tau,
                 sigma = stated_.sigma;
  const auto side = [&](Extended length, Extended slope, Extended curvature) {
    return y > 0 ? piece(0, length, slope, curvature) : piece(-length, 0, -slope, curvature);
  };
  if (stated_.kind == Kind::one_class) return {piece(0, price, 0, 0)};
  if (stated_.is_nu()) {
    if (stated_.kind == Kind::nu_svc) {
      DualPiece own = side(price, 0, 0);
      own.group = y > 0 ? 0 : 1;
      return {own};
    }
    DualPiece below = piece(-price, 0, y, 0);
    below.group = 1;
    return {below, piece(0, price, y, 0)};
  }
  DualPiece smooth;
  smooth.label = y;
  smooth.price = price;
  switch (stated_.loss) {
    case Lost::hinge:
      return {side(price, 1, 0)};
    case Lost::squared_hinge:
      return {side(endless, 1, 1 / (2 * price))};
    case Lost::huberised_hinge:
      return {side(price, 1, sigma / price)};
    case Lost::logistic:
      smooth.kind = DualPiece::Kind::logistic;
      smooth.end = price;
      break;
    case Lost::exponential:
      smooth.kind = DualPiece::Kind::exponential;
      smooth.end = endless;
      break;
    case Lost::tube:
      return {piece(-price * over, 0, y + eps, 0), piece(0, price * under, y - eps, 0)};
    case Lost::squared_tube:
      return {piece(-endless, 0, y + eps, 1 / (2 * price * over)),
              piece(0, endless, y - eps, 1 / (2 * price * under))};
    case Lost::huber:
      return {piece(-price, price, y, sigma / price)};
    case Lost::squared:
      return {piece(-endless, endless, y, 1 / price)};
    case Lost::pinball:
      return {piece(-(1 - tau) * price, tau * price, y, 0)};
  }
  if (y < 0) std::swap(smooth.begin, smooth.end), smooth.begin = -smooth.begin;
  return {smooth};
}

Extended distribute(Extended coefficient, std::size_t rows, std::span<DualPiece> pieces) {
  Extended least = 0, most = 0;
  for (const DualPiece& each : pieces) {
    least += each.begin;
    most += each.end;
  }
  const Extended inside = std::clamp(coefficient, least, most);
  if (rows == 1) {
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
