#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// The five kinds of machine that LIBSVM knows, in the order of its numbers.
enum class LibsvmType { c_svc, nu_svc, one_class, epsilon_svr, nu_svr };
std::string_view to_string(LibsvmType type);  ///< as in its model files: "c_svc"
constexpr bool predicts_classes(LibsvmType type) {
  return type == LibsvmType::c_svc || type == LibsvmType::nu_svc;
}

/// A model in LIBSVM's form. Classes have an order of their own (that of their first rows in the
/// training data, +1 before -1); support vectors stand by class. The decision function of classes
/// i < j is sum coefficient K - rho, where a vector of class i has its coefficient in column j - 1
/// and one of class j in column i; a positive value votes for i.
struct LibsvmModel {
  LibsvmType type = LibsvmType::c_svc;
  Kernel kernel;               ///< linear, polynomial, rbf, sigmoid or precomputed
  std::vector<int> labels;     ///< of the classes; empty where there are none
  std::vector<double> rho;     ///< of the pairs (0,1), (0,2), ..., (1,2), ...
  std::vector<double> prob_a;  ///< of the pairs; regression: the scale of the noise; or empty
  std::vector<double> prob_b;  ///< of the pairs; or empty
  std::vector<double> marks;   ///< one-class: decision values between bins of density; or empty
  std::vector<std::uint64_t> sizes;          ///< support vectors of each class
  std::vector<double> coefficients;          ///< columns() for each support vector
  Features support;                          ///< features are numbered as in LIBSVM's files
  std::shared_ptr<const Features> training;  ///< rows that `row` numbers, instead of `support`
  std::vector<std::uint64_t> serial;  ///< precomputed kernel: the number of each support vector
  std::vector<std::uint64_t> row;     ///< the training row, from 0, of each; not in files

  /// Coefficients of each support vector.
  std::size_t columns() const { return labels.empty() ? 1 : labels.size() - 1; }
  std::size_t vectors() const { return columns() == 0 ? 0 : coefficients.size() / columns(); }
  /// The features of a support vector, as one row.
  Rows features_of(std::size_t vector) const {
    const std::size_t at = training ? row[vector] : vector;
    return (training ? *training : support).view().slice(at, at + 1);
  }
};

/// How features and rows of a model are numbered: as in LIBSVM's files, where the first number is
/// usually 1 and number 0 stays empty, or from 0 without a gap, as maxmargin itself does it.
enum class Numbering { libsvm, own };

/// The same machine as a model of maxmargin. It has no certificate and does not know its data. The
/// `marks` are lost: maxmargin's p-values are made of others.
Model to_model(const LibsvmModel& model, Numbering numbering);

/// The other way round. `order` holds the labels in LIBSVM's order; empty: increasing, but 1 before
/// -1. A model that has no copy of its support vectors comes out without them, too. Throws Error
/// for what LIBSVM has no place for: words as labels, other kernels, a scaling, features without
/// penalty. Machines against the rest become pairs that decide the same.
LibsvmModel to_libsvm(const Model& model, Numbering numbering, std::span<const int> order = {});

/// Coefficients that are at the bound of their class but for a rounding, as where equal rows share
/// a variable, become the bound. Without classes there is one bound for all.
void put_at_bound(std::span<const double> bound_of_class, LibsvmModel& model);
/// Removes the classes that have no machines, because they have no rows.
void keep_classes(std::span<const int> classes, Model& model);

}  // namespace maxmargin
