#include "maxmargin/kernel/engine/error_bound.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

// The largest t exp(-t) and sqrt(t) exp(-t).
constexpr double most_linear = 0.36788, most_root = 0.42889;
// Relative errors of the exponentials, in roundoffs: that of floats has been tried for every
// reduced argument (1.04e-7), that of doubles is Highway's, which has 1 ulp.
constexpr double float_exponential = 2.2, double_exponential = 4;
// Second-order terms: all bounds are below 1/8 where they are used as they stand.
constexpr double higher_orders = 1.1;

}  // namespace

SumError product_sums(const Form& form, double roundoff, std::size_t terms, double norm) {
  const double count = static_cast<double>(terms);
  // A sum of k products loses k + 1 roundoffs of |x| |z|; both rows may have been rounded.
  if (form.pairing == Pairing::dot) return {(count + 5) * roundoff, 0, 0};
  // Twice that of |x| |z| <= (|x|^2 + |z|^2) / 2; rounded rows move the distance by 4 of these, the
  // squares and the last additions lose 4.
  return {(count + 12) * roundoff * 2 * norm, 0, 0};
}

SumError difference_sums_error(double roundoff, std::size_t terms, double norm) {
  const double count = static_cast<double>(terms);
  return {4 * roundoff * roundoff * norm, (count + 5) * roundoff, 4 * roundoff * std::sqrt(norm)};
}

SumError list_sums_error(double roundoff, std::size_t terms, double alone) {
  const double count = static_cast<double>(terms);
  // Each term is the difference of two that are at most x + z; four operations make it.
  return {(2 * count + 24) * roundoff * 2 * alone, 0, 0};
}

SumError moved_rows(double deviation) { return {4 * deviation * deviation, 0, 4 * deviation}; }

SumError operator+(const SumError& x, const SumError& y) {
  return {x.absolute + y.absolute, x.relative + y.relative, x.root + y.root};
}

double value_error(const Form& form, const SumError& sum, double roundoff) {
  const double exponential =
      (roundoff > unit_roundoff ? float_exponential : double_exponential) * roundoff;
  if (const auto* decay = std::get_if<Decay>(&form.map)) {
    // The argument is made of a few products; t exp(-t) of their rounding is left of it.
    const double shift = decay->rate * sum.absolute + most_linear * (sum.relative + 4 * roundoff) +
                         most_root * std::sqrt(decay->rate) * sum.root;
    // Both values lie between 0 and 1.
    return shift < 0.125 ? higher_orders * (shift + exponential) : 1 + exponential;
  }
  if (const auto* root = std::get_if<RootDecay>(&form.map)) {
    const double shift = root->rate * (std::sqrt(sum.absolute) + sum.root) +
                         most_linear * (sum.relative + 8 * roundoff);
    return shift < 0.125 ? higher_orders * (shift + exponential) : 1 + exponential;
  }
  if (const auto* power = std::get_if<Power>(&form.map)) {
    // (gamma s + coef0) is at most the root of its values at (x,x) and (z,z), by Cauchy.
    const double base = sum.absolute + 4 * roundoff;
    return higher_orders * power->degree * (base + 2 * roundoff);
  }
  if (std::holds_alternative<Identity>(form.map))
    return higher_orders * (sum.absolute + 2 * roundoff);
  return 1;  // tanh is no such kernel
}

}  // namespace maxmargin
