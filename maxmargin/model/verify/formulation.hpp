#pragma once

#include <map>
#include <string>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// The formulation a model was trained with, as its recorded options state it.
struct Formulation {
  enum class Kind { svc, nu_svc, svr, nu_svr, one_class } kind = Kind::svc;
  double cost = 1;
  bool hard_margin = false;
  std::map<std::string, double> class_weight;  ///< by label; 1 where absent
  double epsilon = 0;
  double over = 1, under = 1;
  double nu = 0;

  enum class Loss {
    hinge,
    squared_hinge,
    huberised_hinge,
    logistic,
    exponential,
    tube,
    squared_tube,
    huber,
    squared,
    pinball
  } loss = Loss::hinge;
  double sigma = 0, tau = 0;
  enum class Bias { unpenalised, penalised, none } bias = Bias::unpenalised;
  /// The coefficients are those of basis functions, not of dual variables: they tell the primal and
  /// nothing else.
  bool approximated = false;
  /// There are no coefficients at all but w itself, in place of a machine's one support vector.
  bool only_weights = false;
  double tolerance = infinity, gap = infinity;  ///< what was asked for

  bool is_nu() const { return kind == Kind::nu_svc || kind == Kind::nu_svr; }
  /// The price of a row of weight 1, before class weights.
  double base_price() const {
    if (hard_margin) return infinity;
    return kind == Kind::nu_svc || kind == Kind::one_class ? 1 : cost;
  }
};
/// Throws Error when the options do not state one.
Formulation formulation_of(const Model& model);

}  // namespace maxmargin
