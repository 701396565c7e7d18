#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/model/model.hpp"
#include "maxmargin/train/choices.hpp"

namespace maxmargin {

/// C-SVC: 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)), C_i = cost * class weight * row weight; or
/// another loss in place of the hinge.
struct Svc {
  double cost = 1;
  bool hard_margin = false;  ///< no errors allowed: C_i infinite
  MarginLoss loss = MarginLoss::hinge;
  double sigma = 0.5;  ///< of the huberised hinge
  Bias bias = Bias::unpenalised;
  Multiclass multiclass = Multiclass::one_vs_one;
  std::vector<std::pair<std::string, double>> class_weights{};  ///< label name, factor of its cost
  static constexpr std::string_view name = "svc";
  static constexpr std::string_view summary = "classification (C-SVC)";
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr auto fields = std::tuple{
      field("cost", &Svc::cost, "price C of a margin error", positive),
      field("hard-margin", &Svc::hard_margin, "allow no margin error at all"),
      field("loss", &Svc::loss, "hinge, squared-hinge, huberised-hinge, logistic or exponential"),
      field("sigma", &Svc::sigma, "width of the huberised hinge's corner", positive),
      field("bias", &Svc::bias, "unpenalised, penalised (b^2/2) or none")};
};

/// nu-SVC: 1/2 |w|^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i)), w_i = class weight * row
/// weight, W their sum. The machine is divided by rho, so that its margin is at f = 1 and -1.
struct NuSvc {
  double nu = 0.5;
  Multiclass multiclass = Multiclass::one_vs_one;
  std::vector<std::pair<std::string, double>>
      class_weights{};  ///< label name, factor of its weight
  static constexpr std::string_view name = "nu-svc";
  static constexpr std::string_view summary = "classification (nu-SVC)";
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr auto fields = std::tuple{field(
      "nu", &NuSvc::nu, "most margin errors and least support vectors, as a share", fraction)};
};

/// eps-SVR: 1/2 |w|^2 + sum_i C_i^- max(0, y_i - f - eps) + C_i^+ max(0, f - y_i - eps); or another
/// loss in place of the tube.
struct Svr {
  double cost = 1;
  double epsilon = 0.1;
  double over = 1;   ///< factor of the cost where the prediction is too high
  double under = 1;  ///< factor of the cost where it is too low
  ErrorLoss loss = ErrorLoss::epsilon_insensitive;
  double sigma = 1;  ///< of Huber's loss
  double tau = 0.5;  ///< the quantile of the pinball loss
  Bias bias = Bias::unpenalised;
  static constexpr std::string_view name = "svr";
  static constexpr std::string_view summary = "regression (eps-SVR)";
  static constexpr Outcome outcome = Outcome::number;
  static constexpr auto fields =
      std::tuple{field("cost", &Svr::cost, "price C of an error beyond the tube", positive),
                 field("epsilon", &Svr::epsilon, "half width of the tube", non_negative),
                 field("over", &Svr::over, "factor of the cost of over-prediction", positive),
                 field("under", &Svr::under, "factor of the cost of under-prediction", positive),
                 field("loss", &Svr::loss,
                       "epsilon-insensitive, squared-epsilon-insensitive, huber, squared or "
                       "pinball"),
                 field("sigma", &Svr::sigma, "errors up to this count squared (huber)", positive),
                 field("tau", &Svr::tau, "the quantile to estimate (pinball)", open_fraction),
                 field("bias", &Svr::bias, "unpenalised, penalised (b^2/2) or none")};
};

/// nu-SVR: 1/2 |w|^2 + C (nu W eps + sum_i w_i max(0, |y_i - f(x_i)| - eps)), eps found on the way.
struct NuSvr {
  double cost = 1;
  double nu = 0.5;
  static constexpr std::string_view name = "nu-svr";
  static constexpr std::string_view summary = "regression (nu-SVR)";
  static constexpr Outcome outcome = Outcome::number;
  static constexpr auto fields = std::tuple{
      field("cost", &NuSvr::cost, "price C of an error beyond the tube", positive),
      field("nu", &NuSvr::nu, "most rows beyond the tube and least support vectors, as a share",
            fraction)};
};

/// One-class: 1/2 |w|^2 + sum_i w_i max(0, rho - g(x_i)) - nu W rho, W the sum of the weights; f =
/// g - rho.
struct OneClass {
  double nu = 0.5;
  static constexpr std::string_view name = "one-class";
  static constexpr std::string_view summary = "novelty detection (one-class)";
  static constexpr Outcome outcome = Outcome::novelty;
  static constexpr auto fields = std::tuple{
      field("nu", &OneClass::nu, "share of the training rows that may be novel", fraction)};
};

using Task = std::variant<Svc, NuSvc, Svr, NuSvr, OneClass>;

inline Outcome outcome_of(const Task& task) {
  return std::visit([](const auto& chosen) { return chosen.outcome; }, task);
}

}  // namespace maxmargin
