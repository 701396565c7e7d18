#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "maxmargin/data.hpp"
#include "maxmargin/options.hpp"

namespace maxmargin {
inline namespace v0 {

/// How good a model is: the optimum of what was asked for lies between `dual` and `primal`.
struct ModelCertificate {
  double primal = 0, dual = 0;
  double relative_gap = 0;  ///< 2 (primal - dual) / (|primal| + |dual|), the worst of its machines
  double kkt = 0;           ///< largest violation of the optimality conditions
  bool mercer = true;       ///< false: the kernel is not positive semi-definite: dual is no bound
  bool converged = false;   ///< whether what was asked for has been reached
  std::string ended;        ///< "converged", "time limit", ...
};

/// A trained machine, or several of them behind one prediction. Copies share what they know; all
/// functions that predict may be called from several threads at once.
///
///   const auto model = maxmargin::Model::load("iris.model");
///   const auto flowers = maxmargin::Dataset::from({{5.1, 3.5, 1.4, 0.2}, {6.2, 2.9, 4.3, 1.3}});
///   const std::vector<std::string> labels = model.predict_labels(flowers);
class Model {
 public:
  /// A file that `save`, `maxmargin train` or LIBSVM's svm-train wrote. Its bytes are not trusted.
  /// After: a consistent model, or an Error.
  static Model load(const std::string& path);
  /// Writes it whole or not at all. After: the file, or an Error and what was there before.
  void save(const std::string& path) const;

  /// Whether it tells classes apart; otherwise it predicts numbers, or +1 and -1 (novelty).
  bool classifies() const;
  /// The classes in the order of probabilities(): their labels as text.
  std::vector<std::string> classes() const;
  std::size_t features() const;
  std::size_t support_vectors() const;
  /// Decision functions: one, or for several classes one a pair or one a class.
  std::size_t machines() const;
  ModelCertificate certificate() const;

  // Rows are predicted as the model was trained: scaled if it scales. Sparse rows may have fewer
  // columns than the model (the others are zero), dense ones may not: an Error. `threads`: 0 is one
  // a core. The same bits for any number of them, and whatever other rows are given.

  /// One number a row: its label, the value of a regression, or +1 (normal) and -1 (novel). Before:
  /// labels are numbers; for words there is predict_labels.
  std::vector<double> predict(const Dataset& rows, int threads = 0) const;
  /// The same as text.
  std::vector<std::string> predict_labels(const Dataset& rows, int threads = 0) const;
  /// values[row * machines() + machine]
  std::vector<double> decision_values(const Dataset& rows, int threads = 0) const;
  /// values[row * classes().size() + class]; the class that is predicted has the largest. Before:
  /// trained with {"probability", 5}, or any other number of folds; otherwise an Error.
  std::vector<double> probabilities(const Dataset& rows, int threads = 0) const;

  /// The coefficients of the unpenalised functions of one machine, in the order in which they were
  /// asked for. Before: machine < machines().
  std::vector<double> function_coefficients(std::size_t machine = 0) const;

  /// A model with a kernel of the user's own, loaded from a file, gets its function back. Before:
  /// it was trained with such a kernel; until then predictions are Errors.
  Model with_kernel(KernelFunction kernel) const;

 private:
  struct Parts;
  explicit Model(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend struct Inside;
  std::shared_ptr<const Parts> parts_;
};

/// Trains what the options ask for. Before: labelled data (novelty needs none). After: a model with
/// its certificate; where a limit or a watcher ended the run, the best so far, and the certificate
/// says so. Throws Error when data and options do not fit together, before any work.
///
///   const auto model = maxmargin::train(data, {{"kernel", "rbf"}, {"gamma", 0.5}, {"cost", 10}});
///   if (!model.certificate().converged) std::puts(model.certificate().ended.c_str());
///   model.save("iris.model");
Model train(const Dataset& data, const Options& options = {});

}  // namespace v0
}  // namespace maxmargin
