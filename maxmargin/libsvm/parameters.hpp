#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/libsvm/model.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// LIBSVM's parameters, with its names, numbers and defaults.
struct LibsvmParameters {
  int svm_type = 0;     ///< a LibsvmType
  int kernel_type = 2;  ///< linear, polynomial, rbf, sigmoid, precomputed
  int degree = 3;
  double gamma = 0;
  double coef0 = 0;
  double cache_size = 100;  ///< MB
  double eps = 1e-3;
  double C = 1;
  std::vector<std::pair<int, double>> weight;  ///< label, factor of C
  double nu = 0.5;
  double p = 0.1;
  int shrinking = 1;
  int probability = 0;

  LibsvmType type() const { return static_cast<LibsvmType>(svm_type); }
  bool precomputed() const { return kernel_type == 4; }
  double weight_of(int label) const;
};

/// The message of LIBSVM's svm_check_parameter; null: nothing is wrong.
const char* check(const LibsvmParameters& parameters);

/// Its message where nu is too large for the classes of these labels; or null.
const char* check_nu(const LibsvmParameters& parameters, std::span<const double> labels);

/// The largest nu that nu-SVC can have with these labels.
double largest_nu(std::span<const double> labels);

/// The kernel. A factor of 0 becomes the smallest number there is: it makes a kernel constant too.
Kernel kernel_of(const LibsvmParameters& parameters);

/// LIBSVM takes labels as whole numbers and cuts off the rest. The number of the first label that
/// is none, from 0.
std::optional<std::size_t> first_broken_label(std::span<const double> labels);

/// The classes of a data set in LIBSVM's order: as they appear, but 1 before -1 if these are all.
std::vector<int> libsvm_classes(std::span<const double> labels);

/// The same machine for maxmargin, over the classes given. LIBSVM knows no duality gap, so only the
/// optimality conditions decide when to stop.
TrainOptions train_options(const LibsvmParameters& parameters, std::span<const int> classes);

}  // namespace maxmargin
