#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/losses.hpp"
#include "maxmargin/task/bias.hpp"
#include "maxmargin/task/multiclass/multiclass.hpp"
#include "maxmargin/task/outcome.hpp"

namespace maxmargin {

/// C-SVC: 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)), C_i = cost * class weight * row weight; or
/// another loss in place of the hinge.
struct Svc {
  double cost = 1;
  bool hard_margin = false;  ///< no errors allowed: C_i infinite
  MarginLoss loss = Hinge{};
  Bias bias = Bias::unpenalised;
  Multiclass multiclass = Multiclass::one_vs_one;
  std::vector<std::pair<std::string, double>> class_weights{};  ///< label name, factor of its cost
  std::shared_ptr<const ConvexCost> own{};  ///< a cost of y f in the place of `loss`, if there
  static constexpr std::string_view name = "svc";
  static constexpr std::string_view summary = "classification (C-SVC)";
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr auto fields =
      std::tuple{field("cost", &Svc::cost, "price C of a margin error", positive),
                 field("hard-margin", &Svc::hard_margin, "allow no margin error at all"),
                 field("loss", &Svc::loss, "the price of an error"),
                 field("bias", &Svc::bias, "unpenalised, penalised (b^2/2) or none"),
                 field("multiclass", &Svc::multiclass, "several classes")};

  /// Of a row of weight 1.
  double price() const { return hard_margin ? infinity : cost; }
};

/// nu-SVC: 1/2 |w|^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i)), w_i = class weight * row
/// weight, W their sum. The machine is divided by rho, so that its margin is at f = 1 and -1.
struct NuSvc {
  double nu = 0.5;
  Multiclass multiclass = Multiclass::one_vs_one;
  std::vector<std::pair<std::string, double>>
      class_weights{};  ///< label name, factor of its weight
  Bias bias = Bias::unpenalised;
  static constexpr std::string_view name = "nu-svc";
  static constexpr std::string_view summary = "classification (nu-SVC)";
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr auto fields = std::tuple{
      field("nu", &NuSvc::nu, "most margin errors and least support vectors, as a share", fraction),
      field("multiclass", &NuSvc::multiclass, "several classes"),
      field("bias", &NuSvc::bias, "unpenalised, penalised (b^2/2) or none")};

  double price() const { return 1; }
  NuMargin objective() const { return {nu}; }
};

/// eps-SVR: 1/2 |w|^2 + sum_i C_i^- max(0, y_i - f - eps) + C_i^+ max(0, f - y_i - eps); or another
/// loss in place of the tube.
struct Svr {
  double cost = 1;
  ErrorLoss loss = EpsilonInsensitive{};
  Bias bias = Bias::unpenalised;
  std::shared_ptr<const ConvexCost> own{};  ///< a cost of f - y in the place of `loss`, if there
  static constexpr std::string_view name = "svr";
  static constexpr std::string_view summary = "regression (eps-SVR)";
  static constexpr Outcome outcome = Outcome::number;
  static constexpr auto fields =
      std::tuple{field("cost", &Svr::cost, "price C of an error beyond the tube", positive),
                 field("loss", &Svr::loss, "the price of an error"),
                 field("bias", &Svr::bias, "unpenalised, penalised (b^2/2) or none")};

  double price() const { return cost; }
};

/// nu-SVR: 1/2 |w|^2 + C (nu W eps + sum_i w_i max(0, |y_i - f(x_i)| - eps)), eps found on the way.
struct NuSvr {
  double cost = 1;
  double nu = 0.5;
  Bias bias = Bias::unpenalised;
  static constexpr std::string_view name = "nu-svr";
  static constexpr std::string_view summary = "regression (nu-SVR)";
  static constexpr Outcome outcome = Outcome::number;
  static constexpr auto fields =
      std::tuple{field("cost", &NuSvr::cost, "price C of an error beyond the tube", positive),
                 field("nu", &NuSvr::nu,
                       "most rows beyond the tube and least support vectors, as a share", fraction),
                 field("bias", &NuSvr::bias, "unpenalised, penalised (b^2/2) or none")};

  double price() const { return cost; }
  NuTube objective() const { return {nu}; }
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

  double price() const { return 1; }
  Novelty objective() const { return {nu}; }
};

using Task = std::variant<Svc, NuSvc, Svr, NuSvr, OneClass>;

Outcome outcome_of(const Task& task);
/// The loss of its machines. Throws Error for a loss beside a hard margin.
Loss loss_of(const Task& task);
Bias bias_of(const Task& task);
/// Nothing where it has none, or a hard margin.
std::optional<double> cost_of(const Task& task);
/// Whether all machines of several classes are trained at once.
bool is_one_problem(const Task& task);

}  // namespace maxmargin
