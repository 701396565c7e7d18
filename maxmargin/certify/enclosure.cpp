#include "maxmargin/certify/enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "maxmargin/base/stack_memory.hpp"
#include "maxmargin/certify/equality_price.hpp"
#include "maxmargin/certify/extended.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

constexpr double u = unit_roundoff;

/// -h - p of a variable, the argument of its conjugate, in double-double arithmetic: what cancels
/// to zero is exactly zero.
Near rest_of(const DualQp& qp, std::size_t v, double q, double error,
             std::span<const double> lambda) {
  HighLowPair sum = two_sum(-q, -qp.block[v].linear);
  double size = std::abs(q) + std::abs(qp.block[v].linear);
  error += qp.block[v].linear_error;
  bool is_exact = true;
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    if (qp.A[r][v] == 0) continue;
    const HighLowPair product = two_product(-qp.A[r][v], lambda[r]);
    const HighLowPair high = two_sum(sum.high, product.high);
    const double low = (sum.low + product.low) + high.low;
    is_exact = is_exact && sum.low == 0 && product.low == 0;
    sum = two_sum(high.high, low);
    size += std::abs(product.high);
  }
  const double roundings = 8.0 * static_cast<double>(qp.A.size() + 1);
  const double value = sum.high + sum.low;
  if (!is_exact) error += roundings * u * u * size;
  return {value, error + (sum.low == 0 ? 0 : u * std::abs(value))};
}

/// phi*(rest + linear), with its rounding error.
Near conjugate_at(const Block& block, double rest) {
  const double value = block.conjugate_beyond(rest);
  if (value == 0 || std::isinf(value)) return {value, 0};
  if (block.entropy != Entropy::none) return {value, (16 + 4 * std::abs(rest)) * u * value};
  const double t =
      std::clamp(block.curvature > 0 ? rest / block.curvature : std::copysign(infinity, rest),
                 block.lower, block.upper);
  return {value, 8 * u * (std::abs(rest * t) + block.curvature * t * t / 2)};
}

}  // namespace

// A convex function is largest at an end.
Near highest_conjugate(const Block& block, const Near& rest) {
  const Near low = conjugate_at(block, rest.value - rest.error);
  if (rest.error == 0) return low;
  const Near high = conjugate_at(block, rest.value + rest.error);
  return low.value + low.error > high.value + high.error ? low : high;
}

Near value_at(const Block& block, double t) {
  const double value = block.value(t);
  double size = std::abs(block.linear * t) + block.curvature * t * t / 2;
  const auto entropy = [&](double x, double of) {
    if (x > 0) size += x * (2 + std::abs(std::log(x / of)));
  };
  if (block.entropy == Entropy::own) size += std::abs(value);  // as exact as the user's function
  if (block.entropy == Entropy::exponential) entropy(t, block.scale);
  if (block.entropy == Entropy::logistic) {
    entropy(t, block.upper);
    entropy(block.upper - t, block.upper);
  }
  const double roundings = block.entropy == Entropy::none ? 4 : 16;
  return {value, roundings * u * size + block.linear_error * std::abs(t)};
}

namespace {

/// A lower bound of the margin at a hard block; a hard margin asks for 1.
Near margin_of(const Block& block, const Near& rest) {
  const bool is_usual = block.linear < 0 ? block.upper == infinity && block.lower == 0
                                         : block.lower == -infinity && block.upper == 0;
  if (!is_usual || block.linear == 0) return {-infinity, 0};
  const double size = std::abs(block.linear);
  return {1 - rest.value / size, (rest.error + 4 * u * (std::abs(rest.value) + size)) / size};
}

/// The factor of f and lambda that makes every hard margin at least 1, with rounding errors
/// included and without them; 1 where there are no hard margins.
struct Stretch {
  double safe = 1, nearest = 1;
};

Stretch stretch_of(const DualQp& qp, std::span<const Near> rest) {
  double safe = infinity, nearest = infinity;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (!qp.block[v].is_hard()) continue;
    const Near margin = margin_of(qp.block[v], rest[v]);
    safe = std::min(safe, rounded_down(margin.value - margin.error));
    nearest = std::min(nearest, margin.value);
  }
  if (safe == infinity) return {};
  return {safe > 0 ? rounded_up(1 / safe) : infinity, nearest > 0 ? 1 / nearest : infinity};
}

/// What `rest` becomes when f and lambda are stretched.
Near stretched(const Near& rest, const Block& block, double by) {
  if (by == 1) return rest;
  const double value = by * (rest.value + block.linear) - block.linear;
  const double size = by * (std::abs(rest.value) + std::abs(block.linear));
  return {value, by * rest.error + 8 * u * size};
}

EnclosedSum half_quadratic(const DualQp& qp, std::span<const double> a, std::span<const double> q,
                           std::span<const double> error) {
  EnclosedSum sum;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (a[v] == 0) continue;
    const double product = a[v] * q[v] / 2;
    sum.add(product, std::abs(a[v]) / 2 * error[v] + 2 * u * std::abs(product));
  }
  return sum;
}

EnclosedSum values_of(const DualQp& qp, std::span<const double> a) {
  EnclosedSum sum;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (a[v] == 0) continue;
    const Near value = value_at(qp.block[v], a[v]);
    sum.add(value.value, value.error);
  }
  return sum;
}

/// lambda'd and the conjugates of all blocks that are not hard, with f and lambda stretched.
EnclosedSum losses_of(const DualQp& qp, std::span<const Near> rest, std::span<const double> lambda,
                      double by) {
  EnclosedSum sum;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (qp.block[v].is_hard()) continue;
    const Near loss = highest_conjugate(qp.block[v], stretched(rest[v], qp.block[v], by));
    sum.add(loss.value, loss.error);
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    const HighLowPair product = two_product(lambda[r], qp.d[r]);
    if (by == 1) {
      sum.add(product.high);
      sum.add(product.low);
    } else {
      sum.add(by * product.high, 4 * u * std::abs(by * product.high));
    }
  }
  return sum;
}

bool is_within_bounds(const DualQp& qp, std::span<const double> a) {
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (!(a[v] >= qp.block[v].lower && a[v] <= qp.block[v].upper && std::isfinite(a[v])))
      return false;
  return true;
}

/// The sum rounded up; infinity in the place of NaN.
double upper_sum(double x, double y, double z = 0) {
  EnclosedSum sum;
  for (const double term : {x, y, z}) sum.add(term);
  return sum.upper();
}

}  // namespace

Enclosure enclose(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                  const ProductError& error, std::span<const double> lambda) {
  const std::size_t m = qp.size();
  StackMemory memory;
  std::pmr::vector<double> q(m, memory), errors(m, memory);
  std::pmr::vector<Near> rest(m, memory), nearest(m, memory);
  for (std::size_t v = 0; v < m; ++v) {
    q[v] = qp.block[v].sign * f[qp.row[v]];
    errors[v] =
        rounded_up(std::abs(qp.block[v].sign) * error.at(qp.row[v]) * scale_of(*qp.K, qp.row[v]));
    if (std::abs(qp.block[v].sign) != 1) errors[v] += 2 * u * std::abs(q[v]);
    rest[v] = rest_of(qp, v, q[v], errors[v], lambda);
    nearest[v] = {rest[v].value, 0};
  }
  const EnclosedSum half = half_quadratic(qp, a, q, errors), values = values_of(qp, a);
  const Stretch stretch = stretch_of(qp, rest);
  const auto squared = [](double by, double of) {
    return by == 1 ? of : rounded_up(rounded_up(by * by) * of);
  };
  Enclosure result;
  if (is_within_bounds(qp, a))
    result.dual = -upper_sum(half.upper(), values.upper(), equality_price(qp, a, q, errors));
  double primal = infinity;
  if (stretch.safe < infinity)
    result.primal = upper_sum(squared(stretch.safe, half.upper()),
                              losses_of(qp, rest, lambda, stretch.safe).upper());
  if (stretch.nearest < infinity)
    primal = squared(stretch.nearest, half.value()) +
             losses_of(qp, nearest, lambda, stretch.nearest).value();
  const double gap = primal + half.value() + values.value();
  result.gap = std::isnan(gap) ? infinity : std::max(0.0, gap);
  return result;
}

namespace {

/// The error of K x for kernel values with errors of `value` and sums with this unit roundoff.
double error_of_sums(const Quadratic& K, std::span<const double> x, double value, double roundoff) {
  EnclosedSum reach;
  double terms = 4;
  for (std::size_t p = 0; p < x.size(); ++p) {
    if (x[p] == 0) continue;
    const double size = std::abs(x[p]) * scale_of(K, p);
    reach.add(size, 2 * u * size);
    ++terms;
  }
  // A sum of n rounded products is wrong by (n + 1) roundoffs of their sizes.
  return rounded_up((value + 1.01 * terms * roundoff * (1 + value)) * reach.upper());
}

}  // namespace

double product_error(const Quadratic& K, std::span<const double> x, Precision precision) {
  return error_of_sums(K, x, K.value_error(precision), u);
}

double extended_product_error(const Quadratic& K, std::span<const double> x) {
  return error_of_sums(K, x, K.can().extended->extended_error(), extended_roundoff);
}

double coefficient_error(const DualQp& qp, std::span<const double> a) {
  constexpr double additions = 4;
  // The coefficient of a point with one variable is that variable: no rounding.
  std::vector<std::uint8_t> variables(qp.K->size());
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (a[v] != 0 && variables[qp.row[v]] < 2)
      variables[qp.row[v]] += std::abs(qp.block[v].sign) == 1 ? 1 : 2;
  double sum = 0;
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (variables[qp.row[v]] > 1)
      sum += std::abs(qp.block[v].sign * a[v]) * scale_of(*qp.K, qp.row[v]);
  return additions * u * sum;
}

double least_charge(const DualQp& qp, std::span<const double> a, double error) {
  double sum = 0;
  for (std::size_t v = 0; v < qp.size(); ++v)
    sum += std::abs(qp.block[v].sign * a[v]) * scale_of(*qp.K, qp.row[v]);
  return sum * error;
}

}  // namespace maxmargin
