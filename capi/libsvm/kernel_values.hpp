#pragma once

#include <vector>

#include "capi/libsvm/svm.h"

namespace maxmargin::capi {

/// values[k] = K(x, support vector k), in double. A precomputed kernel: the values of x that stand
/// at the numbers of the support vectors.
void kernel_values(const svm_model& model, const svm_node* x, std::vector<double>& values);

}  // namespace maxmargin::capi
