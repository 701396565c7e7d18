#pragma once

#include <map>
#include <string>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// The formulation a model was trained with, as it states it.
struct Formulation {
  Task task;
  Loss loss;
  Bias bias = Bias::unpenalised;
  double nu = 0;
  double price = 1;                            ///< of a row of weight 1, before class weights
  bool hard_margin = false;                    ///< that price is infinite
  std::map<std::string, double> class_weight;  ///< by label; 1 where absent
  /// The coefficients are those of basis functions, not of dual variables: they tell the primal and
  /// nothing else.
  bool approximated = false;
  /// There are no coefficients at all but w itself, in place of a machine's one support vector.
  bool only_weights = false;
  bool together = false;  ///< all machines are one problem
  bool expansion =
      false;  ///< sum |beta| in the place of the norm: the coefficients are no dual variables
  double tolerance = infinity, gap = infinity;  ///< what was asked for

  template <class Chosen>
  bool is() const {
    return std::holds_alternative<Chosen>(task);
  }
  /// The model keeps no dual variables.
  bool primal_only() const { return approximated || expansion; }
  bool is_nu() const { return is<NuSvc>() || is<NuSvr>(); }
};
/// Throws Error when the model does not state one.
Formulation formulation_of(const Model& model);

}  // namespace maxmargin
