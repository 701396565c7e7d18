#pragma once

#include <map>
#include <string>
#include <vector>

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
};
/// Throws Error when the options do not state one.
Formulation formulation_of(const Model& model);

/// A training row as one machine sees it.
struct SeenRow {
  Index point = 0;    ///< rows with the same features are the same point
  double g = 0;       ///< sum of coefficient times K, without the bias
  double offset = 0;  ///< sum of the functions' coefficients times their values
  double target = 0;  ///< +1 or -1, or the number to predict
  double weight = 1;  ///< row weight times class weight; greater than 0
};

/// Primal and dual objective, and the conditions of optimality, of one machine.
struct Examined {
  Certificate certificate;
  double bound_scale = 0;     ///< what bound_residual is to be compared with
  double equality_scale = 0;  ///< the same for equality_residual
  double largest_f = 0;
  /// What rounding in double may make of losses that are zero, in sum, where these are of hinges.
  double rounding = 0;
  /// By how much primal and dual move when float kernel values move f: each value is wrong by about
  /// 1e-7 of the largest, independently of the others, so f by `blur` = 1e-7 |beta| max|K|. The
  /// dual moves through |w|^2 by blur |beta|, the primal besides by blur times the cost of each row
  /// that has a loss or is that near to having one.
  double blur = 0, primal_blur = 0, dual_blur = 0;
  /// Equal rows with different targets, or the two sides of a regression tube, share a coefficient.
  /// The dual is then that of the best dual variables that give this coefficient.
  bool shared = false;
  bool foreign = false;  ///< a coefficient stands on a point that the machine does not see
};

/// What a model says of one machine.
struct Claimed {
  std::map<Index, double> beta;  ///< the coefficient of each point that has one
  const double* bias = nullptr;  ///< null where the machine has none
  double width = 0;              ///< as of Machine
  /// Each function's sum of beta times its value, which has to be 0, and the sum of their sizes.
  std::vector<double> function_sum, function_size;

  /// The largest of these sums, each relative to the sum of sizes.
  double function_defect() const;
};

/// From the definitions alone. `largest_kernel` is the largest |K|.
Examined examine(const Formulation& formulation, std::vector<SeenRow> rows, const Claimed& claimed,
                 double largest_kernel);

/// The same for nu-SVC and nu-SVR, in nu_textbook.cpp.
Examined examine_nu(const Formulation& formulation, std::vector<SeenRow> rows,
                    const Claimed& claimed, double largest_kernel);

/// The same for losses other than the hinge and the tube, and for biases that are penalised or
/// absent, in loss_textbook.cpp.
Examined examine_loss(const Formulation& formulation, std::vector<SeenRow> rows,
                      const Claimed& claimed, double largest_kernel);

/// A dual variable this near to a bound, relative to the length of its interval, is at the bound.
inline constexpr double at_bound = 1e-9;
/// The error of a float kernel value, relative to the largest.
inline constexpr double float_error = 1e-7;

}  // namespace maxmargin
