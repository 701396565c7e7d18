#pragma once

#include "capi/libsvm/svm.h"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/libsvm/model.hpp"
#include "maxmargin/libsvm/parameters.hpp"

// Between LIBSVM's structures and those of the library.

namespace maxmargin::capi {

LibsvmParameters parameters_of(const svm_parameter& param);

/// The parameters that a model file contains; the others are 0.
svm_parameter parameters_for(const LibsvmModel& model);

/// The labels; those of classes are the whole numbers that LIBSVM makes of them.
std::vector<double> labels_of(const svm_problem& problem, const svm_parameter& param);

/// Throws Error unless indices are 0 or more and all values and labels are finite numbers. Nodes
/// that do not increase are put in order; of those with the same index the first one counts.
Dataset dataset_of(const svm_problem& problem, const svm_parameter& param);

/// A model with labels and without support vectors.
LibsvmModel empty_model(const LibsvmParameters& parameters, std::span<const double> labels);

/// The model as the library has it: a copy.
LibsvmModel copy_of(const svm_model& model);

/// A model that the caller frees. Its support vectors are rows of `problem`, or, if that is null,
/// its own. Throws std::bad_alloc.
svm_model* make_model(const LibsvmModel& model, const svm_parameter& param,
                      const svm_problem* problem);

/// Decision values of all pairs by the definition, in double. `values` has room for them.
void decision_values(const svm_model& model, const svm_node* x, double* values);

}  // namespace maxmargin::capi
