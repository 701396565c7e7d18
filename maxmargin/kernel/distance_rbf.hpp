#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// The RBF kernel over another distance D.
struct DistanceRbf {
  double gamma = 1;
  Distance distance = Distance::euclidean;
  static constexpr std::string_view name = "distance-rbf";
  static constexpr std::string_view formula = "exp(-gamma D(x,z))";
  static constexpr auto fields =
      std::tuple{field("gamma", &DistanceRbf::gamma, "inverse width", positive),
                 field("distance", &DistanceRbf::distance,
                       "D: squared-euclidean, euclidean, manhattan, chi-squared or hellinger")};
  // Each of these distances is negative definite, so exp(-gamma D) is a Mercer kernel.
  Definite definite() const { return Definite::yes; }
  Form form() const {
    switch (distance) {
      case Distance::squared_euclidean:
        return {Pairing::squared_euclidean, Decay{gamma}};
      case Distance::euclidean:
        return {Pairing::squared_euclidean, RootDecay{gamma}};
      case Distance::manhattan:
        return {Pairing::manhattan, Decay{gamma}};
      case Distance::chi_squared:
        return {Pairing::chi_squared, Decay{gamma}};
      case Distance::hellinger:
        return {Pairing::hellinger, Decay{gamma}};
    }
    return {Pairing::squared_euclidean, Decay{gamma}};
  }
};

}  // namespace maxmargin
