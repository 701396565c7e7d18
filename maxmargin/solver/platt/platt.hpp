#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/platt/zeta.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// In which order the free ones are looked at.
enum class Order { random, increasing, decreasing };
template <>
struct Named<Order> {
  static constexpr std::array<std::pair<Order, std::string_view>, 3> values = {
      {{Order::random, "random"},
       {Order::increasing, "increasing"},
       {Order::decreasing, "decreasing"}}};
};

/// How a violation is measured.
enum class Thresholds {
  one,  ///< Platt: against one b, that of the last step
  two   ///< Keerthi: e_hi and e_lo, (10.88)
};
template <>
struct Named<Thresholds> {
  static constexpr std::array<std::pair<Thresholds, std::string_view>, 2> values = {
      {{Thresholds::one, "one"}, {Thresholds::two, "two"}}};
};

/// Platt's sequential minimal optimisation (S2) and its extrapolation (S3), for
///
///   min 1/2 a'Qa + p'a   subject to   A a = d,   l <= a <= u
///
/// where every variable stands in one equality row whose entries are the signs of its variables: a
/// machine with a bias, one-class, and the nu forms, whose two rows make both of a pair share a
/// class. Both sides of a tube move as one coefficient (algorithm 10.4). Costs may be any convex
/// ones. Needs rows and products of K, which may be indefinite; returns the best pair-wise point.
///
/// An outer loop looks at all coefficients, then again and again at the free ones only, and at all
/// again when fewer than `full-sweep` of these changed. One that violates its conditions moves
/// together with the one whose error differs most; where that gains nothing, with the first of the
/// free ones that gains, then of all, from a random place on.
///
/// Sources: Learning with Kernels, 10.5, algorithms 10.3 and 10.4, with the formulas corrected;
/// Lai, Mani and Palaniswami, "Effect of extrapolation" (the step times zeta, the order of the free
/// ones). A step costs O(points) with cache `function`, O(free) with `row` and `element`.
struct Platt {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for kernel values
  std::uint64_t seed = 0;
  Zeta zeta{};
  Order order = Order::random;
  Thresholds thresholds = Thresholds::two;
  CachePolicy cache = CachePolicy::function;
  double full_sweep = 0.1;
  bool random_start = true;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "platt";
  static constexpr std::string_view summary =
      "Platt's pairs with the second-choice hierarchy, extrapolated if asked for; a bias, or nu";
  static constexpr auto fields = std::tuple{
      field("zeta", &Platt::zeta,
            "how many times the best step of a pair is taken, greater than 0 and less than 2; or "
            "adaptive"),
      field("order", &Platt::order,
            "of the free variables in a sweep: random, or by their size, increasing or decreasing"),
      field("thresholds", &Platt::thresholds,
            "a violation is measured against one threshold (Platt) or two (Keerthi)"),
      field("cache", &Platt::cache,
            "what is kept: kernel rows (row), single values (element), or f by rows (function)"),
      field("full-sweep", &Platt::full_sweep,
            "look at all variables when fewer than this share of the free ones changed",
            Range{0, 1, false, true, "0 or more and less than 1"}),
      field("random-start", &Platt::random_start,
            "begin sweeps over all and second choices at a random place, and shuffle the free ones "
            "where their order is random")};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const Platt& options);

Solution run(const DualQp& qp, const Platt& options, const Run& run);

}  // namespace maxmargin
