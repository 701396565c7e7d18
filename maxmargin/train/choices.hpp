#pragma once

#include <array>

#include "maxmargin/base/named.hpp"

namespace maxmargin {

/// The price of an error in classification, with e = 1 - y f.
enum class MarginLoss { hinge, squared_hinge, huberised_hinge, logistic, exponential };

/// The price of an error in regression.
enum class ErrorLoss { epsilon_insensitive, squared_epsilon_insensitive, huber, squared, pinball };

/// Whether f has a constant b, and what it costs: nothing, b^2 / 2, or there is none.
enum class Bias { unpenalised, penalised, none };

template <>
struct Named<MarginLoss> {
  static constexpr std::array<std::pair<MarginLoss, std::string_view>, 5> values{
      {{MarginLoss::hinge, "hinge"},
       {MarginLoss::squared_hinge, "squared-hinge"},
       {MarginLoss::huberised_hinge, "huberised-hinge"},
       {MarginLoss::logistic, "logistic"},
       {MarginLoss::exponential, "exponential"}}};
};

template <>
struct Named<ErrorLoss> {
  static constexpr std::array<std::pair<ErrorLoss, std::string_view>, 5> values{
      {{ErrorLoss::epsilon_insensitive, "epsilon-insensitive"},
       {ErrorLoss::squared_epsilon_insensitive, "squared-epsilon-insensitive"},
       {ErrorLoss::huber, "huber"},
       {ErrorLoss::squared, "squared"},
       {ErrorLoss::pinball, "pinball"}}};
};

template <>
struct Named<Bias> {
  static constexpr std::array<std::pair<Bias, std::string_view>, 3> values{
      {{Bias::unpenalised, "unpenalised"}, {Bias::penalised, "penalised"}, {Bias::none, "none"}}};
};

}  // namespace maxmargin
