#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// In which space the gradient is taken: it changes the direction, not the minimum.
enum class GradientSpace {
  function,     ///< of f, (10.95): the coefficients of the gradient are beta - s a
  coefficient,  ///< of beta, (10.98): these times K
  values        ///< of the values of f at the points: (K + ridge)^-1 times these
};
template <>
struct Named<GradientSpace> {
  static constexpr std::array<std::pair<GradientSpace, std::string_view>, 3> values = {
      {{GradientSpace::function, "function"},
       {GradientSpace::coefficient, "coefficient"},
       {GradientSpace::values, "values"}}};
};

/// Table 10.3.
enum class Regulariser { standard, renormalised, l1, l2_data };
template <>
struct Named<Regulariser> {
  static constexpr std::array<std::pair<Regulariser, std::string_view>, 4> values = {
      {{Regulariser::standard, "standard"},
       {Regulariser::renormalised, "renormalised"},
       {Regulariser::l1, "l1"},
       {Regulariser::l2_data, "l2-data"}}};
};

/// Gradient descent on the primal (S10; Learning with Kernels, 10.6.1), for
///
///   min over f, lambda   1/2 |f|^2 + sum_v phi_v*(-h_v) + lambda'd,   h_v = s_v f(x_v) +
///   (A'lambda)_v
///
/// where the derivative of a loss is -a_v, a_v = argmax phi*(-h): f = sum beta k(x, .) moves along
/// s a - beta, (10.95), or K times that, (10.98), or so that the values of f at the points move
/// along it: K^-1 times that, a small ridge added to K, which is factored once. lambda is best for
/// f at every step. A is any rows, K positive semi-definite; a step costs one product with K, two
/// in coefficient space, and as much again for the factors in that of the values.
///
/// Conjugate directions, an exact line search, and theorem 10.5 in its right form, primal - optimum
/// <= 1/2 |gradient|^2, which tells when to look at the gap. Losses with corners (hinge, tube, nu)
/// have no derivative there: smooth ones stand for them, each a curvature that is a tenth of the
/// one before, until the dual point a has the gap and the violation asked for. This is not for many
/// digits.
struct GradientDescent {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  GradientSpace space = GradientSpace::function;
  Regulariser regulariser = Regulariser::standard;
  bool conjugate = true;
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "gradient-descent";
  static constexpr std::string_view summary =
      "descent on the primal in the space of f or of its coefficients; any equality rows; few "
      "digits for losses with corners";
  static constexpr auto fields = std::tuple{
      field("space", &GradientDescent::space,
            "in which the gradient is taken: function, coefficient, or values (of f at the rows)"),
      field("regulariser", &GradientDescent::regulariser,
            "standard (1/2 |f|^2), renormalised (1/2 |f|), l1 (sum of |coefficients|) or l2-data "
            "(sum of f(x)^2); all but the first need --max-iterations"),
      field("conjugate", &GradientDescent::conjugate,
            "make directions conjugate to the ones before"),
      field("cache", &GradientDescent::cache, cache_help)};
};

/// Stochastic gradient descent (10.121): rows are drawn at random, a few at a time, every row once
/// in an epoch; f <- (1 - 1/t) f + 1/t (n / few) sum of s a k(x, .) over them. After whole epochs
/// beta is a mean of dual points, hence one, and its gap is known. No equality rows: the bias is
/// left out or penalised. The gap falls like 1 / epochs.
struct Stochastic {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;
  std::uint64_t seed = 0;
  int batch = 32;
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "stochastic";
  static constexpr std::string_view summary =
      "gradient descent by rows drawn at random; no equality row, few digits";
  static constexpr auto fields =
      std::tuple{field("batch", &Stochastic::batch, "rows that are drawn at a time",
                       Range{1, 100000, false, false, "from 1 to 100000"}),
                 field("cache", &Stochastic::cache, cache_help)};
};

/// Why a solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const GradientDescent& options);
std::optional<std::string> refuses(const DualQp& qp, const Stochastic& options);

Solution run(const DualQp& qp, const GradientDescent& options, const Run& run);
Solution run(const DualQp& qp, const Stochastic& options, const Run& run);

}  // namespace maxmargin
