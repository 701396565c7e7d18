#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

// Numbers whose rounding is known: what a certificate is computed with. All bounds hold for IEEE
// doubles rounded to nearest (docs/certificate.md has the proofs).
namespace maxmargin {

/// The unit roundoff of double: an operation's relative error.
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;
/// The same of float.
inline constexpr double float_roundoff = 0x1p-24;
/// And of long double.
inline constexpr double extended_roundoff =
    static_cast<double>(std::numeric_limits<long double>::epsilon() / 2);

/// x + y = high + low, exactly (Knuth).
struct HighLowPair {
  double high, low;
};
inline HighLowPair two_sum(double x, double y) {
  const double sum = x + y, rest = sum - x;
  return {sum, (x - (sum - rest)) + (y - rest)};
}
/// x y = high + low, exactly but for underflow.
inline HighLowPair two_product(double x, double y) {
  const double product = x * y;
  return {product, std::fma(x, y, -product)};
}

/// Larger, resp. smaller, by more than two roundings of x; zero stays.
inline double rounded_up(double x) {
  if (x == 0) return x;
  return x + (4 * unit_roundoff * std::abs(x) + std::numeric_limits<double>::denorm_min());
}
inline double rounded_down(double x) { return -rounded_up(-x); }

/// A sum of terms that each have an error bound of their own, between two doubles. Compensated
/// (Neumaier; Ogita, Rump and Oishi, proposition 4.5): before it is rounded to a double the sum is
/// wrong by at most (n u)^2 sum |terms|, u the unit roundoff and n the number of terms. What is not
/// a number or infinite gives infinite bounds: they are never false, and never not a number.
class EnclosedSum {
 public:
  void add(double term, double error = 0) {
    if (!std::isfinite(term) || !std::isfinite(error)) {
      is_finite_ = false;
      return;
    }
    const HighLowPair sum = two_sum(sum_, term);
    sum_ = sum.high;
    rest_ += sum.low;
    size_ += std::abs(term);
    error_ += error;
    ++count_;
  }
  void add(const EnclosedSum& other) {
    is_finite_ = is_finite_ && other.is_finite_;
    const double own = other.own_error();
    add(other.sum_);
    add(other.rest_, own);
  }
  double value() const { return guarded(sum_ + rest_); }
  double upper() const { return guarded(rounded_up(sum_ + rest_ + own_error())); }
  double lower() const { return -guarded(rounded_up(own_error() - (sum_ + rest_))); }

 private:
  /// Partial sums may have overflowed, too.
  double guarded(double bound) const {
    return is_finite_ && !std::isnan(bound) ? bound : std::numeric_limits<double>::infinity();
  }
  double own_error() const {
    const double n = static_cast<double>(count_ + 2), drift = n * unit_roundoff;
    // A single term is exact, and so are terms that are all zero.
    return (error_ + (count_ > 1 ? drift * drift * size_ : 0)) * (1 + 2 * drift);
  }

  double sum_ = 0, rest_ = 0, size_ = 0, error_ = 0;
  std::size_t count_ = 0;
  bool is_finite_ = true;
};

/// A sum without any rounding (Shewchuk's expansions): whether it is zero can be asked.
class ExactSum {
 public:
  void add(double term) {
    std::size_t kept = 0;
    for (const double part : parts_) {
      const HighLowPair sum = two_sum(term, part);
      if (sum.low != 0) parts_[kept++] = sum.low;
      term = sum.high;
    }
    parts_.resize(kept);
    if (term != 0) parts_.push_back(term);
  }
  void add_product(double x, double y) {
    const HighLowPair product = two_product(x, y);
    add(product.high);
    add(product.low);
  }
  /// Nearest to the sum but for a relative error of 4 u; exactly 0 only if the sum is.
  double value() const {
    double sum = 0;
    for (const double part : parts_) sum += part;
    return sum;
  }

 private:
  std::vector<double> parts_;  // of increasing size, none overlapping another
};

}  // namespace maxmargin
