#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "maxmargin/base/named.hpp"

namespace maxmargin {

// Every built-in kernel is a map of one number, and that number is a sum over the features. So a
// kernel states its two halves and the engines (kernel/engine.hpp) know only these two short lists.

/// What is summed over the features of a pair of rows.
enum class Pairing {
  dot,                ///< sum x z
  squared_euclidean,  ///< sum (x - z)^2
  manhattan,          ///< sum |x - z|
  chi_squared,        ///< sum (x - z)^2 / (x + z), terms with x + z = 0 left out; x, z >= 0
  hellinger           ///< sum (sqrt x - sqrt z)^2; x, z >= 0
};

/// One feature's share of the sum.
template <std::floating_point Real>
Real pair_term(Pairing pairing, Real x, std::type_identity_t<Real> z) {
  switch (pairing) {
    case Pairing::dot:
      return x * z;
    case Pairing::squared_euclidean:
      return (x - z) * (x - z);
    case Pairing::manhattan:
      return std::abs(x - z);
    case Pairing::chi_squared:
      return x + z > 0 ? (x - z) * (x - z) / (x + z) : 0;
    case Pairing::hellinger:
      return (std::sqrt(x) - std::sqrt(z)) * (std::sqrt(x) - std::sqrt(z));
  }
  return 0;
}

/// The same without what cancels or overflows: the difference of two roots is that of their squares
/// over their sum.
template <std::floating_point Real>
Real safe_pair_term(Pairing pairing, Real x, std::type_identity_t<Real> z) {
  if (pairing == Pairing::chi_squared) return x + z > 0 ? (x - z) / (x + z) * (x - z) : 0;
  if (pairing != Pairing::hellinger) return pair_term(pairing, x, z);
  const Real sum = std::sqrt(x) + std::sqrt(z);
  const Real difference = sum > 0 ? (x - z) / sum : 0;
  return difference * difference;
}

struct Identity {
  template <std::floating_point Real>
  Real operator()(Real s) const {
    return s;
  }
};
/// exp(-rate s)
struct Decay {
  double rate;
  template <std::floating_point Real>
  Real operator()(Real s) const {
    return std::exp(-rate * s);
  }
};
/// exp(-rate sqrt(s))
struct RootDecay {
  double rate;
  template <std::floating_point Real>
  Real operator()(Real s) const {
    return std::exp(-rate * std::sqrt(s));
  }
};
/// (factor s + shift)^degree
struct Power {
  double factor, shift;
  int degree;
  template <std::floating_point Real>
  Real operator()(Real s) const {
    Real result = 1;
    Real base = factor * s + shift;
    for (int n = degree; n > 0; n >>= 1, base *= base)
      if (n & 1) result *= base;
    return result;
  }
};
/// tanh(factor s + shift)
struct HyperbolicTangent {
  double factor, shift;
  template <std::floating_point Real>
  Real operator()(Real s) const {
    return std::tanh(factor * s + shift);
  }
};

using Map = std::variant<Identity, Decay, RootDecay, Power, HyperbolicTangent>;

/// Whether every Gram matrix of a kernel is positive semi-definite (Mercer's condition).
enum class Definite { yes, no, unknown };

struct Form {
  Pairing pairing;
  Map map;

  bool needs_non_negative() const {
    return pairing == Pairing::chi_squared || pairing == Pairing::hellinger;
  }
};

/// The distances of the generic RBF kernel.
enum class Distance { squared_euclidean, euclidean, manhattan, chi_squared, hellinger };
template <>
struct Named<Distance> {
  static constexpr std::array<std::pair<Distance, std::string_view>, 5> values{
      {{Distance::squared_euclidean, "squared-euclidean"},
       {Distance::euclidean, "euclidean"},
       {Distance::manhattan, "manhattan"},
       {Distance::chi_squared, "chi-squared"},
       {Distance::hellinger, "hellinger"}}};
};

}  // namespace maxmargin
