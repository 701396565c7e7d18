#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/scaling.hpp"
#include "maxmargin/kernel/kernels.hpp"
#include "maxmargin/model/parametric.hpp"
#include "maxmargin/model/probability.hpp"
#include "maxmargin/task/text.hpp"

namespace maxmargin {

/// One decision function: f(x) = sum_k coefficient[k] K(support[k], x) + lambda[0] (the bias)
/// + sum_r lambda[r + 1] phi_r(x) over the functions of its model.
struct Machine : Sides {
  std::vector<Index> support;  ///< increasing positions in Model::support
  std::vector<double> coefficient;
  std::vector<double> lambda;  ///< bias and coefficients of the functions; or empty
  /// The width that nu determines, 0 without a nu: epsilon, half the width of the tube (nu-SVR), or
  /// the margin rho, by which coefficients and bias have been divided where it is positive
  /// (nu-SVC).
  double width = 0;
  Ended ended = Ended::stalled;
  std::uint64_t iterations = 0;
  Certificate certificate;

  double bias() const { return lambda.empty() ? 0 : lambda[0]; }
};

/// Machines of thousands of classes that there was no time to train. They are in no list and vote
/// for no class; their certificate is that of f = 0, by the loss on the rows of each class.
struct Untrained {
  /// What f = 0 loses on the rows of each class, rounded up; infinity: not known. 0 of a class that
  /// has no rows, of which there are no machines.
  std::vector<double> loss;
  Ended ended = Ended::time_limit;

  bool none() const { return loss.empty(); }
};

/// All that is needed to predict, and to verify the training later.
struct Model {
  /// What was asked for; nothing in models that others have made, LIBSVM or online learners.
  std::optional<Task> task;
  Outcome outcome = Outcome::classes;
  Multiclass multiclass = Multiclass::one_vs_one;
  Kernel kernel;
  std::size_t features = 0;                ///< of the training data
  Features support;                        ///< support vectors, after scaling
  std::vector<std::uint64_t> support_row;  ///< the training row (from 0) each of them was
  std::vector<Machine> machines;           ///< they share the support vectors
  Untrained untrained;                     ///< machines that are not among them
  std::vector<std::string> classes;        ///< names; numbers as their shortest text
  bool numeric_classes = true;
  std::vector<std::string> feature_names;
  std::vector<ParametricFunction> functions;  ///< unpenalised, besides the bias
  Scaling scaling;                            ///< empty factor: none
  Calibration calibration;                    ///< for probabilities; may be none
  Texts options;  ///< how else it was trained: names and values as on the command line
  std::uint64_t seed = 0;
  std::uint64_t rows = 0;  ///< of the training data
  std::string data_hash;   ///< content_hash of it
  std::string program;     ///< "maxmargin 0.1.0"
};

/// How many machines were not trained: those that the classes need, but for those that are there.
std::uint64_t untrained_machines(const Model& model);
/// The certificate of all of these together, f = 0.
Certificate certificate_of_untrained(const Model& model);

/// Everything that is known of how it was trained, the task first.
Texts recorded_options(const Model& model);
/// "svc", as the task or else the options call it; may be empty.
std::string task_name(const Model& model);

}  // namespace maxmargin
