#include "maxmargin/model/verify/balance.hpp"

#include <algorithm>

namespace maxmargin {
namespace {

using Square = std::vector<std::vector<Extended>>;

/// The inverse by Gauss and Jordan; nothing where a pivot is zero.
std::optional<Square> inverse_of(Square B) {
  const std::size_t n = B.size();
  Square R(n, std::vector<Extended>(n, 0));
  for (std::size_t r = 0; r < n; ++r) R[r][r] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(B[r][c]) > std::abs(B[pivot][c])) pivot = r;
    if (!(std::abs(B[pivot][c]) > 0)) return std::nullopt;
    std::swap(B[c], B[pivot]);
    std::swap(R[c], R[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const Extended share = B[r][c] / B[c][c];
      for (std::size_t j = 0; j < n; ++j) {
        B[r][j] -= share * B[c][j];
        R[r][j] -= share * R[c][j];
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r)
    for (Extended& each : R[r]) each /= B[r][r];
  return R;
}

/// Well-conditioned columns of numbers with much room, those free on both sides first.
std::vector<std::size_t> chosen_of(const std::vector<Movable>& movable,
                                   const std::vector<bool>& banned,
                                   const std::vector<Extended>& unit) {
  const std::size_t n = unit.size();
  std::vector<std::vector<Extended>> basis;
  std::vector<std::size_t> chosen;
  while (chosen.size() < n) {
    Extended best = 0;
    std::size_t which = 0;
    std::vector<Extended> direction;
    for (std::size_t k = 0; k < movable.size(); ++k) {
      const Movable& each = movable[k];
      const Extended both = std::min(each.below, each.above);
      const Extended room = both > 0 ? both : 1e-6L * std::max(each.below, each.above);
      if (banned[k] || !(room > 0)) continue;
      std::vector<Extended> rest(n);
      Extended squares = 0;
      for (std::size_t r = 0; r < n; ++r) rest[r] = each.column[r] / unit[r];
      for (const auto& other : basis) {
        Extended product = 0;
        for (std::size_t r = 0; r < n; ++r) product += rest[r] * other[r];
        for (std::size_t r = 0; r < n; ++r) rest[r] -= product * other[r];
      }
      for (const Extended x : rest) squares += x * x;
      const Extended score = std::sqrt(squares) * std::min<Extended>(room, 1e300L);
      if (!(score > best) || !(squares > 1e-24L)) continue;
      best = score;
      which = k;
      for (Extended& x : rest) x /= std::sqrt(squares);
      direction = std::move(rest);
    }
    if (direction.empty()) return {};
    basis.push_back(std::move(direction));
    chosen.push_back(which);
  }
  return chosen;
}

/// The solution of B t = -residual, enclosed: with R near the inverse, it is within
/// |R (residual + B t)| / (1 - |I - R B|) of any t.
std::optional<std::vector<Enclosed>> solved(const Square& B,
                                            const std::vector<Enclosed>& residual) {
  const std::size_t n = B.size();
  const std::optional<Square> R = inverse_of(B);
  if (!R) return std::nullopt;
  Extended away = 0;
  for (std::size_t r = 0; r < n; ++r) {
    Extended row = 0;
    for (std::size_t c = 0; c < n; ++c) {
      Enclosed entry = r == c ? -1 : 0;
      for (std::size_t j = 0; j < n; ++j) entry += Enclosed((*R)[r][j]) * Enclosed(B[j][c]);
      row += entry.size();
    }
    away = std::max(away, row);
  }
  if (!(away < 0.5L)) return std::nullopt;
  std::vector<Enclosed> t(n), left = residual;
  for (std::size_t r = 0; r < n; ++r) {
    Extended sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum -= (*R)[r][j] * residual[j].middle;
    t[r] = sum;
  }
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t j = 0; j < n; ++j) left[r] += Enclosed(B[r][j]) * t[j];
  Extended most = 0;
  for (std::size_t r = 0; r < n; ++r) {
    Enclosed product = 0;
    for (std::size_t j = 0; j < n; ++j) product += Enclosed((*R)[r][j]) * left[j];
    most = std::max(most, product.size());
  }
  for (Enclosed& each : t) each.radius = most / (1 - away) * (1 + 8 * extended_rounding);
  return t;
}

}  // namespace

std::optional<std::vector<Moved>> balanced(const std::vector<Movable>& movable,
                                           const std::vector<Enclosed>& residual) {
  constexpr int most_tries = 32;
  const std::size_t n = residual.size();
  if (std::ranges::all_of(residual, [](const Enclosed& each) { return each.size() == 0; }))
    return std::vector<Moved>{};
  std::vector<Extended> unit(n, 0);
  for (const Movable& each : movable)
    for (std::size_t r = 0; r < n; ++r) unit[r] = std::max(unit[r], std::abs(each.column[r]));
  if (std::ranges::any_of(unit, [](Extended each) { return !(each > 0); })) return std::nullopt;
  std::vector<bool> banned(movable.size(), false);
  for (int round = 0; round < most_tries; ++round) {
    const std::vector<std::size_t> chosen = chosen_of(movable, banned, unit);
    if (chosen.empty()) return std::nullopt;
    Square B(n, std::vector<Extended>(n));
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c) B[r][c] = movable[chosen[c]].column[r];
    const auto t = solved(B, residual);
    if (!t) return std::nullopt;
    std::vector<Moved> moves;
    for (std::size_t c = 0; c < n; ++c) {
      const Movable& each = movable[chosen[c]];
      moves.push_back({chosen[c], (*t)[c]});
      if (!(moves[c].by.high() <= each.above && -moves[c].by.low() <= each.below))
        banned[chosen[c]] = true;
    }
    if (std::ranges::none_of(chosen, [&](std::size_t k) { return banned[k]; })) return moves;
  }
  return std::nullopt;
}

}  // namespace maxmargin
